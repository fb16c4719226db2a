/**
 * The generic relay: own calldata of the relay routers' `batch`, and of `removeSubaccount`
 * (docs/reference/api-coverage.md POST /relay/submit; contract `GelatoRelayRouter`, `batch`; contract `RelayUtils`).
 */
import type { Hex } from 'viem'
import { decodeFunctionData, hashTypedData } from 'viem/utils'
import { defined } from '../../base/defined.ts'
import { type Address, hexKey, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import {
  type Batch,
  digestOf,
  hashRelayParams,
  type RelayParams,
  relayRouterDomain,
} from '../../protocol/signing/relayRouter.ts'
import { isSignedAtRouter } from '../blocks/signature.ts'
import { hashApproval, type SubaccountApproval } from '../http/approval.ts'
import { badFields, badRequest, type FieldError, type Json, notFound, refused } from '../http/http.ts'
import { acceptOperation } from '../keeper/operations.ts'
import { relayRouterAbi, subaccountRouterAbi } from '../keeper/relayCall.ts'
import { isApprovedBy } from '../keeper/subaccountKeys.ts'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { VenueState } from '../state/venueState.ts'
import { separatorOf } from './orderChain.ts'

interface DecodedBatch {
  readonly account: Address
  readonly signature: Hex
  readonly relayParams: RelayParams
  readonly batch: Batch
  readonly session: { readonly address: Address; readonly approval: SubaccountApproval } | undefined
  /** The session key that is removed, instead of a batch. */
  readonly removes?: Address
}

/** EIP-712 types of the removal of a session key that the owner signs. */
const removalTypes = {
  RemoveSubaccount: [
    { name: 'subaccount', type: 'address' },
    { name: 'relayParams', type: 'bytes32' },
  ],
} as const

type OwnArguments = ReturnType<typeof decodeFunctionData<typeof relayRouterAbi>>['args']

function decode(data: Hex, isSubaccount: boolean): DecodedBatch {
  try {
    if (isSubaccount) {
      const call = decodeFunctionData({ abi: subaccountRouterAbi, data })
      if (call.functionName === 'removeSubaccount') {
        const [relay, account, removes] = call.args
        return { ...decoded(relay, account, noActions, undefined), removes }
      }
      const [relay, approval, account, address, params] = call.args
      return decoded(relay, account, params, { address, approval })
    }
    const [relay, account, params] = decodeFunctionData({ abi: relayRouterAbi, data }).args
    return decoded(relay, account, params, undefined)
  } catch {
    throw badFields({
      data: { message: "'data' is not calldata of a supported function of the relay router" },
    })
  }
}

const noActions = { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [] }

function decoded(
  relay: OwnArguments[0],
  account: Address,
  params: OwnArguments[2],
  session: DecodedBatch['session'],
): DecodedBatch {
  const { signature, ...relayParams } = relay
  return {
    account,
    signature,
    relayParams,
    session,
    batch: {
      account: session === undefined ? ZERO_ADDRESS : account,
      createOrderParamsList: params.createOrderParamsList.map((order) => ({
        ...order,
        orderType: BigInt(order.orderType),
        decreasePositionSwapType: BigInt(order.decreasePositionSwapType),
      })),
      updateOrderParamsList: params.updateOrderParamsList,
      cancelOrderKeys: params.cancelOrderKeys,
      relayParams: hashRelayParams(relayParams),
      subaccountApproval: session === undefined ? ZERO_HASH : hashApproval(session.approval),
    },
  }
}

function isCalldata(data: unknown): data is Hex {
  return typeof data === 'string' && /^0x([0-9a-fA-F]{2})+$/.test(data)
}

/** Why a `data` is no calldata; its text is not given back, for it may be long. */
function dataProblem(data: unknown): FieldError {
  const isAbsent = data === undefined || data === null
  return { message: isAbsent ? "'data' is required" : "'data' must be bytes as 0x and hex digits" }
}

/**
 * Takes calldata in: `{ to, data }` gives `{ taskId, status }`.
 *
 * @throws HttpFailure 400 for another target, other calldata, or a signature of somebody else
 */
export async function submitRelay(
  venueState: VenueState,
  body: Readonly<Record<string, unknown>>,
  entry: SubmitEntry,
): Promise<Json> {
  const { to, data } = body
  if (typeof to !== 'string' || !isCalldata(data)) {
    entry.result = 'bad shape'
    throw badFields({
      ...defined({ to: typeof to === 'string' ? undefined : { message: "'to' is required" } }),
      ...defined({ data: isCalldata(data) ? undefined : dataProblem(data) }),
    })
  }
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = venueState.chain.contracts
  const isSubaccount = sameHex(to, subaccountGelatoRelayRouter)
  if (!isSubaccount && !sameHex(to, gelatoRelayRouter)) {
    entry.result = 'bad target'
    throw badRequest('to is not an allowlisted relay router')
  }
  const { account, signature, relayParams, session, removes, ...rest } = decode(data, isSubaccount)
  const router = isSubaccount ? subaccountGelatoRelayRouter : gelatoRelayRouter
  const separator = separatorOf(venueState, router)
  // A removal's record names its account: its digest is of the subaccount router, and no stranger's to use up.
  const batch = removes === undefined ? rest.batch : { ...rest.batch, account }
  const digest =
    removes === undefined
      ? digestOf(separator, batch)
      : hashTypedData({
          domain: relayRouterDomain(venueState.chain.chainId, router),
          types: removalTypes,
          primaryType: 'RemoveSubaccount',
          message: { subaccount: removes, relayParams: batch.relayParams },
        })
  entry.account = account
  entry.digest = digest
  entry.signature = signature
  if (!isSignedAtRouter(session?.address ?? account, separator, digest, signature)) {
    entry.result = 'INVALID_SIGNATURE'
    throw refused('INVALID_SIGNATURE', 'The calldata is not signed by the account')
  }
  const operation = acceptOperation(venueState, {
    account,
    requestId: null,
    batch,
    relayParams,
    subaccount: session && {
      ...session,
      isApproved: await isApprovedBy(venueState, account, session.approval),
    },
    removes,
    digest,
    calldata: data,
    nowMs: venueState.clock.now(),
  })
  entry.result = 'accepted'
  entry.taskId = operation.taskId
  return { taskId: operation.taskId, status: operation.status }
}

/** Status of an operation by `taskId`. Throws HttpFailure 400 for no task id, 404 for an unknown one. */
export function relayStatus(venueState: VenueState, body: Readonly<Record<string, unknown>>): Json {
  const { taskId } = body
  if (typeof taskId !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(taskId)) {
    throw badFields({
      taskId:
        taskId === undefined || taskId === null
          ? { message: "'taskId' is required" }
          : { message: "'taskId' must be a 32-byte hex string", value: taskId as Json },
    })
  }
  const operation = venueState.operations.get(hexKey(taskId))
  if (operation === undefined) throw notFound('no relay operation')
  // A 404 right after an accepted submission can be transient (docs/reference/api-coverage.md A20).
  const ageMs = venueState.clock.now() - operation.acceptedAtMs
  if (ageMs < venueState.dataFaults.relayStatusLagMs) throw notFound('no relay operation')
  if (venueState.dataFaults.relay === 'unknown') return { taskId: operation.taskId, status: 'unknown' }
  return {
    taskId: operation.taskId,
    status: operation.status,
    txHash: operation.txHash,
    reason: operation.error?.message,
    revertData: operation.error?.data,
  }
}
