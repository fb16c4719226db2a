/** Distance of a position from its liquidation after an increase or a withdrawal. Estimates err on the near side. */
import type { Limits } from '../../domain/limits/limits.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import type { Direction } from '../../protocol/market.ts'
import { liquidationDistanceBps, type Position } from '../../protocol/position.ts'
import {
  BPS_ONE,
  bps,
  maxOf,
  minOf,
  mulDiv,
  mulDivUp,
  ONE_USD,
  type Usd,
  usdOfAmount,
} from '../../protocol/units.ts'

/** Change of a position. USD. */
export interface LiquidationChange {
  /** The position as it is; absent when there is none. */
  readonly position: Position | undefined
  readonly direction: Direction
  readonly addedUsd: Usd
  /** Margin that comes with it, or leaves (negative). */
  readonly addedMarginUsd: Usd
  /** True if the collateral is a stable coin: any other falls with the price of a long. */
  readonly isStable: boolean
  /** Size that the venue's leverage tier is looked up by; absent: the size after the change. */
  readonly tierUsd?: Usd
}

/**
 * Returns the distance from the price to the liquidation after the change, bps of the price, rounded down; 0 or less when it would be liquidated at
 * once.
 *
 * The margin m carries a size s until a move d eats it down to the venue's least margin k*s: d = (m - k*s) / n with n the worth of the position, and
 * n + m under a long whose collateral moves too. Gains do not count as margin, losses do.
 */
export function distanceAfterBps(change: LiquidationChange, view: MarketView): bigint {
  const { position, direction, addedUsd, addedMarginUsd, isStable } = change
  const heldUsd = position?.sizeInUsd ?? 0n
  const heldMarginUsd =
    position === undefined ? 0n : minOf(position.remainingCollateralUsd, position.netValueUsd)
  const sizeUsd = heldUsd + addedUsd
  const marginUsd = heldMarginUsd + addedMarginUsd
  const worthUsd =
    position === undefined
      ? 0n
      : usdOfAmount(position.sizeInTokens, position.markPrice, view.indexToken.decimals)
  const moving = direction === 'long' && !isStable ? maxOf(0n, marginUsd) : 0n
  const notionalUsd = maxOf(heldUsd, worthUsd) + addedUsd + moving
  if (notionalUsd <= 0n) return BigInt(BPS_ONE)
  const factor = minCollateralFactor(view, change.tierUsd ?? sizeUsd)
  const leftUsd = marginUsd - mulDivUp(sizeUsd, factor, ONE_USD)
  return (leftUsd * BigInt(BPS_ONE)) / notionalUsd
}

/** LIQUIDATION_TOO_NEAR: after the change, or as it stands, the position is nearer than `minLiquidationDistanceBps`. */
export function checkLiquidation(
  change: LiquidationChange,
  view: MarketView,
  { minLiquidationDistanceBps: least }: Limits,
): Denial | undefined {
  if (least === undefined) return undefined
  const afterBps = distanceAfterBps(change, view)
  const { position } = change
  const nowBps = position === undefined ? undefined : liquidationDistanceBps(position)
  const isNearNow = nowBps !== undefined && nowBps < least
  if (afterBps >= BigInt(least) && !isNearNow) return undefined
  return {
    code: 'LIQUIDATION_TOO_NEAR',
    reason: isNearNow
      ? 'The position is nearer to its liquidation than allowed; reduce it or add collateral.'
      : 'The position would be nearer to its liquidation than allowed; use less size or more collateral.',
    wanted: `${isNearNow ? nowBps : afterBps} bps from the price`,
    allowed: `at least ${least} bps`,
  }
}

/** An increase before it is cut to its size. */
export interface PlannedIncrease {
  /** The position that it adds to; absent when there is none. */
  readonly position: Position | undefined
  readonly direction: Direction
  readonly wantedUsd: Usd
  /** Leverage of the increase alone, 10000 = 1x. */
  readonly leverageBps: number
  /** The venue's fee for the trade, bps of its size: it is no longer margin. */
  readonly feeBps: number
  readonly isStable: boolean
}

/**
 * LIQUIDATION_TOO_NEAR for an increase. The position as it stands and the increase for itself must each keep the distance:
 * then both together do, whatever size the increase is cut to, and more room never makes a refusal.
 */
export function checkIncrease(
  { position, direction, wantedUsd, leverageBps, feeBps, isStable }: PlannedIncrease,
  view: MarketView,
  limits: Limits,
): Denial | undefined {
  const tierUsd = wantedUsd + (position?.sizeInUsd ?? 0n)
  const unit = { direction, isStable, tierUsd }
  const held =
    position === undefined || position.sizeInUsd <= 0n
      ? undefined
      : checkLiquidation({ ...unit, position, addedUsd: 0n, addedMarginUsd: 0n }, view, limits)
  if (held !== undefined) return held
  const marginUsd = mulDiv(ONE_USD, BigInt(BPS_ONE), BigInt(leverageBps)) - bps(ONE_USD, feeBps)
  return checkLiquidation(
    { ...unit, position: undefined, addedUsd: ONE_USD, addedMarginUsd: marginUsd },
    view,
    limits,
  )
}

/** The venue's least margin as a fraction of the size, 30 decimals: of the size's own tier, else of the highest leverage; 0 where neither is listed. */
export function minCollateralFactor({ market }: MarketView, sizeUsd: Usd): bigint {
  const fitting = (market.leverageTiers ?? []).filter(
    ({ maxPositionSizeUsd }) => maxPositionSizeUsd === undefined || sizeUsd <= maxPositionSizeUsd,
  )
  // The least demanding of the tiers that fit the size, which is the smallest of them.
  const factors = fitting.map((tier) => tier.minCollateralFactor)
  if (factors.length > 0) return minOf(factors[0] ?? 0n, ...factors.slice(1))
  const maxLeverageBps = market.maxLeverageBps ?? 0
  return maxLeverageBps > 0 ? mulDivUp(ONE_USD, BigInt(BPS_ONE), BigInt(maxLeverageBps)) : 0n
}
