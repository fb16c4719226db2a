/** Addresses that send the venue's transactions, and the form of the keeper's. */

import { encodeFunctionData, getAddress, keccak256, parseAbi, stringToHex } from 'viem/utils'
import { type Address, type Hex, ZERO_HASH } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { addressOfKey } from '../../protocol/crypto/secp256k1.ts'

/** Addresses that only the paper chain has: the relayer, the keeper, and the contract that the keeper calls. */
export interface Actors {
  readonly relayer: Address
  readonly keeper: Address
  /** Where the oracle's prices come from, as its events say. */
  readonly oracleProvider: Address
  /** Somebody who has nothing to do with the venue (thirdParty.ts). */
  readonly stranger: Address
  /** Executes orders; the sender of the event emitter's events. */
  readonly orderHandler: Address
}

const known = new Map<number, Actors>()

function made(chain: Chain, role: string): Address {
  return getAddress(`0x${keccak256(stringToHex(`perpd paper ${chain.name} ${role}`)).slice(26)}`)
}

/** Private key of the third party of a chain: worth nothing anywhere, and always the same. */
export function thirdPartyKeyOf(chain: Chain): Hex {
  return keccak256(stringToHex(`perpd paper ${chain.name} stranger key`))
}

/** The actors of a chain: always the same. */
export function actorsOf(chain: Chain): Actors {
  let actors = known.get(chain.chainId)
  if (actors === undefined) {
    actors = {
      relayer: made(chain, 'relayer'),
      keeper: made(chain, 'keeper'),
      oracleProvider: made(chain, 'oracle provider'),
      orderHandler: made(chain, 'order handler'),
      stranger: addressOfKey(thirdPartyKeyOf(chain)),
    }
    known.set(chain.chainId, actors)
  }
  return actors
}

const orderHandlerAbi = parseAbi([
  'struct OracleParams { address[] tokens; address[] providers; bytes[] data; }',
  'function executeOrder(bytes32 key, OracleParams oracleParams)',
])

/** Calldata around the key; encoding anew for every execution would be most of its cost. */
const executeOrderFrame = encodeFunctionData({
  abi: orderHandlerAbi,
  functionName: 'executeOrder',
  args: [ZERO_HASH, { tokens: [], providers: [], data: [] }],
})

/** Calldata of the keeper's transaction on an order. */
export function executeOrderInput(key: Hex): Hex {
  return `${executeOrderFrame.slice(0, 10) as Hex}${key.slice(2)}${executeOrderFrame.slice(74)}`
}
