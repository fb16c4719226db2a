/** The relay router's `batch` as a transaction on the chain. */
import { parseAbi } from 'viem/utils'
import { defined } from '../../base/defined.ts'
import { type Address, type Hex, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { encodeBatchCall } from '../../protocol/signing/relayCalldata.ts'
import type { SignedBatch } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

/** Structs of the relay routers' functions. */
export const relayStructs = [
  'struct OracleParams { address[] tokens; address[] providers; bytes[] data; }',
  'struct ExternalCalls { address[] sendTokens; uint256[] sendAmounts; address[] externalCallTargets; bytes[] externalCallDataList; address[] refundTokens; address[] refundReceivers; }',
  'struct TokenPermit { address owner; address spender; uint256 value; uint256 deadline; uint8 v; bytes32 r; bytes32 s; address token; }',
  'struct FeeParams { address feeToken; uint256 feeAmount; address[] feeSwapPath; }',
  'struct RelayParams { OracleParams oracleParams; ExternalCalls externalCalls; TokenPermit[] tokenPermits; FeeParams fee; uint256 userNonce; uint256 deadline; bytes signature; uint256 desChainId; }',
  'struct Addresses { address receiver; address cancellationReceiver; address callbackContract; address uiFeeReceiver; address market; address initialCollateralToken; address[] swapPath; }',
  'struct Numbers { uint256 sizeDeltaUsd; uint256 initialCollateralDeltaAmount; uint256 triggerPrice; uint256 acceptablePrice; uint256 executionFee; uint256 callbackGasLimit; uint256 minOutputAmount; uint256 validFromTime; }',
  'struct CreateOrderParams { Addresses addresses; Numbers numbers; uint8 orderType; uint8 decreasePositionSwapType; bool isLong; bool shouldUnwrapNativeToken; bool autoCancel; bytes32 referralCode; bytes32[] dataList; }',
  'struct UpdateOrderParams { bytes32 key; uint256 sizeDeltaUsd; uint256 acceptablePrice; uint256 triggerPrice; uint256 minOutputAmount; uint256 validFromTime; bool autoCancel; uint256 executionFeeIncrease; }',
  'struct BatchParams { CreateOrderParams[] createOrderParamsList; UpdateOrderParams[] updateOrderParamsList; bytes32[] cancelOrderKeys; }',
] as const

/** `batch` of the own-wallet relay router, selector 0x0427ef5f (contract `GelatoRelayRouter`, `batch`). */
export const relayRouterAbi = parseAbi([
  ...relayStructs,
  'function batch(RelayParams relayParams, address account, BatchParams params) returns (bytes32[])',
])

/** `batch` of the subaccount relay router, selector 0x412a08b7, and the owner's `removeSubaccount`. */
export const subaccountRouterAbi = parseAbi([
  ...relayStructs,
  'struct Approval { address subaccount; bool shouldAdd; uint256 expiresAt; uint256 maxAllowedCount; bytes32 actionType; uint256 nonce; uint256 desChainId; uint256 deadline; bytes32 integrationId; bytes signature; }',
  'function batch(RelayParams relayParams, Approval subaccountApproval, address account, address subaccount, BatchParams params) returns (bytes32[])',
  'function removeSubaccount(RelayParams relayParams, address account, address subaccount)',
])

function isOwnWallet(operation: SignedBatch): boolean {
  return sameHex(operation.batch.account, ZERO_ADDRESS)
}

/** The router that an operation's digest belongs to and its transaction calls. */
export function routerOf(venueState: VenueState, operation: SignedBatch): Address {
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = venueState.chain.contracts
  return isOwnWallet(operation) ? gelatoRelayRouter : subaccountGelatoRelayRouter
}

/** Calldata of an operation: as it was handed in, or made from its parts. */
export function relayInput(operation: SignedBatch): Hex {
  const { account, batch, calldata, relayParams, signature, subaccount } = operation
  if (calldata !== undefined) return calldata
  return encodeBatchCall({
    account,
    ...defined({ subaccountApproval: subaccount?.approval }),
    relayParams,
    signature: signature ?? '0x',
    batch,
  })
}
