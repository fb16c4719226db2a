/** Common parts of the routes that prepare a message: their call, and the host that each response names. */
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'
import {
  type CancelRequest,
  type CollateralRequest,
  cancelBody,
  collateralBody,
  type EditRequest,
  editBody,
} from './orderChangeRequest.ts'
import type { PrepareMode } from './prepareRequest.ts'

/** Call of every prepare route. Numbers keep their text, because the prepared payload goes back verbatim. */
export const prepareCall = { method: 'POST', service: 'api', kind: 'prepare', isExact: true } as const

/** The routes that prepare changes of orders and collateral, in one mode. */
export function changeRoutes<Payload>(mode: PrepareMode, decode: (body: unknown) => Payload) {
  const call = { ...prepareCall, decode }
  const edit: Route<EditRequest, Payload> = {
    ...call,
    path: '/orders/txns/edit/prepare',
    body: (request) => editBody(request, mode),
  }
  const cancel: Route<CancelRequest, Payload> = {
    ...call,
    path: '/orders/txns/cancel/prepare',
    body: (request) => cancelBody(request, mode),
  }
  const collateral: Route<CollateralRequest, Payload> = {
    ...call,
    path: '/orders/txns/collateral/prepare',
    body: (request) => collateralBody(request, mode),
  }
  return { edit, cancel, collateral }
}

/** Asks for a message to sign or to send. */
export type Preparer<Request, Made> = (
  transport: Transport,
  request: Request,
  options?: CallOptions,
) => Promise<Read<Made>>

/** The function that asks a prepare route; what it gives says which host made it. */
export function preparer<Request, Payload>(
  route: Route<Request, Payload>,
): Preparer<Request, Payload & { readonly host: string }> {
  return async (transport, request, options) => {
    const read = await transport.call(route, request, options)
    return { ...read, value: { ...read.value, host: read.host } }
  }
}
