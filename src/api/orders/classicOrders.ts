/**
 * Classic orders: prepare answers with a transaction that the account sends itself (docs/reference/api-coverage.md POST
 * /orders/txns/prepare). It needs an allowance of the router and native coin for `value`. There is nothing to submit, and
 * whether the order routes track it is not documented: follow the receipt and `/orders`. The types keep it from being
 * handed in: a `ClassicPrepared` has no echo.
 */

import type { Route } from '../transport/route.ts'
import type { CancelRequest, CollateralRequest, EditRequest } from './orderChangeRequest.ts'
import { type ClassicPayload, classicPayload } from './orderPayload.ts'
import { type PrepareRequest, prepareBody } from './prepareRequest.ts'
import { changeRoutes, type Preparer, prepareCall, preparer } from './prepareRoutes.ts'

/** A transaction for the account to send, as one host proposes it. Nothing in it is trusted before it was verified. */
export interface ClassicPrepared extends ClassicPayload {
  /** The host that prepared it. */
  readonly host: string
}

const orderRoute: Route<PrepareRequest, ClassicPayload> = {
  ...prepareCall,
  path: '/orders/txns/prepare',
  body: (request) => prepareBody(request, 'classic'),
  decode: classicPayload,
}

const changes = changeRoutes('classic', classicPayload)

/** Prepares an order as a transaction (`POST /orders/txns/prepare`, mode classic). Moves nothing. */
export const prepareClassicOrder: Preparer<PrepareRequest, ClassicPrepared> = preparer(orderRoute)

/** Prepares new terms of resting orders as a transaction (`POST /orders/txns/edit/prepare`, mode classic). */
export const prepareClassicEdit: Preparer<EditRequest, ClassicPrepared> = preparer(changes.edit)

/** Prepares the end of resting orders as a transaction (`POST /orders/txns/cancel/prepare`, mode classic). */
export const prepareClassicCancel: Preparer<CancelRequest, ClassicPrepared> = preparer(changes.cancel)

/** Prepares a change of collateral as a transaction (`POST /orders/txns/collateral/prepare`, mode classic). */
export const prepareClassicCollateral: Preparer<CollateralRequest, ClassicPrepared> = preparer(
  changes.collateral,
)
