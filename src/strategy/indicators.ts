/**
 * Indicators over candles, for signals only: they are plain numbers and never become an amount or a price of an order.
 * Each gives the value at the last candle, or undefined when there are too few candles to say.
 */
import {
  ADX,
  BollingerBands,
  DonchianChannels,
  EMA,
  getZScore,
  MACD,
  ROC,
  RSI,
  SMA,
  StochasticOscillator,
} from 'trading-signals'
import type { Candle } from '../protocol/market.ts'

// biome-ignore lint/performance/noBarrelFile: the one door that a kind of the user's own imports (#indicators)
export {
  ADX,
  ATR,
  BollingerBands,
  CCI,
  DEMA,
  DonchianChannels,
  EMA,
  MACD,
  ROC,
  RSI,
  SMA,
  StochasticOscillator,
  StochasticRSI,
  WMA,
} from 'trading-signals'
export { atr, closedCandles, ema, secondsOfPeriod } from './closedCandles.ts'

/** Simple moving average of the last `length` closes. */
export function sma(candles: readonly Candle[], length: number): number | undefined {
  return last(new SMA(length), closesOf(candles), length)
}

/** Relative strength index of the closes (Wilder), 0 to 100. */
export function rsi(candles: readonly Candle[], length: number): number | undefined {
  return last(new RSI(length), closesOf(candles), length)
}

/** Average directional index (Wilder): strength of a trend of either direction, 0 to 100. Needs about twice `length` candles. */
export function adx(candles: readonly Candle[], length: number): number | undefined {
  return last(new ADX(length), candles, length)
}

/** Moving average convergence divergence of the closes, in the price's unit: usually of 12, 26 and 9. */
export function macd(
  candles: readonly Candle[],
  lengths: { readonly fast: number; readonly slow: number; readonly signal: number },
): { readonly macd: number; readonly signal: number; readonly histogram: number } | undefined {
  const { fast, slow, signal } = lengths
  const found = last(
    new MACD(new EMA(fast), new EMA(slow), new EMA(signal)),
    closesOf(candles),
    slow + signal - 1,
  )
  return found && { macd: found.macd, signal: found.signal, histogram: found.histogram }
}

/** Bollinger bands: the average of the last `length` closes, and `deviations` standard deviations above and below it. */
export function bollinger(
  candles: readonly Candle[],
  length: number,
  deviations = 2,
): { readonly lower: number; readonly middle: number; readonly upper: number } | undefined {
  const found = last(new BollingerBands(length, deviations), closesOf(candles), length)
  return found && { lower: found.lower, middle: found.middle, upper: found.upper }
}

/** Stochastic oscillator of the candles, 0 to 100: usually of 14, 3 and 3. */
export function stochastic(
  candles: readonly Candle[],
  lengths: { readonly k: number; readonly slowing: number; readonly d: number },
): { readonly k: number; readonly d: number } | undefined {
  const { k, slowing, d } = lengths
  const indicator = new StochasticOscillator({ kPeriod: k, kSlowingPeriod: slowing, dPeriod: d })
  const found = last(indicator, candles, k + slowing + d - 2)
  return found && { k: found.stochK, d: found.stochD }
}

/** Returns the distance of the last close from the mean of the last `length` closes, in standard deviations; 0 when all are equal. */
export function zScore(candles: readonly Candle[], length: number): number | undefined {
  const closes = closesOf(lastOf(candles, length) ?? [])
  if (closes.length === 0) return undefined
  // A window without variance has no z-score, and by rounding the mean of equal decimals may differ from them.
  return new Set(closes).size === 1 ? 0 : getZScore(closes)
}

/** The channel of the last `length` candles (Donchian): their highest high, their lowest low and the middle of both. */
export function donchian(
  candles: readonly Candle[],
  length: number,
): { readonly lower: number; readonly middle: number; readonly upper: number } | undefined {
  return last(new DonchianChannels(length), lastOf(candles, length) ?? [], Math.max(1, length))
}

/** The highest high of the last `length` candles. */
export function highest(candles: readonly Candle[], length: number): number | undefined {
  return donchian(candles, length)?.upper
}

/** The lowest low of the last `length` candles. */
export function lowest(candles: readonly Candle[], length: number): number | undefined {
  return donchian(candles, length)?.lower
}

/** Returns the rate of change: the gain of the last close on the one `length` candles before it, as a part of that: 0.01 is 1 %. */
export function roc(candles: readonly Candle[], length: number): number | undefined {
  return last(new ROC(length), closesOf(lastOf(candles, length + 1) ?? []), length + 1)
}

function lastOf(candles: readonly Candle[], length: number): readonly Candle[] | undefined {
  return length > 0 && candles.length >= length ? candles.slice(-length) : undefined
}

function closesOf(candles: readonly Candle[]): number[] {
  return candles.map(({ close }) => close)
}

function last<Input, Result>(
  indicator: { add(input: Input): unknown; readonly isStable: boolean; getResult(): Result | null },
  inputs: readonly Input[],
  length: number,
): Result | undefined {
  if (inputs.length < length) return undefined
  for (const input of inputs) indicator.add(input)
  return indicator.isStable ? (indicator.getResult() ?? undefined) : undefined
}
