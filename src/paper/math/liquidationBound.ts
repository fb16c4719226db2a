/**
 * A cheap answer to whether a position can become liquidatable within a span of time and prices while nobody trades: each part of
 * `checkLiquidation` is replaced by the worst that it can be. No power is taken, so that this costs a fraction of the check itself.
 */
import { borrowingFactorPerSecond } from './borrowing.ts'
import { FUNDING_PRECISION } from './funding.ts'
import { ceilDiv, fac, max, ONE } from './integer.ts'
import {
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  poolUsd,
  type Slot,
  slotPrice,
} from './marketState.ts'
import type { PositionState } from './positionState.ts'

/** Lowest and highest pair of each of a market's tokens within a span. */
export interface PriceBounds {
  readonly low: MarketPrices
  readonly high: MarketPrices
}

/** The power function may be off by its last digits from a rising one: what is derived from it is made a millionth larger. */
const SLACK = 1_000_000n

/**
 * Tells whether `checkLiquidation` (for a liquidation) certainly finds nothing up to `untilSeconds`. It covers every second and any prices within the
 * bounds, as long as the market's state and the position do not change. False says nothing: then the check itself must run.
 */
export function cannotBeLiquidated(
  settings: MarketSettings,
  state: MarketState,
  position: PositionState,
  { low, high }: PriceBounds,
  untilSeconds: number,
): boolean {
  const { side, slot, sizeInUsd, sizeInTokens } = position
  const borrowing = highestBorrowingFactor(settings, state, position, { low, high }, untilSeconds)
  if (borrowing === undefined) return false
  const fundingAmount = ceilDiv(
    sizeInUsd *
      max(
        0n,
        highestFundingPerSize(settings, state, position, low, untilSeconds) -
          position.fundingFeeAmountPerSize,
      ),
    FUNDING_PRECISION,
  )
  const collateral = position.collateralAmount - fundingAmount
  if (collateral <= 0n) return false
  const pnl =
    side === 'long' ? sizeInTokens * low.index.min - sizeInUsd : sizeInUsd - sizeInTokens * high.index.max
  const fee = max(
    settings.positionFeeFactorForBalanceWasImproved,
    settings.positionFeeFactorForBalanceWasNotImproved,
  )
  const remaining =
    collateral * slotPrice(low, slot).min +
    (pnl < 0n ? pnl : 0n) -
    fac(sizeInUsd, settings.maxPositionImpactFactorForLiquidations) -
    fac(sizeInUsd, fee) -
    fac(sizeInUsd, max(0n, borrowing - position.borrowingFactor))
  return (
    remaining > 0n &&
    remaining >= settings.minCollateralUsd &&
    remaining >= fac(sizeInUsd, settings.minCollateralFactorForLiquidation)
  )
}

/** The most that the cumulative borrowing factor of the side can be; undefined where the pool may be worth nothing. */
function highestBorrowingFactor(
  settings: MarketSettings,
  state: MarketState,
  { side }: PositionState,
  { low, high }: PriceBounds,
  untilSeconds: number,
): bigint | undefined {
  const seconds = secondsSince(state.borrowingUpdatedAtSeconds, untilSeconds)
  const { cumulativeBorrowingFactor } = state[side]
  if (seconds === 0n) return cumulativeBorrowingFactor
  // The reserved amount grows with the index price, and a pool shrinks with the prices of its tokens; the smaller side needs no price.
  const worst = { index: high.index, long: low.long, short: low.short }
  if (fac(poolUsd(settings, state, side, worst), settings.openInterestReserveFactor[side]) <= 0n)
    return undefined
  const rate = borrowingFactorPerSecond(settings, state, side, worst)
  return cumulativeBorrowingFactor + (rate + rate / SLACK + 1n) * seconds
}

/** The most that the funding fee per size of the position's side and collateral can be: the highest rate, all the time. */
function highestFundingPerSize(
  settings: MarketSettings,
  state: MarketState,
  { side, slot }: PositionState,
  low: MarketPrices,
  untilSeconds: number,
): bigint {
  const stored: Slot = settings.isSameCollaterals ? 0 : slot
  const now = state[side].fundingFeePerSize[stored]
  if (interestUsd(settings, state, 'long') === 0n || interestUsd(settings, state, 'short') === 0n) return now
  const seconds = secondsSince(state.fundingUpdatedAtSeconds, untilSeconds)
  const perSize = seconds * settings.maxFundingFactorPerSecond[side] * (FUNDING_PRECISION / ONE)
  // Both halves of a single-token market round up, twice each.
  return now + perSize / slotPrice(low, slot).max + 5n
}

function secondsSince(updatedAtSeconds: number, untilSeconds: number): bigint {
  return updatedAtSeconds === 0 ? 0n : BigInt(Math.max(0, untilSeconds - updatedAtSeconds))
}
