/** Borrowing: the rate by usage of the pool, and its accrual (contract `MarketUtils`, `getNextBorrowingFees`). */
import { fac, ONE, pow30 } from './integer.ts'
import {
  balanceInterest,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  otherSide,
  poolUsd,
  reservedUsd,
  type Side,
} from './marketState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Borrowing factor per second of a side, 30 decimals. Throws ProtocolRevert when the pool is empty. */
export function borrowingFactorPerSecond(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  const followed = state.followedRates?.borrowingFactorPerSecond
  if (followed !== undefined) return followed[side]
  const reserved = reservedUsd(settings, state, side, prices)
  if (reserved === 0n) return 0n
  if (
    settings.skipBorrowingFeeForSmallerSide &&
    balanceInterest(settings, state, side, prices) < balanceInterest(settings, state, otherSide(side), prices)
  ) {
    return 0n
  }
  const pool = poolUsd(settings, state, side, prices)
  if (pool === 0n) throw new ProtocolRevert('UnableToGetBorrowingFactorEmptyPoolUsd')
  const optimal = settings.optimalUsageFactor[side]
  if (optimal === 0n) {
    const power = (pow30(reserved, settings.borrowingExponentFactor[side]) * ONE) / pool
    return fac(power, settings.borrowingFactor[side])
  }
  const usage = (reserved * ONE) / fac(pool, settings.openInterestReserveFactor[side])
  const base = settings.baseBorrowingFactor[side]
  let rate = fac(usage, base)
  if (usage > optimal && optimal < ONE) {
    const extra = settings.aboveOptimalUsageBorrowingFactor[side] - base
    if (extra > 0n) rate += (extra * (usage - optimal)) / (ONE - optimal)
  }
  return rate
}

/** Advances the cumulative borrowing factors of both sides to `nowSeconds`. Mutates the draft. */
export function accrueBorrowing(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  nowSeconds: number,
): void {
  const dt = state.borrowingUpdatedAtSeconds === 0 ? 0 : nowSeconds - state.borrowingUpdatedAtSeconds
  const seconds = BigInt(Math.max(0, dt))
  if (seconds > 0n) {
    const rates = [
      borrowingFactorPerSecond(settings, state, 'long', prices),
      borrowingFactorPerSecond(settings, state, 'short', prices),
    ] as const
    state.long.cumulativeBorrowingFactor += rates[0] * seconds
    state.short.cumulativeBorrowingFactor += rates[1] * seconds
  }
  state.borrowingUpdatedAtSeconds = nowSeconds
}
