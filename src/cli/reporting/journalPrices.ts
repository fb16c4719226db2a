/** Prices beside a journal: candles of its markets from the history, and what holding them would have made. */
import { shownCandles } from '../../backtest/runCandles.ts'
import type { RunCandle } from '../../backtest/runFiles.ts'
import type { Config } from '../../config/configTypes.ts'
import { candleAt, placeAt } from '../../history/columns.ts'
import type { TimeRange } from '../../history/gaps.ts'
import { venueSource } from '../../history/importCandles.ts'
import { assetOfMarket } from '../../history/indexAssets.ts'
import type { PriceHistory } from '../../paper/catalog/historyPrices.ts'
import { periodSeconds } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import type { EquityMoment } from '../../report/figures/reportSubject.ts'

/** Candles of the markets of a journal; a market without one in that time is missing. */
export interface JournalPrices {
  readonly source: string
  readonly histories: ReadonlyMap<string, PriceHistory>
  readonly candles: readonly RunCandle[]
}

/**
 * Reads the finest candles that the history has of each market, of the venue that the journal's orders went to: prices of another source are not
 * those at which they executed. Throws HistoryError for a history that is damaged.
 */
export async function pricesOf(
  { history: { folder }, isPaper }: Config,
  markets: readonly string[],
  range: TimeRange,
): Promise<JournalPrices> {
  const source = venueSource(isPaper)
  const histories = new Map<string, PriceHistory>()
  // The Parquet reader is loaded only when there is Parquet to read.
  const { openStore } = await import('../../history/store.ts')
  const store = openStore(folder)
  const files = store.manifest().candles.filter((entry) => entry.source === source)
  for (const market of markets) {
    const asset = assetOfMarket(market)
    const [finest] = files
      .filter(
        (entry) =>
          entry.asset === asset &&
          entry.firstSeconds < range.toSeconds &&
          entry.lastSeconds + periodSeconds[entry.period] > range.fromSeconds,
      )
      .toSorted((one, other) => periodSeconds[one.period] - periodSeconds[other.period])
    if (finest === undefined) continue
    const { period } = finest
    const length = periodSeconds[period]
    // The candle in which the range begins has its first price.
    const wanted = { fromSeconds: range.fromSeconds - length, toSeconds: range.toSeconds }
    const { columns } = await store.read({ market, period, source, ...wanted })
    histories.set(market, { ...columns, periodSeconds: length })
  }
  const candles = [...histories].flatMap(([market, history]) => [...shownCandles(market, history, range)])
  return { source, histories, candles }
}

/** The price at a moment: the open of the candle that it lies in, else the last close before it; undefined before the first candle. */
function priceAt(history: PriceHistory, second: number): Usd | undefined {
  const at = placeAt(history, second + 1) - 1
  if (at < 0) return undefined
  const { startSeconds, open, close } = candleAt(history, at)
  return second < startSeconds + history.periodSeconds ? open : close
}

/** The curve with what holding would have been: the first worth in all of the markets, in equal parts and without costs. Unchanged where a price is missing. */
export function withHolding(
  equity: readonly EquityMoment[],
  markets: readonly string[],
  { histories }: JournalPrices,
): readonly EquityMoment[] {
  const [first] = equity
  if (first === undefined || markets.length === 0 || histories.size < markets.length) return equity
  const pairs = [...histories.values()].map((history) => ({
    history,
    from: priceAt(history, first.second) ?? 0n,
  }))
  if (pairs.some(({ from }) => from === 0n)) return equity
  const part = first.equityUsd / BigInt(pairs.length)
  return equity.map((moment) => ({
    ...moment,
    holdUsd: pairs.reduce(
      (sum, { history, from }) => sum + (part * (priceAt(history, moment.second) ?? from)) / from,
      0n,
    ),
  }))
}
