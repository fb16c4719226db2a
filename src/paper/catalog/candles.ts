/** Candles built from the same path as the tickers: a coarse candle is exactly the union of the finer ones. */
import { type CandlePeriod, periodSeconds } from '../../protocol/market.ts'
import type { Prices } from './prices.ts'

/** One candle in contract prices. */
export interface PathCandle {
  readonly timestampSeconds: number
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Candles of tokens, cached once a period has passed. */
export interface Candles {
  /** The candle that starts at `startSeconds`, up to `nowSeconds` when it is still running. */
  candle(
    tokenKey: string,
    period: CandlePeriod,
    startSeconds: number,
    nowSeconds: number,
  ): PathCandle | undefined
  /** At most `limit` candles, newest (the running one) first, each made when it is asked for. */
  newest(tokenKey: string, period: CandlePeriod, limit: number, nowSeconds: number): Iterable<PathCandle>
}

/** From coarse to fine: a running candle is joined from the next finer period unless the path itself is coarser there. */
const finer: Readonly<Record<CandlePeriod, CandlePeriod | undefined>> = {
  '1d': '4h',
  '4h': '1h',
  '1h': '15m',
  '15m': '5m',
  '5m': '1m',
  '1m': undefined,
}

/** Candles over a price source. Finished candles are kept; a path never changes. */
export function createCandles(prices: Prices): Candles {
  const finished = new Map<string, Map<number, PathCandle>>()

  const sampled = (key: string, start: number, end: number): PathCandle | undefined => {
    const range = prices.rangeOf(key, start, end)
    return range === undefined ? undefined : { timestampSeconds: start, ...range }
  }

  const candle = (key: string, period: CandlePeriod, start: number, now: number): PathCandle | undefined => {
    if (start > now) return undefined
    const length = periodSeconds[period]
    const isFinished = start + length <= now
    const cacheKey = `${key}:${period}`
    const cached = finished.get(cacheKey)?.get(start)
    if (cached !== undefined) return cached
    const end = isFinished ? start + length : now + 1
    // The running candle is asked for every second: its finished parts are kept.
    const part = isFinished ? undefined : finer[period]
    let built: PathCandle | undefined
    if (part === undefined || prices.stepAt(start).lengthSeconds >= periodSeconds[part]) {
      built = sampled(key, start, end)
    } else {
      for (let at = start; at < end; at += periodSeconds[part]) {
        const piece = candle(key, part, at, now)
        if (piece === undefined) break
        built =
          built === undefined
            ? { ...piece, timestampSeconds: start }
            : {
                timestampSeconds: start,
                open: built.open,
                high: piece.high > built.high ? piece.high : built.high,
                low: piece.low < built.low ? piece.low : built.low,
                close: piece.close,
              }
      }
    }
    if (built !== undefined && isFinished) {
      let byStart = finished.get(cacheKey)
      if (byStart === undefined) {
        byStart = new Map()
        finished.set(cacheKey, byStart)
      }
      byStart.set(start, built)
    }
    return built
  }

  return {
    candle,
    newest: function* (key, period, limit, now) {
      const length = periodSeconds[period]
      const running = Math.floor(now / length) * length
      for (let i = 0; i < limit; i += 1) {
        const start = running - i * length
        if (start < 0) break
        const row = candle(key, period, start, now)
        if (row === undefined) break
        yield row
      }
    },
  }
}
