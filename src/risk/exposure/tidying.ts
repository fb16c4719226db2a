/**
 * Rights of a keeper that tidies others' orders (docs/keepers.md, "What the order janitor may do").
 *
 * It may cancel a resting order that would open or add. It may also cancel an exit whose side has no position, and nothing that could open one. It
 * never cancels an exit of an existing position, which would be left without its stop.
 *
 * It may edit an order that perpd itself made and that is unmanaged: no running instance or task manages it. An entry keeps its size, comes nearer to
 * the price, and has no exits with it, because those lie around its former trigger. An exit never becomes smaller than the side's position, and a
 * stop-loss moves only towards profit. Pure.
 */
import type { EditDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { absOf, formatDollars, priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import { type SideExposure, sideOf } from './accountExposure.ts'
import type { AdmissionContext } from './admissionContext.ts'

/** On-chain type of a stop-loss (contract `Order`, `OrderType`). */
const STOP_LOSS = 6

/** Returns the reason why a keeper that tidies may not cancel an order; undefined: it may. Refuses with ORDER_PROTECTS and ORDER_MAY_PROTECT. */
export function tidyingDenial(order: Order, { snapshot, exposure }: AdmissionContext): Denial | undefined {
  const { orderKey, marketToken, direction } = order
  if (isIncreaseOrder(order)) return undefined
  const side = sideOf(exposure, marketToken, direction)
  // A position whose row cannot be read is not gone.
  if (side.heldUsd > 0n || lacksMarket(snapshot.positions.missing, marketToken)) {
    return {
      code: 'ORDER_PROTECTS',
      reason: `The order ${orderKey} is an exit of an open position; an order janitor does not touch it.`,
    }
  }
  return mayOpen(side) ? mayProtect(order) : undefined
}

/** The prices of an edit, USD per whole index token. */
export interface EditedPrices {
  /** On the side that executes, now. */
  readonly referencePrice: Usd
  /** The trigger as it will be. */
  readonly triggerPrice: Usd
  /** Decimals of the index token. */
  readonly decimals: number
}

/**
 * Returns the reason why a keeper that tidies may not edit another's order in this way; undefined: it may, or the edit is not of such a keeper.
 * Refuses with ORDER_KEPT, ENTRY_HAS_EXITS, ORDER_MAY_PROTECT and TIDYING_BOUNDS.
 */
export function tidyingEditDenial(
  order: Order,
  decision: EditDecision,
  prices: EditedPrices,
  context: AdmissionContext,
): Denial | undefined {
  const own = context.exposure.ownOrders.get(hexKey(order.orderKey))
  const { isKept, isOperator, strategy, tidiesOrders } = context.maker
  if (tidiesOrders !== true || isOperator === true) return undefined
  if (own === undefined || own.strategy === strategy) return undefined
  if (isKept?.(own) !== false) {
    return {
      code: 'ORDER_KEPT',
      reason: `The order ${order.orderKey} is managed by ${own.strategy}; an order janitor edits unmanaged orders only.`,
    }
  }
  const { sizeDeltaUsd = order.sizeDeltaUsd } = decision
  if (!isIncreaseOrder(order)) return exitDenial(order, sizeDeltaUsd, prices, context)
  const isOnSide = (other: Order) =>
    other.direction === order.direction && sameHex(other.marketToken, order.marketToken)
  if (own.hasExits || context.snapshot.orders.value.some((row) => isOnSide(row) && !isIncreaseOrder(row))) {
    return {
      code: 'ENTRY_HAS_EXITS',
      reason: `Exits rest around the trigger of the entry ${order.orderKey}; an order janitor does not move it.`,
    }
  }
  if (sizeDeltaUsd !== order.sizeDeltaUsd)
    return beyond('the size of an entry must not change', sizeDeltaUsd, order)
  const { triggerPrice, referencePrice, decimals } = prices
  const before = absOf(priceOfContractPrice(order.triggerContractPrice, decimals) - referencePrice)
  return absOf(triggerPrice - referencePrice) <= before
    ? undefined
    : outOfBounds(`an entry may move towards the price only (${formatPrice(triggerPrice)})`)
}

/** Checks an edit of an exit: no smaller than the position, no stop-loss away from profit, no take-profit elsewhere. */
function exitDenial(
  order: Order,
  sizeDeltaUsd: Usd,
  { triggerPrice, decimals }: EditedPrices,
  { snapshot, exposure }: AdmissionContext,
): Denial | undefined {
  const { marketToken, direction, orderType } = order
  const side = sideOf(exposure, marketToken, direction)
  if (side.heldUsd === 0n) return outOfBounds('an exit without a position may be cancelled but not edited')
  const before = priceOfContractPrice(order.triggerContractPrice, decimals)
  if (triggerPrice !== before) {
    const isTowardsProfit = direction === 'long' ? triggerPrice > before : triggerPrice < before
    if (orderType !== STOP_LOSS || !isTowardsProfit)
      return outOfBounds('a stop-loss may move towards profit only, and a take-profit not at all')
  }
  if (sizeDeltaUsd === order.sizeDeltaUsd) return undefined
  // An order in flight may be the reason for the exit's size.
  if (mayOpen(side) || lacksMarket(snapshot.positions.missing, marketToken)) return mayProtect(order)
  return sizeDeltaUsd < order.sizeDeltaUsd && sizeDeltaUsd >= side.heldUsd
    ? undefined
    : beyond(`an exit may shrink to the position only, ${formatDollars(side.heldUsd)}`, sizeDeltaUsd, order)
}

/** Tells whether an order that opens is in flight or rests on a side. */
function mayOpen({ reservedUsd, restingUsd, increases }: SideExposure): boolean {
  return reservedUsd + restingUsd > 0n || increases.length > 0
}

function mayProtect({ orderKey }: Order): Denial {
  return {
    code: 'ORDER_MAY_PROTECT',
    reason: `An entry is in flight or rests on the side of the exit ${orderKey}; an order janitor does not touch it.`,
  }
}

function beyond(rule: string, sizeDeltaUsd: Usd, order: Order): Denial {
  return {
    ...outOfBounds(`${rule} and never grow`),
    wanted: formatDollars(sizeDeltaUsd),
    allowed: formatDollars(order.sizeDeltaUsd),
  }
}

function outOfBounds(rule: string): Denial {
  return { code: 'TIDYING_BOUNDS', reason: `Rule for an order janitor: ${rule}.` }
}
