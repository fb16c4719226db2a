/** The generic relay: calldata of our own, and how it fared (docs/reference/api-coverage.md POST /relay/submit). */
import type { Address, Hex } from '../../protocol/address.ts'
import { bytes32, hex, lenient, Malformed, object, oneOf, present, string, word } from '../decode/decode.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Status of a relayed operation; `unknown` is inconclusive, not failed, and so is `unrecognised`. */
export type RelayStatus = 'pending' | 'executed' | 'reverted' | 'failed' | 'unknown' | 'unrecognised'

const relayStatuses = new Set<Exclude<RelayStatus, 'unrecognised'>>([
  'pending',
  'executed',
  'reverted',
  'failed',
  'unknown',
])

function relayStatus(value: unknown, name: string): RelayStatus {
  return oneOf(value, name, relayStatuses)
}

/** Calldata of a relay router. */
export interface RelayCall {
  readonly to: Address
  readonly data: Hex
}

/** Response of the relay to a submit. */
export interface RelayReceipt {
  /** May be asked at any host. */
  readonly taskId: string
  /** `unknown` where it says none: the document promises the task id alone. */
  readonly status: RelayStatus
}

/** Progress of an operation: an observation, never proof. */
export interface RelayTask {
  readonly taskId: string
  readonly status: RelayStatus
  readonly txHash?: Hex
  readonly reason?: string
  /** Public revert bytes of the chain. */
  readonly revertData?: Hex
  /** Further facts of the relay as they came; for support. */
  readonly debug?: unknown
}

const submitRoute: Route<RelayCall, RelayReceipt> = {
  path: '/relay/submit',
  method: 'POST',
  service: 'api',
  kind: 'submit',
  body: ({ to, data }) => ({ to, data }),
  decode: (body) => {
    const fields = object(body)
    return {
      taskId: word(fields.taskId, 'taskId'),
      // Whatever else it says, the task id must not be lost: it is what the operation is asked about by.
      status: lenient(fields.status, 'status', relayStatus) ?? 'unknown',
    }
  },
}

const statusRoute: Route<{ readonly taskId: string }, RelayTask> = {
  path: '/relay/status',
  method: 'POST',
  service: 'api',
  kind: 'status',
  body: ({ taskId }) => ({ taskId }),
  // The status decides. A response that names another task does not answer this request; one that names no task does.
  decode: (body, { input }) => {
    const fields = object(body)
    const { taskId } = fields
    if (taskId !== undefined && taskId !== null && taskId !== input.taskId) {
      throw new Malformed('taskId', `is not ${input.taskId}`, taskId, true)
    }
    return {
      taskId: input.taskId,
      status: relayStatus(fields.status, 'status'),
      ...present({
        txHash: lenient(fields.txHash, 'txHash', bytes32),
        reason: lenient(fields.reason, 'reason', string),
        revertData: lenient(fields.revertData, 'revertData', hex),
        debug: fields.debug,
      }),
    }
  },
}

/** Hands signed calldata to the relay: one POST, to `options.host` or any host, never repeated here (`POST /relay/submit`). */
export function submitRelay(
  transport: Transport,
  call: RelayCall,
  options?: CallOptions,
): Promise<Read<RelayReceipt>> {
  return transport.call(submitRoute, call, options)
}

/** Asks how an operation fared, at any host (`POST /relay/status`). A 404 right after the submit proves nothing. */
export function getRelayStatus(
  transport: Transport,
  query: { readonly taskId: string },
  options?: CallOptions,
): Promise<Read<RelayTask>> {
  return transport.call(statusRoute, query, options)
}
