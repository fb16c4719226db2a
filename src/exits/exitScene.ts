/** One part of a position with its exits as they rest, and the decisions about them that stops and targets share. Pure. */

import type { MarketSide } from '../domain/accountRecords/accountRecord.ts'
import type { Decision, DecreaseDecision } from '../domain/order/decision.ts'
import { EXIT_TOLERANCE_BPS, type PricedExits } from '../domain/order/exitPlan.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import type { Position } from '../protocol/position.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { bps, formatSize, formatUsd, maxOf, minOf, type Usd } from '../protocol/units.ts'
import type { RestingOrder } from '../strategy/resting.ts'

/** Type of an order that closes at a price. */
export type ExitType = 'stop-loss' | 'take-profit'

/** One part of a position with all that its exits are judged by. */
export interface Scene {
  readonly exits: PricedExits
  readonly snapshot: Snapshot
  readonly position: Position
  /** Size that both the instance's book and the position have at least, USD. */
  readonly ownUsd: Usd
  /** Size by its book alone, USD: more than the position where a fill is shown that no record reports yet. */
  readonly bookUsd: Usd
  /** Entry price of the instance's own entries, USD per whole index token. */
  readonly entryPrice: Usd
  /** At which a reduction executes now. */
  readonly price: Usd
  readonly resting: readonly RestingOrder[]
  /** Ids of the intents of tasks that run: their reductions at rest count as targets, and are the last that are made smaller. */
  readonly ofTasks: ReadonlySet<string>
  /** The nearest to profit that a stop-loss rested for this part, USD per whole index token; undefined: none did, or the file asks for none. */
  readonly reached: Usd | undefined
  /** A stamp by the clock of now, Unix ms. */
  readonly settledMs: (atMs: number) => number
}

/** One that froze at its trigger is tried again. */
export function retried(exit: RestingOrder, { position }: Scene): readonly Decision[] | undefined {
  if (!exit.isFrozen) return undefined
  return [
    {
      ...sideOf(position),
      kind: 'edit',
      orderKey: exit.orderKey,
      sizeDeltaUsd: exit.sizeDeltaUsd,
      reason: `The ${exit.orderType} froze at its trigger; perpd retries it.`,
    },
  ]
}

/**
 * Removes the excess of one type's exits over the part: whole orders first, the farthest from firing first. The part is the book's. A smaller
 * position may come from one of these exits, which is still listed, and no waiting exit is removed in its place. `ofTasks`: intents whose orders come
 * last, because their tasks would place them anew.
 */
export function fitted(
  { bookUsd: ownUsd, position, price }: Scene,
  type: ExitType,
  orders: readonly RestingOrder[],
  ofTasks: ReadonlySet<string> = new Set(),
): readonly Decision[] {
  let excessUsd = sumOf(orders) - ownUsd
  if (excessUsd <= bps(ownUsd, EXIT_TOLERANCE_BPS)) return []
  const away = ({ triggerPrice = 0n }: RestingOrder) =>
    triggerPrice > price ? triggerPrice - price : price - triggerPrice
  const isLast = ({ intentId }: RestingOrder) => Number(ofTasks.has(intentId))
  const farthest = [...orders].sort(
    (one, other) => isLast(one) - isLast(other) || (away(one) < away(other) ? 1 : -1),
  )
  const cancelled: RestingOrder[] = []
  const shrunk: Decision[] = []
  const words = `${formatUsd(ownUsd)} of the ${position.direction} position still belongs to this strategy`
  for (const order of farthest) {
    if (excessUsd <= 0n) break
    if (order.sizeDeltaUsd <= excessUsd) cancelled.push(order)
    else {
      shrunk.push({
        ...sideOf(position),
        kind: 'edit',
        orderKey: order.orderKey,
        sizeDeltaUsd: order.sizeDeltaUsd - excessUsd,
        reason: `${words}; a ${type} of ${formatSize(order.sizeDeltaUsd)} shrinks to match.`,
      })
    }
    excessUsd -= minOf(excessUsd, order.sizeDeltaUsd)
  }
  if (cancelled.length === 0) return shrunk
  const orderKeys = cancelled.map(({ orderKey }) => orderKey)
  return [
    { ...sideOf(position), kind: 'cancel', orderKeys, reason: `${words}; its exits are larger.` },
    ...shrunk,
  ]
}

/** Places an exit of this size at a trigger. */
export function placed(scene: Scene, type: ExitType, triggerPrice: Usd, sizeDeltaUsd: Usd): DecreaseDecision {
  const { position, entryPrice, price, reached } = scene
  const asBefore =
    type === 'stop-loss' && triggerPrice === reached ? ', not farther than the one that rested here' : ''
  return {
    ...sideOf(position),
    kind: 'decrease',
    collateralToken: position.collateralToken,
    sizeDeltaUsd,
    orderType: type,
    triggerPrice,
    // The collateral stays with the rest, if there is any.
    keepLeverage: false,
    reason: `${formatUsd(sizeDeltaUsd)} of the ${position.direction} position has no ${type}; the file asks for one${asBefore}.`,
    facts: { entry: formatPrice(entryPrice), price: formatPrice(price), trigger: formatPrice(triggerPrice) },
  }
}

/** Closes the part at the market. */
export function closeOf({ position }: Scene, reason: string): Decision {
  return { ...sideOf(position), kind: 'close', collateralToken: position.collateralToken, reason }
}

/** The side that a decision is about. */
export function sideOf({ marketToken, direction }: Position): MarketSide {
  return { marketToken, direction }
}

/** Tells whether a size is worth an order: more than the tolerance, and than the least position of the market. */
export function isWorth({ ownUsd, snapshot, position }: Scene, sizeUsd: Usd): boolean {
  const least = marketOf(snapshot, position.marketToken)?.market.minPositionSizeUsd ?? 0n
  return sizeUsd > bps(ownUsd, EXIT_TOLERANCE_BPS) && sizeUsd >= maxOf(1n, least)
}

/** Size of all, USD. */
export function sumOf(orders: readonly RestingOrder[]): Usd {
  return orders.reduce((sum, { sizeDeltaUsd }) => sum + sizeDeltaUsd, 0n)
}

/** Tells whether an exit at a trigger waits there, and does not fire at once. */
export function waits(trigger: Usd, { price, position }: Scene, type: ExitType): boolean {
  const isBelow = (type === 'stop-loss') === (position.direction === 'long')
  return trigger > 0n && (isBelow ? trigger < price : trigger > price)
}
