/** Candles of a venue's prices as its oracle serves them, made once each and handed out in windows: a turn costs no more than its newest candle. */
import type { Prices } from '../../paper/catalog/prices.ts'
import { type Candle, type CandlePeriod, periodSeconds } from '../../protocol/market.ts'

/** Windows of candles over one source of prices. */
export interface CandleWindows {
  /** The `limit` newest candles at a Unix second, ascending, the running one last; undefined for a token without a price. */
  at(token: PricedToken, period: CandlePeriod, limit: number, second: number): readonly Candle[] | undefined
}

/** A token whose candles are asked for. */
export interface PricedToken {
  /** The key of its prices. */
  readonly key: string
  readonly decimals: number
}

/** Finished candles of one token and period, without a hole between them. */
interface Series {
  finished: Candle[]
  /** Start of the first of them, Unix seconds. */
  firstSecond: number
  running: Running | undefined
}

/** The running candle as far as it is known. */
interface Running {
  readonly startSecond: number
  /** Not included, Unix seconds. */
  untilSecond: number
  open: bigint
  high: bigint
  low: bigint
  close: bigint
}

/** Finished candles beyond a window that are held before the oldest go. */
const SPARE = 4_096

/** Makes windows; nothing is read before the first is asked for. */
export function createCandleWindows(prices: Prices): CandleWindows {
  const known = new Map<string, Series>()

  return {
    at(token, period, limit, second) {
      const length = periodSeconds[period]
      const runningSecond = Math.floor(second / length) * length
      const fromSecond = runningSecond - (limit - 1) * length
      const name = `${token.key}:${period}`
      let series = known.get(name)
      if (series === undefined || fromSecond < series.firstSecond) {
        series = { finished: [], firstSecond: fromSecond, running: undefined }
        known.set(name, series)
      }
      const { finished } = series
      for (;;) {
        const start = series.firstSecond + finished.length * length
        if (start >= runningSecond) break
        const made = candleOf(prices, token, start, start + length)
        if (made === undefined) return undefined
        finished.push(made)
      }
      const from = (fromSecond - series.firstSecond) / length
      const window = finished.slice(from, from + limit - 1)
      const running = runningOf(prices, token, series, runningSecond, second)
      if (running === undefined) return undefined
      window.push(running)
      if (from > SPARE) {
        series.finished = finished.slice(from)
        series.firstSecond = fromSecond
      }
      return window
    },
  }
}

/** A contract price as the number that the oracle's candles carry. */
function numberOf(contractPrice: bigint, decimals: number): number {
  return Number(contractPrice) / 10 ** (30 - decimals)
}

function candleOf(
  prices: Prices,
  { key, decimals }: PricedToken,
  fromSecond: number,
  toSecond: number,
): Candle | undefined {
  const range = prices.rangeOf(key, fromSecond, toSecond)
  if (range === undefined) return undefined
  return {
    timestampSeconds: fromSecond,
    open: numberOf(range.open, decimals),
    high: numberOf(range.high, decimals),
    low: numberOf(range.low, decimals),
    close: numberOf(range.close, decimals),
  }
}

/** The running candle up to a second, that second included; it grows by what is new of it. */
function runningOf(
  prices: Prices,
  { key, decimals }: PricedToken,
  series: Series,
  startSecond: number,
  second: number,
): Candle | undefined {
  const before = series.running
  const isSame = before?.startSecond === startSecond && before.untilSecond <= second + 1
  const fromSecond = isSame ? before.untilSecond : startSecond
  if (!isSame || fromSecond <= second) {
    const range = prices.rangeOf(key, fromSecond, second + 1)
    if (range === undefined) return undefined
    const untilSecond = second + 1
    if (!isSame) series.running = { startSecond, untilSecond, ...range }
    else {
      before.untilSecond = untilSecond
      if (range.high > before.high) before.high = range.high
      if (range.low < before.low) before.low = range.low
      before.close = range.close
    }
  }
  const running = series.running
  if (running === undefined) return undefined
  return {
    timestampSeconds: startSecond,
    open: numberOf(running.open, decimals),
    high: numberOf(running.high, decimals),
    low: numberOf(running.low, decimals),
    close: numberOf(running.close, decimals),
  }
}
