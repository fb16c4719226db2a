/** Common parts of tasks that make orders over time: an order's price, its size by the capacity, and its decision. Pure. */

import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { DecisionFacts, DecreaseDecision, IncreaseDecision } from '../domain/order/decision.ts'
import { marketOf, positionOf, type Snapshot } from '../domain/snapshot.ts'
import type { ExecutorParams } from '../domain/taskStates/executorState.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { BPS_ONE, bps, maxOf, mulDiv, type Usd } from '../protocol/units.ts'
import type { ExecutorView } from './executorView.ts'

/** One side of one market, and whether it is opened or reduced. */
export type TaskSide = Pick<ExecutorParams, 'marketToken' | 'direction' | 'collateralToken' | 'action'>

/** The direction of a task's position, and its growth or reduction. */
interface TaskAim {
  readonly direction: TaskSide['direction']
  readonly action: TaskSide['action']
}

/** Tells whether it takes the higher price: opens a long, closes a short. */
function buys({ direction, action }: TaskAim): boolean {
  return (direction === 'long') === (action === 'increase')
}

/** The oracle's fresh price on the side that an order takes, USD per whole index token; undefined where there is none. */
export function takenPrice(side: TaskSide, snapshot: Snapshot): Usd | undefined {
  const price = marketOf(snapshot, side.marketToken)?.oraclePrice?.value
  return buys(side) ? price?.maxPrice : price?.minPrice
}

/** The price that an order takes now; or why none is made: there is no fresh one, or it is beyond the bound. */
export function priceWithin(side: TaskSide, snapshot: Snapshot, worstPrice?: Usd): Usd | string {
  const price = takenPrice(side, snapshot)
  if (price === undefined) return 'the oracle has no fresh price of the market'
  if (worstPrice !== undefined && isBeyond(side, price, worstPrice))
    return `the price ${formatPrice(price)} is beyond ${formatPrice(worstPrice)}`
  return price
}

/** Tells whether a price is worse for the side than a bound. */
export function isBeyond(side: TaskSide, price: Usd, worstPrice: Usd): boolean {
  return buys(side) ? price > worstPrice : price < worstPrice
}

/** A price so many bps better for the side than another: lower where it buys. */
export function betterBy(side: TaskAim, price: Usd, basisPoints: number): Usd {
  const parts = BigInt(BPS_ONE) + (buys(side) ? -1n : 1n) * BigInt(basisPoints)
  return mulDiv(price, parts, BigInt(BPS_ONE))
}

/** Returns the share of the present capacity, USD, or the reason why that is unknown. */
export function shareOfCapacity(
  { marketToken, direction }: TaskSide,
  shareBps: number,
  view: ExecutorView,
  snapshot: Snapshot,
): Usd | string {
  const capacity = view.capacity(snapshot, marketToken, direction)
  return typeof capacity === 'bigint' ? bps(maxOf(0n, capacity), shareBps) : capacity.reason
}

/** Size of the position that the side has, USD. */
export function heldUsd(side: TaskSide, snapshot: Snapshot): Usd {
  return positionOf(snapshot, side)?.sizeInUsd ?? 0n
}

/** Size that a task plans by, USD: its owner's part of the side, or the whole position where its owner acts on whole ones. */
export function plannedUsd(
  side: TaskSide,
  { ownUsd }: { readonly ownUsd?: (side: PositionSide) => Usd },
  snapshot: Snapshot,
): Usd {
  return ownUsd === undefined ? heldUsd(side, snapshot) : ownUsd(side)
}

/** An order that adds to the side. */
export function adding(
  { marketToken, direction, collateralToken }: TaskSide,
  sizeDeltaUsd: Usd,
  leverageBps: number,
  reason: string,
  facts: DecisionFacts,
): IncreaseDecision {
  return {
    kind: 'increase',
    marketToken,
    direction,
    collateralToken,
    sizeDeltaUsd,
    leverageBps,
    reason,
    facts,
  }
}

/** Returns an order that reduces a position, and its collateral with it. */
export function takingOff(
  { marketToken, direction, collateralToken }: TaskSide,
  sizeDeltaUsd: Usd,
  reason: string,
  facts: DecisionFacts,
): DecreaseDecision {
  return {
    kind: 'decrease',
    marketToken,
    direction,
    collateralToken,
    sizeDeltaUsd,
    keepLeverage: true,
    reason,
    facts,
  }
}
