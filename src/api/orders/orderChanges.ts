/**
 * Changes of what an account has: edits and cancels of resting orders, collateral of a position (docs/reference/api-coverage.md POST
 * /orders/txns/edit/prepare). Each is prepared, verified, signed, and then handed in and followed with `submitOrder` and
 * `getOrderStatus`, at the host that prepared it.
 */
import type { Prepared } from './expressOrders.ts'
import type { CancelRequest, CollateralRequest, EditRequest } from './orderChangeRequest.ts'
import { orderPayload } from './orderPayload.ts'
import { changeRoutes, type Preparer, preparer } from './prepareRoutes.ts'

const changes = changeRoutes('express', orderPayload)

/** Prepares new terms of resting orders (`POST /orders/txns/edit/prepare`). Moves nothing; an unknown order is refused. */
export const prepareEdit: Preparer<EditRequest, Prepared> = preparer(changes.edit)

/** Prepares the end of resting orders (`POST /orders/txns/cancel/prepare`). Moves nothing; nothing to cancel is refused. */
export const prepareCancel: Preparer<CancelRequest, Prepared> = preparer(changes.cancel)

/** Prepares a change of a position's collateral (`POST /orders/txns/collateral/prepare`). Moves nothing. */
export const prepareCollateral: Preparer<CollateralRequest, Prepared> = preparer(changes.collateral)
