/** Available capacity for increases on one side (contract `MarketUtils`, `validateReserve`). */
import { max, min } from './integer.ts'
import {
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  maxReservedUsd,
  poolUsd,
  reservedUsd,
  type Side,
} from './marketState.ts'

/** Trading capacity of one side, USD. */
export interface Capacity {
  readonly availableLiquidity: bigint
  readonly baseAvailableLiquidity: bigint
  readonly jitAvailableLiquidity: bigint
  readonly limitingFactor: 'reserve' | 'openInterest' | 'both' | 'notApplicable'
  /** Capacity under max open interest alone; may be negative. */
  readonly openInterestHeadroom: bigint
}

/** Capacity; `maxReservedUsdWithJit` undefined = no JIT. */
export function tradingCapacity(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
  maxReservedUsdWithJit?: bigint,
): Capacity {
  const openInterestHeadroom = settings.maxOpenInterest[side] - interestUsd(settings, state, side)
  if (settings.isSpotOnly) {
    return {
      availableLiquidity: 0n,
      baseAvailableLiquidity: 0n,
      jitAvailableLiquidity: 0n,
      limitingFactor: 'notApplicable',
      openInterestHeadroom,
    }
  }
  const reserved = reservedUsd(settings, state, side, prices)
  const native = maxReservedUsd(settings, state, side, prices)
  const reserveRoom = max(native, maxReservedUsdWithJit ?? 0n) - reserved
  const baseAvailableLiquidity = max(0n, min(native - reserved, openInterestHeadroom))
  const availableLiquidity = max(0n, min(reserveRoom, openInterestHeadroom))
  return {
    availableLiquidity,
    baseAvailableLiquidity,
    jitAvailableLiquidity: availableLiquidity - baseAvailableLiquidity,
    limitingFactor:
      reserveRoom === openInterestHeadroom
        ? 'both'
        : reserveRoom < openInterestHeadroom
          ? 'reserve'
          : 'openInterest',
    openInterestHeadroom,
  }
}

/** The legacy field of tickers: pool value not backing reserves; can be negative. */
export function legacyAvailableLiquidity(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  const pool = poolUsd(settings, state, side, prices)
  if (settings.isSpotOnly) return pool
  const factor = settings.reserveFactor[side]
  if (factor === 0n) return 0n
  return pool - (reservedUsd(settings, state, side, prices) * 10n ** 30n) / factor
}
