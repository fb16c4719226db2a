/**
 * Changes of what an account has: edits and cancels of resting orders, collateral of a position (docs/api-coverage.md POST
 * /orders/txns/edit/prepare). Each is prepared, verified, signed, and then handed in and followed with `submitOrder` and
 * `getOrderStatus`, at the host that prepared it.
 */
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transport.ts'
import type { Prepared } from './expressOrders.ts'
import {
  type CancelRequest,
  type CollateralRequest,
  cancelBody,
  collateralBody,
  type EditRequest,
  editBody,
} from './orderChangeRequest.ts'
import { type OrderPayload, orderPayload } from './orderPayload.ts'

const prepareCall = {
  method: 'POST',
  service: 'api',
  kind: 'prepare',
  isExact: true,
  decode: orderPayload,
} as const

const editRoute: Route<EditRequest, OrderPayload> = {
  ...prepareCall,
  path: '/orders/txns/edit/prepare',
  body: (request) => editBody(request, 'express'),
}

const cancelRoute: Route<CancelRequest, OrderPayload> = {
  ...prepareCall,
  path: '/orders/txns/cancel/prepare',
  body: (request) => cancelBody(request, 'express'),
}

const collateralRoute: Route<CollateralRequest, OrderPayload> = {
  ...prepareCall,
  path: '/orders/txns/collateral/prepare',
  body: (request) => collateralBody(request, 'express'),
}

async function prepared<Input>(
  transport: Transport,
  route: Route<Input, OrderPayload>,
  request: Input,
  options: CallOptions | undefined,
): Promise<Read<Prepared>> {
  const read = await transport.call(route, request, options)
  return { ...read, value: { ...read.value, host: read.host } }
}

/** Prepares new terms of resting orders (`POST /orders/txns/edit/prepare`). Moves nothing; an unknown order is refused. */
export function prepareEdit(
  transport: Transport,
  request: EditRequest,
  options?: CallOptions,
): Promise<Read<Prepared>> {
  return prepared(transport, editRoute, request, options)
}

/** Prepares the end of resting orders (`POST /orders/txns/cancel/prepare`). Moves nothing; nothing to cancel is refused. */
export function prepareCancel(
  transport: Transport,
  request: CancelRequest,
  options?: CallOptions,
): Promise<Read<Prepared>> {
  return prepared(transport, cancelRoute, request, options)
}

/** Prepares a change of a position's collateral (`POST /orders/txns/collateral/prepare`). Moves nothing. */
export function prepareCollateral(
  transport: Transport,
  request: CollateralRequest,
  options?: CallOptions,
): Promise<Read<Prepared>> {
  return prepared(transport, collateralRoute, request, options)
}
