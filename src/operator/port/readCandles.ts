/** The price of a market over the last hours, for a chart: candles of its index token, read on request. */

import type { MonotonicClock } from '../../base/clock.ts'
import type { HasApi } from '../../execution/context/executionParts.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Candle, CandlePeriod } from '../../protocol/market.ts'
import { marketsNamed } from '../../protocol/marketName.ts'

/** Candles of one market. */
export interface CandleReport {
  readonly symbol: string
  readonly period: CandlePeriod
  /** Oldest first, `chartCandles` at most. Their prices are USD as numbers: for a picture, never for an amount. */
  readonly candles: readonly Candle[]
  /** Time of the reading, Unix ms. */
  readonly readAtMs: number
}

/** Candles of a chart. */
export const chartCandles = 200
/** For how long a reading serves everybody who asks, ms. */
const keptMs = 10_000
/** Most readings that are kept. */
const mostKept = 32

/** Reads candles. */
export interface CandleReads {
  /** Undefined: no market has this symbol or this token, or the oracle does not price it. Throws what the api throws. */
  candles(market: string, period: CandlePeriod): Promise<CandleReport | undefined>
}

/** Over the api. However many pages look, a market is read once in ten seconds. */
export function createCandleReads({ api, clock }: HasApi & { readonly clock: MonotonicClock }): CandleReads {
  const kept = new Map<
    string,
    { readonly atMs: number; readonly report: Promise<CandleReport | undefined> }
  >()

  async function readAnew(name: string, period: CandlePeriod): Promise<CandleReport | undefined> {
    const [markets, tokens] = await Promise.all([api.getMarkets(), api.getOracleTokens()])
    const [market, another] = marketsNamed(
      markets.value.filter(({ isSpotOnly }) => !isSpotOnly),
      name,
    )
    if (market === undefined) return undefined
    // Two markets of one pair have one price.
    if (another !== undefined && hexKey(another.indexToken) !== hexKey(market.indexToken)) return undefined
    const token = tokens.value.find(({ address }) => hexKey(address) === hexKey(market.indexToken))
    if (token === undefined) return undefined
    const read = await api.getCandles({ tokenSymbol: token.symbol, period, limit: chartCandles })
    const candles = read.value
      .toSorted((one, other) => one.timestampSeconds - other.timestampSeconds)
      .slice(-chartCandles)
    return { symbol: market.symbol, period, candles, readAtMs: read.readAtMs }
  }

  return {
    candles(market, period) {
      const key = `${period} ${market.trim().toLowerCase()}`
      const nowMs = clock.monotonicMs()
      const known = kept.get(key)
      if (known !== undefined && nowMs - known.atMs < keptMs) return known.report
      const report = readAnew(market, period)
      kept.delete(key)
      kept.set(key, { atMs: nowMs, report })
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
      // A fault serves nobody who asks later.
      report.catch(() => kept.delete(key))
      return report
    },
  }
}
