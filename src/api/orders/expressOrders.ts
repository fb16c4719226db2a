/**
 * The order chain of the application API: prepare, submit, status (docs/reference/api-coverage.md POST /orders/txns/prepare, POST
 * /orders/txns/submit and POST /orders/txns/status). Only express orders: typed data to sign. Paths and statuses that the
 * documents leave open are kept here and nowhere else.
 */

import type { Address, Hex } from '../../protocol/address.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'
import { approvalBody } from './approvalBody.ts'
import { type OrderPayload, orderPayload } from './orderPayload.ts'
import { type OrderStatus, ofRequest, orderStatus } from './orderStatus.ts'
import { type PrepareRequest, prepareBody } from './prepareRequest.ts'
import { type Preparer, prepareCall, preparer } from './prepareRoutes.ts'

/** A message to sign, as one host proposes it. Nothing in it is trusted before it is verified. */
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

/** Submission of a signature with its order. */
export interface OrderSubmission {
  /** The account, in subaccount mode too. */
  readonly from: Address
  /** 65 bytes over the digest. */
  readonly signature: Hex
  /** `Prepared.echo`, unchanged. */
  readonly echo: Prepared['echo']
  /** The approval that prepare was given, in subaccount mode. */
  readonly subaccountApproval?: SubaccountApproval
}

const prepareRoute: Route<PrepareRequest, OrderPayload> = {
  ...prepareCall,
  path: '/orders/txns/prepare',
  body: (request) => prepareBody(request),
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
    eip712Data: {
      ...submission.echo,
      subaccountApproval: submission.subaccountApproval && approvalBody(submission.subaccountApproval),
    },
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
export const prepareOrder: Preparer<PrepareRequest, Prepared> = preparer(prepareRoute)

/**
 * Hands in the signature: one POST to the host of the ticket, never repeated, whatever comes back
 * (`POST /orders/txns/submit`). A 200 can say `relay_failed`. `proves` says what an error shows.
 */
export function submitOrder(
  transport: Transport,
  ticket: OrderTicket,
  submission: OrderSubmission,
): Promise<Read<OrderStatus>> {
  return transport.call(ofRequest(submitRoute, ticket), { ticket, submission }, { host: ticket.host })
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
  return transport.call(ofRequest(statusRoute, ticket), ticket, { ...options, host: ticket.host })
}
