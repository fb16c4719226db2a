/** The price of a market over the last hours, for a chart: candles of its index token, read on request. */

import type { Clocks } from '../../base/clock.ts'
import type { DecidedLine, DecidedLines } from '../../engine/decidedPrices.ts'
import type { HasApi } from '../../execution/context/executionParts.ts'
import { hexKey } from '../../protocol/address.ts'
import { type Candle, type CandlePeriod, periodSeconds } from '../../protocol/market.ts'
import { marketsNamed } from '../../protocol/marketName.ts'

/** Candles of one market. */
export interface CandleReport {
  readonly symbol: string
  readonly period: CandlePeriod
  /** Oldest first. Their prices are USD as numbers: for a picture, never for an amount. */
  readonly candles: readonly Candle[]
  /** Prices that strategies named on this market since they began to run or their file changed, as lines over these candles; by strategy. */
  readonly indicators: readonly IndicatorLine[]
  /** Time of the reading, Unix ms. */
  readonly readAtMs: number
}

/** A price over time that a strategy decides by. */
export interface IndicatorLine extends DecidedLine {
  readonly strategy: string
}

/** A running strategy with the prices that it named. */
export interface NamesPrices {
  status(): { readonly name: string }
  readonly decidedPrices: DecidedLines
}

/** Part of a market's candles. */
export interface CandlePart {
  /** Most candles, 1 to `mostCandles`; absent: `chartCandles`. */
  readonly limit?: number
  /** Unix seconds: the newest candle begins before then; absent: the newest of all. */
  readonly beforeSeconds?: number
}

/** Candles of a chart at first. */
export const chartCandles = 200
/** Most candles of a chart, from the newest one back: none before them is read. */
export const mostCandles = 5_000
/** For how long a reading serves everybody who asks, ms. */
const keptMs = 10_000
/** Most readings that are kept, and most candles in them together. */
const [mostKept, mostKeptCandles] = [32, 40_000]

/** Reads candles. */
export interface CandleReads {
  /** Undefined: no market has this symbol or this token, or the oracle does not price it. Throws what the api throws. */
  candles(market: string, period: CandlePeriod, part?: CandlePart): Promise<CandleReport | undefined>
}

/** One reading of the newest candles. */
interface Reading {
  readonly atMs: number
  /** Candles asked for. */
  readonly count: number
  readonly report: Promise<BareReport | undefined>
}

/** Candles without what strategies named. */
type BareReport = Omit<CandleReport, 'indicators'>

/** Most lines of a market in one report, of the strategies that began first. */
const mostLines = 64

/** Over the api. However many pages look, the newest candles of a market are read once in ten seconds. */
export function createCandleReads(
  { api, clock }: HasApi & { readonly clock: Clocks },
  instances: { all(): readonly NamesPrices[] },
): CandleReads {
  const kept = new Map<string, Reading>()

  async function readAnew(
    name: string,
    period: CandlePeriod,
    limit: number,
  ): Promise<BareReport | undefined> {
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
    const read = await api.getCandles({ tokenSymbol: token.symbol, period, limit })
    const candles = read.value
      .toSorted((one, other) => one.timestampSeconds - other.timestampSeconds)
      .slice(-limit)
    return { symbol: market.symbol, period, candles, readAtMs: read.readAtMs }
  }

  /** The oldest readings go until the rest is within both bounds. */
  function bound(): void {
    let candles = [...kept.values()].reduce((sum, { count }) => sum + count, 0)
    for (const [key, { count }] of kept) {
      if (kept.size <= mostKept && candles <= mostKeptCandles) return
      kept.delete(key)
      candles -= count
    }
  }

  function linesOn(market: string, period: CandlePeriod): readonly IndicatorLine[] {
    return instances
      .all()
      .flatMap(({ status, decidedPrices }) =>
        decidedPrices.lines(market, period).map((line) => ({ strategy: status().name, ...line })),
      )
      .slice(0, mostLines)
  }

  function newest(market: string, period: CandlePeriod, count: number): Promise<BareReport | undefined> {
    const key = `${period} ${count} ${market.trim().toLowerCase()}`
    const nowMs = clock.monotonicMs()
    const known = kept.get(key)
    if (known !== undefined && nowMs - known.atMs < keptMs) return known.report
    const report = readAnew(market, period, count)
    kept.delete(key)
    kept.set(key, { atMs: nowMs, count, report })
    bound()
    // A fault serves nobody who asks later.
    report.catch(() => kept.delete(key))
    return report
  }

  return {
    async candles(market, period, { limit = chartCandles, beforeSeconds } = {}) {
      // The oracle gives the newest ones alone: those before a moment are the first of more of them.
      const newerSeconds = beforeSeconds === undefined ? 0 : clock.now() / 1_000 - beforeSeconds
      const newer = Math.max(0, Math.ceil(newerSeconds / periodSeconds[period]))
      const report = await newest(market, period, countOf(newer + limit))
      if (report === undefined) return undefined
      const wanted = report.candles.filter(
        ({ timestampSeconds }) => beforeSeconds === undefined || timestampSeconds < beforeSeconds,
      )
      const indicators = linesOn(report.symbol, period)
      return { ...report, candles: wanted.slice(-limit), indicators }
    },
  }
}

/** Returns how many candles to read for so many: doubled steps, so that charts that look back differently far share a reading. */
function countOf(wanted: number): number {
  let count = chartCandles
  while (count < wanted && count < mostCandles) count *= 2
  return Math.min(count, mostCandles)
}
