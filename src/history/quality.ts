/** The quality of candles: where some are missing, where the price stands still, and where one leaves its neighbours. Nothing is corrected. Pure. */
import { type CandlePeriod, periodSeconds } from '../protocol/market.ts'
import type { CandleColumns } from './columns.ts'
import { gapsIn, type TimeRange } from './gaps.ts'

/** A candle that moved far more than its series does. */
export interface Outlier {
  readonly atSeconds: number
  /** The largest of the moves from the close before to the candle's prices, basis points. */
  readonly moveBps: number
}

/** The quality of a series, from its first to its last candle. */
export interface SeriesQuality {
  readonly gaps: readonly TimeRange[]
  /** Ranges in which all prices are one price: a source that stood still, or a market that was closed. */
  readonly flat: readonly TimeRange[]
  readonly outliers: readonly Outlier[]
}

/** Candles in a row without a move from which they are a range that stands still. */
const LEAST_FLAT = 10
/** An outlier moves so many times as far as the median candle, and a whole percent at least. */
const OUTLIER_TIMES = 30
const OUTLIER_LEAST_BPS = 100
const BPS = 10_000

/** Looks through a series. */
export function qualityOf(columns: CandleColumns, period: CandlePeriod): SeriesQuality {
  const { startSeconds, length } = columns
  const lengthSeconds = periodSeconds[period]
  const first = startSeconds[0] ?? 0
  const end = (startSeconds[length - 1] ?? 0) + lengthSeconds
  return {
    gaps: length === 0 ? [] : gapsIn(startSeconds, lengthSeconds, { fromSeconds: first, toSeconds: end }),
    flat: flatRanges(columns, lengthSeconds),
    outliers: outliersOf(columns),
  }
}

function flatRanges({ startSeconds, high, low, length }: CandleColumns, lengthSeconds: number): TimeRange[] {
  const ranges: TimeRange[] = []
  let begin = 0
  const isFlat = (at: number): boolean => high[at] === low[at]
  const continues = (at: number): boolean =>
    at < length &&
    isFlat(at) &&
    high[at] === high[at - 1] &&
    (startSeconds[at] ?? 0) - (startSeconds[at - 1] ?? 0) === lengthSeconds
  while (begin < length) {
    let end = begin + 1
    if (isFlat(begin)) while (continues(end)) end += 1
    if (isFlat(begin) && end - begin >= LEAST_FLAT) {
      const toSeconds = (startSeconds[end - 1] ?? 0) + lengthSeconds
      ranges.push({ fromSeconds: startSeconds[begin] ?? 0, toSeconds })
    }
    begin = end
  }
  return ranges
}

function outliersOf({ startSeconds, high, low, close, length }: CandleColumns): readonly Outlier[] {
  const moves = new Float64Array(Math.max(0, length - 1))
  for (let at = 1; at < length; at++) {
    const before = Number(close[at - 1])
    moves[at - 1] = (Math.max(Number(high[at]) - before, before - Number(low[at])) / before) * BPS
  }
  const median = moves.toSorted()[moves.length >> 1] ?? 0
  const limit = Math.max(OUTLIER_LEAST_BPS, OUTLIER_TIMES * median)
  const outliers: Outlier[] = []
  for (const [at, moveBps] of moves.entries())
    if (moveBps > limit) outliers.push({ atSeconds: startSeconds[at + 1] ?? 0, moveBps: Math.round(moveBps) })
  return outliers
}
