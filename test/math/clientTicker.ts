/** Ticker values of a market as the official client shows them, rates per hour (the client's `getMarketsInfo`). */
import { legacyAvailableLiquidity } from '../../src/paper/math/capacity.ts'
import { BPS } from '../../src/paper/math/client/acceptablePrice.ts'
import { fundingFactorPerPeriod } from '../../src/paper/math/client/clientFees.ts'
import { usdAtMiddle } from '../../src/paper/math/client/clientImpact.ts'
import {
  interestInTokens,
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  poolAmount,
  type Side,
} from '../../src/paper/math/marketState.ts'

/** Rates per second that a ticker starts from, 30 decimals. */
export interface TickerRates {
  readonly fundingFactorPerSecond: bigint
  readonly longsPayShorts: boolean
  readonly borrowing: { readonly [side in Side]: bigint }
}

/** Open, high, low and close of the last 24 hours, API prices. */
export interface DayPrices {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

const HOUR = 3600n

/** Values of a ticker; prices in API form by `indexScale` = 10^decimals of the index token. */
export function tickerValues(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  rates: TickerRates,
  day: DayPrices,
  indexScale: bigint,
) {
  const funding = (side: Side): bigint =>
    fundingFactorPerPeriod(
      settings,
      state,
      prices,
      { factorPerSecond: rates.fundingFactorPerSecond, longsPayShorts: rates.longsPayShorts },
      side,
      HOUR,
    )
  const tokens = {
    long: interestInTokens(settings, state, 'long'),
    short: interestInTokens(settings, state, 'short'),
  }
  const fundingRateLong = funding('long')
  const fundingRateShort = funding('short')
  const borrowingRateLong = rates.borrowing.long * HOUR
  const borrowingRateShort = rates.borrowing.short * HOUR
  const change = day.close - day.open
  return {
    minPrice: prices.index.min * indexScale,
    maxPrice: prices.index.max * indexScale,
    markPrice: ((prices.index.min + prices.index.max) * indexScale) / 2n,
    high24h: day.high,
    low24h: day.low,
    open24h: day.open,
    close24h: day.close,
    priceChange24h: change,
    priceChangePercent24hBps: day.open === 0n ? 0n : (change * BPS) / day.open,
    longInterestInTokens: tokens.long,
    shortInterestInTokens: tokens.short,
    longInterestUsd: interestUsd(settings, state, 'long'),
    shortInterestUsd: interestUsd(settings, state, 'short'),
    longInterestUsdMark: usdAtMiddle(tokens.long, prices.index),
    shortInterestUsdMark: usdAtMiddle(tokens.short, prices.index),
    availableLiquidityLong: legacyAvailableLiquidity(settings, state, 'long', prices),
    availableLiquidityShort: legacyAvailableLiquidity(settings, state, 'short', prices),
    poolAmountLongUsd: usdAtMiddle(poolAmount(settings, state, 'long'), prices.long),
    poolAmountShortUsd: usdAtMiddle(poolAmount(settings, state, 'short'), prices.short),
    fundingRateLong,
    fundingRateShort,
    borrowingRateLong,
    borrowingRateShort,
    netRateLong: fundingRateLong - borrowingRateLong,
    netRateShort: fundingRateShort - borrowingRateShort,
  }
}
