/** The paper chain's DataStore, as far as it is read: the actions that session keys have used (`Keys.subaccountActionCountKey`). */
import { decodeFunctionData, encodeAbiParameters, keccak256, parseAbi } from 'viem'
import type { Hex } from '../../protocol/address.ts'
import { SUBACCOUNT_ORDER_ACTION } from '../http/approval.ts'
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

/**
 * Answers a call of the DataStore, as of now whatever the block; a key that nothing was ever kept under is 0.
 *
 * @throws what viem throws for a call that the contract does not know
 */
export function readDataStore(venueState: VenueState, data: Hex): Hex {
  const { args } = decodeFunctionData({ abi: dataStoreAbi, data })
  const [key] = args
  for (const [pair, state] of venueState.subaccounts) {
    const [account = '', subaccount = ''] = pair.split(':')
    if (actionCountKey(account as Hex, subaccount as Hex) === key)
      return encodeAbiParameters([{ type: 'uint256' }], [state.currentActionsCount])
  }
  return encodeAbiParameters([{ type: 'uint256' }], [0n])
}
