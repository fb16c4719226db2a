/** Methods that a wallet needs: sending, nonces, and calls and gas estimates of what changes something. */
import type { Hex } from 'viem'
import { getAddress } from 'viem/utils'
import { isObject } from '../../base/isObject.ts'
import { ZERO_ADDRESS } from '../../protocol/address.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { blockOf, type Inclusion } from '../blocks/blockChain.ts'
import { invalidParams, quantity, RpcError, readAddress, readBytes, rpcCodes } from '../blocks/rpcError.ts'
import { BLOCK_GAS_LIMIT } from '../blocks/rpcGas.ts'
import { isContract } from '../state/contracts.ts'
import { holdingOf, nativeAddress } from '../state/purse.ts'
import { presentOf } from '../state/rpcEndpoints.ts'
import type { VenueState } from '../state/venueState.ts'
import { reasonOf } from '../transactions/callFrame.ts'
import { isWork, type Ran, tryCall, type WorkCall } from '../transactions/classicRun.ts'
import {
  intrinsicGasOf,
  MAX_TRANSACTION_BYTES,
  readTransaction,
  refusedBecause,
} from '../transactions/rawTransaction.ts'
import { admit, nextNonceOf, pendingNonceOf } from '../transactions/transactionPool.ts'
import { senderOf } from './rpcBlocks.ts'
import { signedRow } from './rpcSendRows.ts'

/** A call as a client asks for it, to be tried. */
interface AskedCall {
  readonly call: WorkCall
  /** Gas that it may use. */
  readonly gasLimit: number
  /** Gas before it does anything. */
  readonly intrinsic: number
  /** Most that a gas may cost, wei; 0: not said. */
  readonly feeCap: bigint
}

function readAmount(value: unknown, name: string): bigint | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]{0,63})$/i.test(value)) {
    throw invalidParams(`invalid argument: ${name} must be a hex quantity without leading zeros`)
  }
  return BigInt(value)
}

function readAccessList(value: unknown): Parameters<typeof intrinsicGasOf>[1] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalidParams('invalid argument: accessList must be a list')
  return value.map((one: unknown) => {
    const keys = isObject(one) ? one.storageKeys : undefined
    if (!isObject(one) || !Array.isArray(keys)) {
      throw invalidParams('invalid argument: accessList must hold addresses with storageKeys')
    }
    return { address: readAddress(one.address, 'address'), storageKeys: keys as Hex[] }
  })
}

/**
 * Reads a call object as work to be tried; undefined when it only reads, or names no target.
 *
 * @throws RpcError -32602 for another shape
 */
function readAsked(venueState: VenueState, call: unknown): AskedCall | undefined {
  if (!isObject(call)) throw invalidParams('invalid argument: the call must be an object')
  const from = call.from === undefined || call.from === null ? ZERO_ADDRESS : readAddress(call.from, 'from')
  const value = readAmount(call.value, 'value') ?? 0n
  const gas = readAmount(call.gas, 'gas') ?? MAX_UINT256
  const feeCap = readAmount(call.maxFeePerGas, 'maxFeePerGas') ?? readAmount(call.gasPrice, 'gasPrice') ?? 0n
  const accessList = readAccessList(call.accessList)
  if (call.to === undefined || call.to === null) return undefined
  const to = getAddress(readAddress(call.to, 'to'))
  const data = readBytes(call.input ?? call.data, 'data')
  if (!isWork(venueState, to, data) && value === 0n && isContract(venueState, to)) return undefined
  if (data.length > 2 + MAX_TRANSACTION_BYTES * 2) throw refusedBecause('oversized data')
  return {
    call: { from: getAddress(from), to, data, value },
    gasLimit: gas < BigInt(BLOCK_GAS_LIMIT) ? Number(gas) : BLOCK_GAS_LIMIT,
    intrinsic: intrinsicGasOf(data, accessList),
    feeCap,
  }
}

function tried(venueState: VenueState, { call, gasLimit, intrinsic }: AskedCall): Ran {
  if (intrinsic > gasLimit) {
    throw refusedBecause(`intrinsic gas too low: gas ${gasLimit}, minimum needed ${intrinsic}`)
  }
  const gas = { limit: gasLimit, used: intrinsic }
  return tryCall(venueState, call, { gas, nowMs: venueState.clock.now() })
}

/** Error 3 of a call that reverted, with its data. */
function revertedBy({ revert, data }: NonNullable<Ran['failure']>): RpcError {
  const reason = revert === undefined ? undefined : reasonOf(revert)
  const message = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
  return new RpcError(rpcCodes.reverted, message, data)
}

/**
 * `eth_call` of something that would change the chain, tried on the newest state; undefined when the call only reads.
 *
 * @throws RpcError 3 with the revert's data; -32000 for too little money or gas; -32602 for another shape
 */
export function callWork(view: VenueState, call: unknown): Hex | undefined {
  const venueState = presentOf(view)
  const asked = readAsked(venueState, call)
  if (asked === undefined) return undefined
  const { from, value } = asked.call
  const balance = holdingOf(venueState, from, nativeAddress(venueState))
  if (value > balance) {
    throw refusedBecause(
      `insufficient funds for gas * price + value: address ${from} have ${balance} want ${value}`,
    )
  }
  const { failure, output } = tried(venueState, asked)
  if (failure === undefined) return output
  throw failure.revert === undefined ? refusedBecause('out of gas') : revertedBy(failure)
}

/**
 * `eth_estimateGas` of something that would change the chain; undefined when the call only reads.
 *
 * @throws RpcError 3 with the revert's data; -32000 for too little money; -32602 for another shape
 */
export function estimateWork(view: VenueState, call: unknown): Hex | undefined {
  const venueState = presentOf(view)
  const asked = readAsked(venueState, call)
  if (asked === undefined) return undefined
  const { value, from } = asked.call
  const balance = holdingOf(venueState, from, nativeAddress(venueState))
  if (value > balance) throw refusedBecause('insufficient funds for transfer')
  const affordable = asked.feeCap === 0n ? MAX_UINT256 : (balance - value) / asked.feeCap
  const gasLimit = affordable < BigInt(asked.gasLimit) ? Number(affordable) : asked.gasLimit
  const tooLittle = () => refusedBecause(`gas required exceeds allowance (${gasLimit})`)
  if (asked.intrinsic > gasLimit) throw tooLittle()
  const { failure, gasUsed } = tried(venueState, { ...asked, gasLimit })
  if (failure !== undefined) throw failure.revert === undefined ? tooLittle() : revertedBy(failure)
  // A little more than it takes now, as the nodes' search ends a little above; never more than is allowed.
  const withSlack = gasUsed === asked.intrinsic ? gasUsed : Math.ceil(gasUsed * 1.02)
  return quantity(Math.min(withSlack, gasLimit))
}

/** `eth_sendRawTransaction`: takes a transaction into the mempool; its hash. Throws RpcError. */
export function sendRaw(view: VenueState, raw: unknown): Hex {
  const venueState = presentOf(view)
  const sent = readTransaction(raw, venueState.chain.chainId)
  admit(venueState, sent)
  return sent.hash
}

/** `eth_getTransactionCount` as of a block; undefined: with what waits in the mempool. */
export function transactionCount(view: VenueState, address: Hex, block: Inclusion | undefined): number {
  const venueState = presentOf(view)
  if (block === undefined) return pendingNonceOf(venueState, getAddress(address))
  let count = nextNonceOf(venueState, getAddress(address))
  for (const one of venueState.blockChain.transactions) {
    if (senderOf({ chain: venueState.chain, blocks: venueState.blockChain }, one) !== address) continue
    // A node on another branch has not seen what is on this one.
    const isSeen = blockOf(one).number <= block.number && view.blockChain.byHash.has(one.hash)
    if (!isSeen) count -= 1
  }
  return count
}

/** Refuses state overrides: nothing is tried on a state that is not the chain's. Throws RpcError -32602. */
export function refuseOverrides(overrides: unknown): void {
  const isNone = overrides === undefined || overrides === null
  if (isNone || (isObject(overrides) && Object.keys(overrides).length === 0)) return
  throw invalidParams('state overrides are not supported')
}

/** `eth_getTransactionByHash` of one that waits; undefined when there is none. */
export function waitingRow(view: VenueState, hash: Hex): object | undefined {
  const pooled = presentOf(view).mempool.get(hash)
  if (pooled === undefined) return undefined
  return signedRow({ chain: view.chain, blocks: view.blockChain }, pooled, pooled.signed, undefined)
}
