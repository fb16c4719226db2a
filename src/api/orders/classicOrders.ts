/**
 * Classic orders: prepare answers with a transaction that the account sends itself (docs/api-coverage.md POST
 * /orders/txns/prepare). It needs an allowance of the router and native coin for `value`. There is nothing to submit, and
 * whether the order routes track it is not documented: follow the receipt and `/orders`. The types keep it from being
 * handed in: a `ClassicPrepared` has no echo.
 */
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transport.ts'
import {
  type CancelRequest,
  type CollateralRequest,
  cancelBody,
  collateralBody,
  type EditRequest,
  editBody,
} from './orderChangeRequest.ts'
import { type ClassicPayload, classicPayload } from './orderPayload.ts'
import { type PrepareRequest, prepareBody } from './prepareRequest.ts'

/** A transaction for the account to send, as one host proposes it. Nothing in it is trusted before it was verified. */
export interface ClassicPrepared extends ClassicPayload {
  /** The host that prepared it. */
  readonly host: string
}

const classicCall = {
  method: 'POST',
  service: 'api',
  kind: 'prepare',
  isExact: true,
  decode: classicPayload,
} as const

const orderRoute: Route<PrepareRequest, ClassicPayload> = {
  ...classicCall,
  path: '/orders/txns/prepare',
  body: (request) => prepareBody(request, 'classic'),
}

const editRoute: Route<EditRequest, ClassicPayload> = {
  ...classicCall,
  path: '/orders/txns/edit/prepare',
  body: (request) => editBody(request, 'classic'),
}

const cancelRoute: Route<CancelRequest, ClassicPayload> = {
  ...classicCall,
  path: '/orders/txns/cancel/prepare',
  body: (request) => cancelBody(request, 'classic'),
}

const collateralRoute: Route<CollateralRequest, ClassicPayload> = {
  ...classicCall,
  path: '/orders/txns/collateral/prepare',
  body: (request) => collateralBody(request, 'classic'),
}

async function prepared<Input>(
  transport: Transport,
  route: Route<Input, ClassicPayload>,
  request: Input,
  options: CallOptions | undefined,
): Promise<Read<ClassicPrepared>> {
  const read = await transport.call(route, request, options)
  return { ...read, value: { ...read.value, host: read.host } }
}

/** Prepares an order as a transaction (`POST /orders/txns/prepare`, mode classic). Moves nothing. */
export function prepareClassicOrder(
  transport: Transport,
  request: PrepareRequest,
  options?: CallOptions,
): Promise<Read<ClassicPrepared>> {
  return prepared(transport, orderRoute, request, options)
}

/** Prepares new terms of resting orders as a transaction (`POST /orders/txns/edit/prepare`, mode classic). */
export function prepareClassicEdit(
  transport: Transport,
  request: EditRequest,
  options?: CallOptions,
): Promise<Read<ClassicPrepared>> {
  return prepared(transport, editRoute, request, options)
}

/** Prepares the end of resting orders as a transaction (`POST /orders/txns/cancel/prepare`, mode classic). */
export function prepareClassicCancel(
  transport: Transport,
  request: CancelRequest,
  options?: CallOptions,
): Promise<Read<ClassicPrepared>> {
  return prepared(transport, cancelRoute, request, options)
}

/** Prepares a change of collateral as a transaction (`POST /orders/txns/collateral/prepare`, mode classic). */
export function prepareClassicCollateral(
  transport: Transport,
  request: CollateralRequest,
  options?: CallOptions,
): Promise<Read<ClassicPrepared>> {
  return prepared(transport, collateralRoute, request, options)
}
