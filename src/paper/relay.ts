/** The generic relay: own calldata of the relay router's `batch` (wire: application-api-orders, section 10). */
import { decodeFunctionData, type Hex, parseAbi } from 'viem'
import { type Batch, digestOf, hashRelayParams, type RelayParams } from '../chains/relayRouter.ts'
import { type Address, hexKey, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../domain/address.ts'
import { badFields, badRequest, type Json, notFound, refused } from './http.ts'
import { acceptOperation } from './operations.ts'
import { ownWalletSeparator } from './orderChain.ts'
import type { SubmitEntry } from './record.ts'
import { recoverSigner } from './signature.ts'
import type { World } from './world.ts'

/** `batch` of the own-wallet relay router, selector 0x0427ef5f (wire: eip712-and-chain, section 2). */
export const relayRouterAbi = parseAbi([
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
  'function batch(RelayParams relayParams, address account, BatchParams params) returns (bytes32[])',
])

interface DecodedBatch {
  readonly account: Address
  readonly signature: Hex
  readonly relayParams: RelayParams
  readonly batch: Batch
}

function decode(data: Hex): DecodedBatch {
  let decoded: ReturnType<typeof decodeFunctionData<typeof relayRouterAbi>>
  try {
    decoded = decodeFunctionData({ abi: relayRouterAbi, data })
  } catch {
    throw badRequest('data is no calldata of the relay router batch function')
  }
  const [relay, account, params] = decoded.args
  const { signature, ...relayParams } = relay
  return {
    account,
    signature,
    relayParams,
    batch: {
      account: ZERO_ADDRESS,
      createOrderParamsList: params.createOrderParamsList.map((order) => ({
        ...order,
        orderType: BigInt(order.orderType),
        decreasePositionSwapType: BigInt(order.decreasePositionSwapType),
      })),
      updateOrderParamsList: params.updateOrderParamsList,
      cancelOrderKeys: params.cancelOrderKeys,
      relayParams: hashRelayParams(relayParams),
      subaccountApproval: ZERO_HASH,
    },
  }
}

/**
 * Takes calldata in: `{ to, data }` gives `{ taskId, status }`.
 *
 * @throws HttpFailure 400 for another target, other calldata, or a signature of somebody else
 */
export async function submitRelay(
  world: World,
  body: Readonly<Record<string, unknown>>,
  entry: SubmitEntry,
): Promise<Json> {
  const { to, data } = body
  if (typeof to !== 'string' || typeof data !== 'string' || !/^0x([0-9a-fA-F]{2})+$/.test(data)) {
    entry.result = 'bad shape'
    throw badFields({
      ...(typeof to === 'string' ? {} : { to: { message: "'to' is required" } }),
      ...(typeof data === 'string' ? {} : { data: { message: "'data' is required" } }),
    })
  }
  if (!sameHex(to, world.chain.contracts.gelatoRelayRouter)) {
    entry.result = 'bad target'
    throw badRequest('to is not an allowlisted relay router')
  }
  const { account, signature, relayParams, batch } = decode(data as Hex)
  const digest = digestOf(ownWalletSeparator(world), batch)
  entry.account = account
  entry.digest = digest
  entry.signature = signature
  const signer = await recoverSigner(digest, signature)
  if (signer === undefined || !sameHex(signer, account)) {
    entry.result = 'INVALID_SIGNATURE'
    throw refused('INVALID_SIGNATURE', 'The signature in the calldata is not one of the account')
  }
  const operation = acceptOperation(world, {
    account,
    requestId: null,
    batch,
    relayParams,
    digest,
    nowMs: world.clock.now(),
  })
  entry.result = 'accepted'
  entry.taskId = operation.taskId
  return { taskId: operation.taskId, status: operation.status }
}

/** Status of an operation by `taskId`. Throws HttpFailure 400 for no task id, 404 for an unknown one. */
export function relayStatus(world: World, body: Readonly<Record<string, unknown>>): Json {
  const { taskId } = body
  if (typeof taskId !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(taskId)) {
    throw badRequest('taskId must be a 32-byte hex string')
  }
  const operation = world.operations.get(hexKey(taskId))
  if (operation === undefined) throw notFound('no relay operation')
  return {
    taskId: operation.taskId,
    status: operation.status,
    txHash: operation.txHash,
    reason: operation.error?.message,
    revertData: operation.error?.data,
  }
}
