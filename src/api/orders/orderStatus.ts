/**
 * Decodes the responses of submit and status of an order chain; withdrawals have the same fields (docs/reference/api-coverage.md POST
 * /orders/txns/submit and POST /orders/txns/status).
 */
import type { Hex } from '../../protocol/address.ts'
import {
  bytes32,
  lenient,
  list,
  Malformed,
  object,
  oneOf,
  optional,
  present,
  string,
  word,
} from '../decode/decode.ts'
import type { Route } from '../transport/route.ts'

/** Status of an order chain or a withdrawal. `unrecognised` is a word of a newer venue. All are observations. */
export type OrderStatusName =
  | 'prepared'
  | 'relay_accepted'
  | 'relay_pending'
  | 'relay_submitted'
  | 'created'
  | 'executed'
  | 'cancelled'
  | 'relay_failed'
  | 'relay_reverted'
  | 'unrecognised'

const orderStatuses = new Set<Exclude<OrderStatusName, 'unrecognised'>>([
  'prepared',
  'relay_accepted',
  'relay_pending',
  'relay_submitted',
  'created',
  'executed',
  'cancelled',
  'relay_failed',
  'relay_reverted',
])

/** An error inside a 200: the relay refused or the operation reverted. */
export interface OrderFault {
  readonly code?: string
  readonly message?: string
}

/**
 * The venue's report on an order chain or a withdrawal. Any field but the status may be missing or odd, also of an executed order, and is left out
 * then. Order keys are never left out, because they identify our rows.
 */
export interface OrderStatus {
  /** As the answer names it; the route for one request fills in its own where it names none. */
  readonly requestId: string
  readonly status: OrderStatusName
  /** The status as the host sent it, for logs. */
  readonly statusText: string
  readonly txHash?: Hex
  readonly createdTxnHash?: Hex
  readonly executionTxnHash?: Hex
  readonly orderKeys: readonly Hex[]
  readonly cancellationReason?: string
  readonly taskId?: string
  /** The relay's own code, of deployments that send it; nothing is decided by it. */
  readonly gelatoStatusCode?: number
  readonly error?: OrderFault
  /** Unix ms. */
  readonly createdAtMs?: number
  readonly updatedAtMs?: number
  readonly traceId?: string
}

/**
 * The route for one request: an answer that names another request, by its id or its idempotency key, is none to this one. One
 * that names none is.
 */
export function ofRequest<Input>(
  route: Route<Input, OrderStatus>,
  { requestId, idempotencyKey }: { readonly requestId: string; readonly idempotencyKey?: string },
): Route<Input, OrderStatus> {
  return {
    ...route,
    decode: (body, asked) => {
      const named = object(body)
      ours(named.requestId, 'requestId', requestId)
      if (idempotencyKey !== undefined) ours(named.idempotencyKey, 'idempotencyKey', idempotencyKey)
      return { ...route.decode(body, asked), requestId }
    },
  }
}

function ours(value: unknown, name: string, wanted: string): void {
  if (value === undefined || value === null || value === wanted) return
  throw new Malformed(name, `is not ${wanted}`, value, true)
}

function orderFault(value: unknown, name: string): OrderFault {
  if (typeof value === 'string') return { message: value }
  const fields = object(value, name)
  return present({
    code: lenient(fields.code, 'code', string),
    message: lenient(fields.message, 'message', string),
  })
}

/** ISO 8601, or digits as ms (gaps: createdAt); an unreadable time is left out, nothing is decided by it. */
function timeMs(value: unknown): number | undefined {
  const ms =
    typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
      ? Number(value)
      : typeof value === 'string'
        ? Date.parse(value)
        : Number.NaN
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** Decodes an answer of submit or status. Throws `Malformed`. */
export function orderStatus(body: unknown): OrderStatus {
  const fields = object(body)
  const statusText = word(fields.status, 'status')
  return {
    requestId: lenient(fields.requestId, 'requestId', word) ?? '',
    status: oneOf(statusText, 'status', orderStatuses),
    statusText,
    orderKeys: optional(fields.orderKeys, 'orderKeys', (keys, name) => list(keys, name, bytes32)) ?? [],
    ...present({
      // Some deployments send an empty text for "not yet".
      txHash: lenient(fields.txHash, 'txHash', bytes32),
      createdTxnHash: lenient(fields.createdTxnHash, 'createdTxnHash', bytes32),
      executionTxnHash: lenient(fields.executionTxnHash, 'executionTxnHash', bytes32),
      cancellationReason: lenient(fields.cancellationReason, 'cancellationReason', string),
      taskId: lenient(fields.taskId, 'taskId', word),
      gelatoStatusCode: typeof fields.gelatoStatusCode === 'number' ? fields.gelatoStatusCode : undefined,
      error: lenient(fields.error, 'error', orderFault),
      createdAtMs: timeMs(fields.createdAt),
      updatedAtMs: timeMs(fields.updatedAt),
      traceId: lenient(fields.traceId, 'traceId', string),
    }),
  }
}
