/** Orders whose trigger the price has reached are about to be executed: they are looked at soon. */
import { hasEnded, lastAttempt } from '../../domain/order/intent.ts'
import { marketOf, type Snapshot } from '../../domain/snapshot.ts'
import type { OpenOrders } from '../../execution/openOrders.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Order } from '../../protocol/position.ts'
import { priceOfContractPrice, type Usd } from '../../protocol/units.ts'

/**
 * Makes the look, to be taken at each snapshot: an order is reported when its trigger is reached, and again only when the price returned to it from
 * the other side.
 */
export function createReachedTriggers(
  openOrders: Pick<OpenOrders, 'open' | 'pollSoon'>,
): (snapshot: Snapshot) => void {
  let reached: ReadonlySet<string> = new Set()
  return (snapshot) => {
    const intentOf = new Map<string, string>()
    for (const { state } of openOrders.open()) {
      for (const child of lastAttempt(state)?.children ?? [])
        if (!hasEnded(child)) intentOf.set(hexKey(child.orderKey), state.intent.intentId)
    }
    const now = new Set<string>()
    for (const order of snapshot.orders.value) {
      const key = hexKey(order.orderKey)
      const intentId = intentOf.get(key)
      if (intentId === undefined) continue
      const view = marketOf(snapshot, order.marketToken)
      const price = view?.oraclePrice?.value.medianPrice
      // An order without a price in the snapshot keeps its state.
      const isReached =
        view === undefined || price === undefined
          ? reached.has(key)
          : isTriggered(order, price, view.indexToken.decimals)
      if (!isReached) continue
      now.add(key)
      if (!reached.has(key)) openOrders.pollSoon(intentId)
    }
    reached = now
  }
}

/** Tells whether a price has reached the order's trigger (contract `BaseOrderUtils`, `validateOrderTriggerPrice`). */
export function isTriggered(
  { orderType, direction, triggerContractPrice }: Order,
  price: Usd,
  indexDecimals: number,
): boolean {
  const trigger = priceOfContractPrice(triggerContractPrice, indexDecimals)
  const isLong = direction === 'long'
  switch (orderType) {
    // Limit increase and stop-loss: the price falls to it on a long, rises to it on a short.
    case 3:
    case 6:
      return isLong ? price <= trigger : price >= trigger
    // Take-profit and stop increase: the other way round.
    case 5:
    case 8:
      return isLong ? price >= trigger : price <= trigger
    default:
      return false
  }
}
