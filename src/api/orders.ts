/**
 * The order chain of the application API: prepare, submit, status (wire: orders, 2 to 5). Only express orders: typed data
 * to sign. Paths and statuses that the documents leave open are kept here and nowhere else.
 */
import type { Address, Hex } from '../domain/address.ts'
import { bytes32, list, Malformed, object, oneOf, optional, present, string, word } from './decode.ts'
import { type OrderPayload, orderPayload } from './orderPayload.ts'
import { type PrepareRequest, prepareBody } from './prepareRequest.ts'
import type { CallOptions, Read, Route } from './route.ts'
import type { Transport } from './transport.ts'

/** What may be signed, as one host proposes it. Nothing in it is trusted before it was verified. */
export interface Prepared extends OrderPayload {
  /** The only host that knows this request. */
  readonly host: string
}

/** A handle on one order chain. */
export interface OrderTicket {
  /** The host that prepared it. */
  readonly host: string
  readonly requestId: string
  readonly idempotencyKey?: string
}

/** What is handed in with a signature. */
export interface OrderSubmission {
  /** The account, in subaccount mode too. */
  readonly from: Address
  /** 65 bytes over the digest. */
  readonly signature: Hex
  /** `Prepared.echo`, unchanged. */
  readonly echo: Prepared['echo']
  /** The approval that prepare was given, in subaccount mode. */
  readonly subaccountApproval?: unknown
}

/** Status of an order chain. `unrecognised` is a word of a newer venue. All are observations. */
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

/** What the venue says of an order chain. Any field but the first two may be missing, also of an executed order. */
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
  readonly error?: OrderFault
  /** Unix ms. */
  readonly createdAtMs?: number
  readonly updatedAtMs?: number
  readonly traceId?: string
}

const prepareRoute: Route<PrepareRequest, OrderPayload> = {
  path: '/orders/txns/prepare',
  method: 'POST',
  service: 'api',
  kind: 'prepare',
  isExact: true,
  body: prepareBody,
  decode: orderPayload,
}

interface SubmitInput {
  readonly ticket: OrderTicket
  readonly submission: OrderSubmission
}

const submitRoute: Route<SubmitInput, OrderStatus> = {
  path: '/orders/txns/submit',
  method: 'POST',
  service: 'api',
  kind: 'submit',
  body: ({ ticket, submission }) => ({
    mode: 'express',
    requestId: ticket.requestId,
    idempotencyKey: ticket.idempotencyKey,
    from: submission.from,
    signature: submission.signature,
    eip712Data: { ...submission.echo, subaccountApproval: submission.subaccountApproval },
  }),
  decode: orderStatus,
}

const statusRoute: Route<OrderTicket, OrderStatus> = {
  path: '/orders/txns/status',
  method: 'POST',
  service: 'api',
  kind: 'status',
  body: ({ requestId }) => ({ requestId }),
  decode: orderStatus,
}

/**
 * Asks a host to prepare an order (`POST /orders/txns/prepare`). Moves nothing at the venue, so it is repeated, at the
 * peer too, when nothing conclusive comes back. `options.host` asks one host only.
 *
 * @throws RefusedError when the venue refuses the order: nothing was signed, do not repeat it unchanged.
 * @throws DecodeError also when a field is missing that verification needs.
 */
export async function prepareOrder(
  transport: Transport,
  request: PrepareRequest,
  options?: CallOptions,
): Promise<Read<Prepared>> {
  const read = await transport.call(prepareRoute, request, options)
  return { ...read, value: { ...read.value, host: read.host } }
}

/**
 * Hands in the signature: one POST to the host of the ticket, never repeated, whatever comes back
 * (`POST /orders/txns/submit`). A 200 can say `relay_failed`. `proves` says what an error shows.
 */
export function submitOrder(
  transport: Transport,
  ticket: OrderTicket,
  submission: OrderSubmission,
): Promise<Read<OrderStatus>> {
  return transport.call(withRequestId(submitRoute, ticket), { ticket, submission }, { host: ticket.host })
}

/**
 * Asks the host of the ticket how the order fares, and no other (`POST /orders/txns/status`). `serverDateMs` is that
 * host's clock. A 404 is a RefusedError that proves nothing.
 */
export function getOrderStatus(
  transport: Transport,
  ticket: OrderTicket,
  options?: Omit<CallOptions, 'host'>,
): Promise<Read<OrderStatus>> {
  return transport.call(withRequestId(statusRoute, ticket), ticket, { ...options, host: ticket.host })
}

/** An answer about another request is no answer to this one. */
function withRequestId<Input>(
  route: Route<Input, OrderStatus>,
  ticket: OrderTicket,
): Route<Input, OrderStatus> {
  return {
    ...route,
    decode: (body) => {
      const status = route.decode(body)
      if (status.requestId !== ticket.requestId) {
        throw new Malformed('requestId', `is not ${ticket.requestId}`, status.requestId)
      }
      return status
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

function orderStatus(body: unknown): OrderStatus {
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
      error: optional(fields.error, 'error', orderFault),
      createdAtMs: timeMs(fields.createdAt),
      updatedAtMs: timeMs(fields.updatedAt),
      traceId: optional(fields.traceId, 'traceId', string),
    }),
  }
}
