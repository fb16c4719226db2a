/**
 * Figures of candles that need no package, for signals only: they are plain numbers and never become an amount or a price of an order. Apart
 * from the other indicators, whose package has 176 modules: most kinds need none of them.
 */
import { type Candle, type CandlePeriod, periodSeconds } from '../protocol/market.ts'

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
