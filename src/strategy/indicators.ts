/**
 * Indicators over candles, for signals only: they are plain numbers and never become an amount or a price of an order.
 * Each gives the value at the last candle, or undefined when there are too few candles to say.
 */
import { ATR, EMA, SMA } from 'trading-signals'
import type { Candle, CandlePeriod } from '../domain/market.ts'

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
  return last(
    new SMA(length),
    candles.map((candle) => candle.close),
    length,
  )
}

/** Exponential moving average of the closes, seeded by the first of them. */
export function ema(candles: readonly Candle[], length: number): number | undefined {
  return last(
    new EMA(length),
    candles.map((candle) => candle.close),
    length,
  )
}

/** Average true range over `length` candles (Wilder), in the price's unit. */
export function atr(candles: readonly Candle[], length: number): number | undefined {
  return last(new ATR(length), candles, length)
}

/** How many standard deviations the last close is from the mean of the last `length` closes; 0 when all are equal. */
export function zScore(candles: readonly Candle[], length: number): number | undefined {
  const window = lastOf(candles, length)
  const newest = window?.at(-1)
  if (window === undefined || newest === undefined) return undefined
  const mean = window.reduce((sum, candle) => sum + candle.close, 0) / length
  const variance = window.reduce((sum, candle) => sum + (candle.close - mean) ** 2, 0) / length
  return variance === 0 ? 0 : (newest.close - mean) / Math.sqrt(variance)
}

/** The highest high of the last `length` candles. */
export function highest(candles: readonly Candle[], length: number): number | undefined {
  const window = lastOf(candles, length)
  return window && Math.max(...window.map((candle) => candle.high))
}

/** The lowest low of the last `length` candles. */
export function lowest(candles: readonly Candle[], length: number): number | undefined {
  const window = lastOf(candles, length)
  return window && Math.min(...window.map((candle) => candle.low))
}

function lastOf(candles: readonly Candle[], length: number): readonly Candle[] | undefined {
  return length > 0 && candles.length >= length ? candles.slice(-length) : undefined
}

function last<Input>(
  indicator: { add(input: Input): number | null; readonly isStable: boolean; getResult(): number | null },
  inputs: readonly Input[],
  length: number,
): number | undefined {
  if (inputs.length < length) return undefined
  for (const input of inputs) indicator.add(input)
  return indicator.isStable ? (indicator.getResult() ?? undefined) : undefined
}
