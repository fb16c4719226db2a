/** Limits how many orders of a position may be cancelled with it; prepare counts on the limit and the router enforces it. */
import { type Address, hexKey } from '../../protocol/address.ts'
import { type CreateOrderParams, positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { orderTypes } from '../state/orderTypes.ts'
import type { VenueState } from '../state/venueState.ts'

function positionOf(account: Address, { addresses, isLong }: CreateOrderParams): string {
  return positionKeyOf(account, addresses.market, addresses.initialCollateralToken, isLong)
}

/** Waiting orders of the account that are cancelled with the position of an order. */
export function autoCancelOrders(venueState: VenueState, account: Address, order: CreateOrderParams): number {
  const wanted = positionOf(account, order)
  let count = 0
  for (const { account: owner, params } of venueState.orders.values()) {
    if (!params.autoCancel || hexKey(owner) !== hexKey(account)) continue
    if (positionOf(account, params) === wanted) count += 1
  }
  return count
}

/**
 * Refuses an order that would be one too many.
 *
 * @throws ProtocolRevert UnsupportedOrderTypeForAutoCancellation, MaxAutoCancelOrdersExceeded
 */
export function requireAutoCancelSlot(
  venueState: VenueState,
  account: Address,
  order: CreateOrderParams,
): void {
  const type = Number(order.orderType)
  if (type !== orderTypes.limitDecrease && type !== orderTypes.stopLossDecrease) {
    throw new ProtocolRevert('UnsupportedOrderTypeForAutoCancellation', [order.orderType])
  }
  const count = autoCancelOrders(venueState, account, order) + 1
  const most = venueState.chain.maxAutoCancelOrders
  if (count > most) throw new ProtocolRevert('MaxAutoCancelOrdersExceeded', [BigInt(count), BigInt(most)])
}
