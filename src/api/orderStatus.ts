/** What submit and status of an order chain answer; withdrawals have the same fields (wire: orders, 4, 5 and 11). */
import type { Hex } from '../domain/address.ts'
import { bytes32, list, Malformed, object, oneOf, optional, present, string, word } from './decode.ts'
import type { Route } from './route.ts'

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

/** What the venue says of an order chain or a withdrawal. Any field but the first two may be missing, also of an executed order. */
export interface OrderStatus {
  readonly requestId: string
  readonly status: OrderStatusName
  /** The status as it came, for logs. */
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

/** The route for one request: an answer about another request is no answer to this one. */
export function ofRequest<Input>(
  route: Route<Input, OrderStatus>,
  requestId: string,
): Route<Input, OrderStatus> {
  return {
    ...route,
    decode: (body) => {
      const status = route.decode(body)
      if (status.requestId === requestId) return status
      throw new Malformed('requestId', `is not ${requestId}`, status.requestId)
    },
  }
}

function orderFault(value: unknown, name: string): OrderFault {
  if (typeof value === 'string') return { message: value }
  const fields = object(value, name)
  return present({
    code: optional(fields.code, 'code', string),
    message: optional(fields.message, 'message', string),
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

function hash(value: unknown, name: string): Hex | undefined {
  // Some deployments send an empty text for "not yet".
  return value === '' ? undefined : optional(value, name, bytes32)
}

/** Decodes an answer of submit or status. Throws `Malformed`. */
export function orderStatus(body: unknown): OrderStatus {
  const fields = object(body)
  const statusText = word(fields.status, 'status')
  return {
    requestId: word(fields.requestId, 'requestId'),
    status: oneOf(statusText, 'status', orderStatuses),
    statusText,
    orderKeys: optional(fields.orderKeys, 'orderKeys', (keys, name) => list(keys, name, bytes32)) ?? [],
    ...present({
      txHash: hash(fields.txHash, 'txHash'),
      createdTxnHash: hash(fields.createdTxnHash, 'createdTxnHash'),
      executionTxnHash: hash(fields.executionTxnHash, 'executionTxnHash'),
      cancellationReason: optional(fields.cancellationReason, 'cancellationReason', string),
      taskId: optional(fields.taskId, 'taskId', string),
      gelatoStatusCode: typeof fields.gelatoStatusCode === 'number' ? fields.gelatoStatusCode : undefined,
      error: optional(fields.error, 'error', orderFault),
      createdAtMs: timeMs(fields.createdAt),
      updatedAtMs: timeMs(fields.updatedAt),
      traceId: optional(fields.traceId, 'traceId', string),
    }),
  }
}
