/** The generic relay: calldata of our own, and how it fared (application document, "Order transactions and relay"). */
import type { Address, Hex } from '../domain/address.ts'
import { bytes32, hex, object, oneOf, optional, present, string, word } from './decode.ts'
import type { CallOptions, Read, Route } from './route.ts'
import type { Transport } from './transport.ts'

/** Status of a relayed operation; `unknown` is inconclusive, not failed, and so is `unrecognised`. */
export type RelayStatus = 'pending' | 'executed' | 'reverted' | 'failed' | 'unknown' | 'unrecognised'

const relayStatuses = new Set<Exclude<RelayStatus, 'unrecognised'>>([
  'pending',
  'executed',
  'reverted',
  'failed',
  'unknown',
])

/** Calldata of a relay router. */
export interface RelayCall {
  readonly to: Address
  readonly data: Hex
}

/** What the relay said to a submit. */
export interface RelayReceipt {
  /** May be asked at any host. */
  readonly taskId: string
  readonly status: RelayStatus
}

/** How an operation fared: an observation, never proof. */
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
      status: oneOf(fields.status, 'status', relayStatuses),
    }
  },
}

const statusRoute: Route<{ readonly taskId: string }, RelayTask> = {
  path: '/relay/status',
  method: 'POST',
  service: 'api',
  kind: 'status',
  body: ({ taskId }) => ({ taskId }),
  decode: (body) => {
    const fields = object(body)
    return {
      taskId: word(fields.taskId, 'taskId'),
      status: oneOf(fields.status, 'status', relayStatuses),
      ...present({
        txHash: optional(fields.txHash, 'txHash', bytes32),
        reason: optional(fields.reason, 'reason', string),
        revertData: optional(fields.revertData, 'revertData', hex),
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
