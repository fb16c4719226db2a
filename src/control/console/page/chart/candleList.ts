/** The candles of a chart: pages of them put together, with the newest mark in the last one. Pure. */
import type { Candles } from '../pageWire.ts'
import { spanText, zonedText } from '../shownTimes.ts'
import { chartTexts as words } from './chartTexts.ts'

/** A candle of the wire. Prices are USD. */
export type Candle = Candles['candles'][number]

/** Most candles of a chart. */
export const mostCandles = 5_000

/** Intervals of a chart, shortest first. */
export const periods = ['1m', '5m', '15m', '1h', '4h', '1d'] as const

/** Lengths of the intervals, seconds. */
export const periodSeconds: Readonly<Record<Candles['period'], number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
}

/** Candles with others that came, oldest first, each time once as it came last; the newest that a chart takes. */
export function withCandles(known: readonly Candle[], came: readonly Candle[]): readonly Candle[] {
  const [first, last] = [came[0], came.at(-1)]
  if (first === undefined || last === undefined) return known
  const before = known.filter(({ timestampSeconds }) => timestampSeconds < first.timestampSeconds)
  const after = known.filter(({ timestampSeconds }) => timestampSeconds > last.timestampSeconds)
  return [...before, ...came, ...after].slice(-mostCandles)
}

/** A price that was heard. */
export interface Mark {
  /** USD. */
  readonly price: number
  /** Unix seconds. */
  readonly atSeconds: number
}

/**
 * The candle that runs, with a mark in it; undefined where the newest candle is not that of the mark's time or the one before it: then the chart is old,
 * and no mark makes it look new.
 */
export function runningCandle(
  newest: Candle | undefined,
  { price, atSeconds }: Mark,
  period: Candles['period'],
): Candle | undefined {
  if (newest === undefined) return undefined
  const step = periodSeconds[period]
  const age = atSeconds - newest.timestampSeconds
  if (age < 0 || age >= 2 * step) return undefined
  if (age < step)
    return {
      ...newest,
      close: price,
      high: Math.max(newest.high, price),
      low: Math.min(newest.low, price),
    }
  const timestampSeconds = newest.timestampSeconds + step
  return { timestampSeconds, open: price, high: price, low: price, close: price }
}

/** A reading is older than this only where newer ones failed: it is made every 15 s, of what the daemon read up to 10 s before. */
const oldReadingMs = 45_000
/**
 * Longest delay between the end of a candle and the venue's report of it, ms. It is not known whether the venue reports the candle that is not over
 * yet.
 */
const lateCandleMs = 300_000

/** Says in a sentence how old the prices of a chart are; undefined while they are current. `nowMs`: the daemon's clock, Unix ms. */
export function oldPricesText({ candles, period, readAtMs }: Candles, nowMs: number): string | undefined {
  if (nowMs - readAtMs > oldReadingMs) return words.readAgo(spanText(nowMs - readAtMs))
  const newest = candles.at(-1)
  if (newest === undefined) return undefined
  const stepMs = periodSeconds[period] * 1_000
  const endMs = newest.timestampSeconds * 1_000 + stepMs
  return nowMs - endMs > stepMs + lateCandleMs
    ? words.newestOf(zonedText(endMs), spanText(nowMs - endMs))
    : undefined
}
