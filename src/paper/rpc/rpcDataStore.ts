/**
 * The paper chain's DataStore, as far as it is read: the actions that session keys have used (`Keys.subaccountActionCountKey`), and what
 * accounts may claim of funding (`Keys.claimableFundingAmountKey`).
 */
import { encodeAbiParameters, keccak256, parseAbi } from 'viem/utils'
import type { Hex } from '../../protocol/address.ts'
import { decodeCall } from '../blocks/decodeCall.ts'
import { SUBACCOUNT_ORDER_ACTION } from '../http/approval.ts'
import { presentOf } from '../state/rpcEndpoints.ts'
import type { VenueState } from '../state/venueState.ts'

const dataStoreAbi = parseAbi(['function getUint(bytes32 key) view returns (uint256)'])
const seed = keccak256(encodeAbiParameters([{ type: 'string' }], ['SUBACCOUNT_ACTION_COUNT']))

function actionCountKey(account: Hex, subaccount: Hex): Hex {
  return keccak256(
    encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'address' }, { type: 'address' }, { type: 'bytes32' }],
      [seed, account, subaccount, SUBACCOUNT_ORDER_ACTION],
    ),
  )
}

const claimableSeed = keccak256(encodeAbiParameters([{ type: 'string' }], ['CLAIMABLE_FUNDING_AMOUNT']))
/** Keys that were worked out, by account, market and token; begun anew when there are too many. */
const claimableKeys = new Map<string, Hex>()
const MOST_KEYS = 20_000

function claimableKey(account: Hex, pair: string): Hex {
  const name = `${account}:${pair}`
  const known = claimableKeys.get(name)
  if (known !== undefined) return known
  const [market = '', token = ''] = pair.split(':')
  const key = keccak256(
    encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'address' }, { type: 'address' }, { type: 'address' }],
      [claimableSeed, market as Hex, token as Hex, account],
    ),
  )
  if (claimableKeys.size >= MOST_KEYS) claimableKeys.clear()
  claimableKeys.set(name, key)
  return key
}

/** Returns the claimable amount under a key; undefined: there is no entry. */
function claimableAt({ accounts }: VenueState, key: Hex): bigint | undefined {
  for (const { address, claimableFunding } of accounts.values()) {
    for (const [pair, amount] of claimableFunding)
      if (pair.includes(':') && claimableKey(address, pair) === key) return amount
  }
  return undefined
}

/**
 * Answers a call of the DataStore, as of now whatever the block; a key that nothing was ever kept under is 0.
 *
 * @throws what viem throws for a call that the contract does not know
 */
export function readDataStore(venueState: VenueState, data: Hex): Hex {
  const { args } = decodeCall(dataStoreAbi, data)
  const [key] = args
  for (const [pair, state] of venueState.subaccounts) {
    const [account = '', subaccount = ''] = pair.split(':')
    if (actionCountKey(account as Hex, subaccount as Hex) === key)
      return encodeAbiParameters([{ type: 'uint256' }], [state.currentActionsCount])
  }
  return encodeAbiParameters([{ type: 'uint256' }], [claimableAt(presentOf(venueState), key) ?? 0n])
}
