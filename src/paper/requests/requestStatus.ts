/**
 * Reports the state of a prepared request, in the words of the wire (docs/reference/api-coverage.md POST /orders/txns/status;
 * test/paper/behaviours-orders.test.ts, G).
 */
import { defined } from '../../base/defined.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { badFields, type Json, notFound } from '../http/http.ts'
import type { Operation } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'
import { findRecord, type OrderChainRecord, type Peer } from '../venue/peer.ts'

/** Status words of the wire. */
export type OrderChainStatus =
  | 'prepared'
  | 'relay_accepted'
  | 'relay_pending'
  | 'relay_submitted'
  | 'created'
  | 'executed'
  | 'cancelled'
  | 'relay_failed'
  | 'relay_reverted'

interface RecordState {
  readonly status: OrderChainStatus
  readonly updatedAtMs: number
  readonly orderKeys: readonly Hex[]
  readonly createdTxnHash?: Hex
  readonly executionTxnHash?: Hex
  readonly cancellationReason?: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** Returns the state of a record. Throws HttpFailure 404 when its operation is forgotten. */
export function stateOfRecord(venueState: VenueState, record: OrderChainRecord): RecordState {
  const operation = record.taskId === undefined ? undefined : venueState.operations.get(record.taskId)
  // Forgotten for its age: the record says no more, rather than going back to `prepared`.
  if (record.taskId !== undefined && operation === undefined) throw notFound('Transaction not found')
  if (operation === undefined) return { status: 'prepared', updatedAtMs: record.createdAtMs, orderKeys: [] }
  return stateOfOperation(venueState, operation)
}

/** Returns the relay's step before the transaction is mined: received, queued from a quarter of the time, sent from half. */
function pendingStep(
  { acceptedAtMs, landsAtMs }: Operation,
  nowMs: number,
): { readonly status: OrderChainStatus; readonly updatedAtMs: number } {
  const queuedAtMs = Math.ceil((3 * acceptedAtMs + landsAtMs) / 4)
  const sentAtMs = Math.ceil((acceptedAtMs + landsAtMs) / 2)
  if (nowMs >= sentAtMs) return { status: 'relay_submitted', updatedAtMs: sentAtMs }
  if (nowMs >= queuedAtMs) return { status: 'relay_pending', updatedAtMs: queuedAtMs }
  return { status: 'relay_accepted', updatedAtMs: acceptedAtMs }
}

function stateOfOperation(venueState: VenueState, operation: Operation): RecordState {
  const { status, updatedAtMs, txHash, error, orderKeys } = operation
  if (status === 'pending') return { ...pendingStep(operation, venueState.clock.now()), orderKeys }
  if (status !== 'executed') {
    const shown = defined({
      error: error === undefined ? undefined : { code: error.code, message: error.message },
    })
    return {
      status: status === 'failed' ? 'relay_failed' : 'relay_reverted',
      updatedAtMs,
      orderKeys,
      ...shown,
    }
  }
  const created = defined({ createdTxnHash: txHash })
  const [main] = orderKeys
  const outcome = main === undefined ? undefined : venueState.outcomes.get(hexKey(main))
  // A batch of edits and cancels alone is done when it is mined.
  if (outcome === undefined) return { status: 'executed', updatedAtMs, orderKeys, ...created }
  return {
    status: outcome.status,
    updatedAtMs: outcome.updatedAtMs,
    orderKeys,
    ...created,
    ...defined({ executionTxnHash: outcome.executionTxnHash }),
    ...defined({ cancellationReason: outcome.status === 'cancelled' ? (outcome.reason ?? '') : undefined }),
  }
}

/** Status of a record by requestId or idempotencyKey. Throws HttpFailure 400 without either, 404 for an unknown one. */
export function orderStatus(
  venueState: VenueState,
  peer: Peer,
  body: Readonly<Record<string, unknown>>,
): Json {
  if (typeof body.requestId !== 'string' && typeof body.idempotencyKey !== 'string') {
    throw badFields({ requestId: { message: "'requestId' or 'idempotencyKey' is required" } })
  }
  const record = findRecord(peer, body)
  if (record === undefined) throw notFound('Transaction not found')
  const state = stateOfRecord(venueState, record)
  return {
    requestId: record.requestId,
    status: state.status,
    taskId: record.taskId,
    txHash: state.executionTxnHash ?? state.createdTxnHash,
    createdTxnHash: state.createdTxnHash,
    executionTxnHash: state.executionTxnHash,
    orderKeys: state.orderKeys.length === 0 ? undefined : state.orderKeys,
    cancellationReason: state.cancellationReason,
    error: state.error,
    createdAt: new Date(record.createdAtMs).toISOString(),
    updatedAt: new Date(state.updatedAtMs).toISOString(),
  }
}
