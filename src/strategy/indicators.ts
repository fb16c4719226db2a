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
import type { Candle, CandlePeriod } from '../protocol/market.ts'

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

/** Seconds of each candle period. */
const periodSeconds: Readonly<Record<CandlePeriod, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
}

/** Length of a candle period, seconds. */
export function secondsOfPeriod(period: CandlePeriod): number {
  return periodSeconds[period]
}

/** The candles whose period is over at `nowMs` (Unix ms): the running one repaints and is left out. */
export function closedCandles(
  candles: readonly Candle[],
  period: CandlePeriod,
  nowMs: number,
): readonly Candle[] {
  return candles.filter((candle) => (candle.timestampSeconds + periodSeconds[period]) * 1000 <= nowMs)
}

/** Simple moving average of the last `length` closes. */
export function sma(candles: readonly Candle[], length: number): number | undefined {
  return last(new SMA(length), closesOf(candles), length)
}

/** Exponential moving average of the closes, seeded by the first of them. */
export function ema(candles: readonly Candle[], length: number): number | undefined {
  const [first] = candles
  if (first === undefined || candles.length < length) return undefined
  // As the library adds them up, to the last digit, in its own loop: kinds ask for it over hundreds of candles at each turn.
  const weight = 2 / (length + 1)
  const rest = 1 - weight
  let average = first.close
  for (const { close } of candles) average = close * weight + average * rest
  return average
}

/** Average true range over `length` candles (Wilder), in the price's unit. */
export function atr(candles: readonly Candle[], length: number): number | undefined {
  if (candles.length < length || length < 1) return undefined
  const factor = 1 / length
  let [before, sum, average]: [number | undefined, number, number] = [undefined, 0, 0]
  let at = 0
  for (const { high, low, close } of candles) {
    const range =
      before === undefined
        ? high - low
        : Math.max(high - low, Math.abs(high - before), Math.abs(low - before))
    before = close
    if (at < length) {
      sum += range
      average = sum / length
    } else average = (range - average) * factor + average
    at += 1
  }
  return average
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
