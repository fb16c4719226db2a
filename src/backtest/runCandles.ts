/** The candles of a run: from a file that is named, or from the store of history; what was read is named by hash. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { type CandleColumns, candleAt, columnsOf, placeAt } from '../history/columns.ts'
import { gapsIn, type TimeRange } from '../history/gaps.ts'
import { assetOfMarket } from '../history/indexAssets.ts'
import type { Manifest } from '../history/manifest.ts'
import { indexCatalog, loadCatalog } from '../paper/catalog/catalog.ts'
import type { PriceHistory } from '../paper/catalog/historyPrices.ts'
import { assetOf } from '../paper/catalog/prices.ts'
import { loadReplay } from '../paper/catalog/replayFile.ts'
import type { ChainName } from '../protocol/chains/chain.ts'
import { type CandlePeriod, periodSeconds } from '../protocol/market.ts'
import { type RunCandle, type RunInput, sha256Of } from './runFiles.ts'

/** Candles that a run cannot use. */
class RunCandlesError extends BaseError {}

/** Where a run finds its candles. */
export interface CandleSource {
  readonly chain: ChainName
  /** Full symbols of the markets. */
  readonly markets: readonly string[]
  /** A file of candles; absent: the store. */
  readonly file?: string
  readonly storeFolder: string
  /** Absent: the finest that the store has from the beginning of the range on, since finer candles judge what happened within a coarser one. */
  readonly period?: CandlePeriod
  readonly source?: string
  /** Begins as long before the run as its kinds read candles. */
  readonly range: TimeRange
}

/** The candles of a run. */
export interface RunCandles {
  /** By the asset that the venue prices. */
  readonly histories: ReadonlyMap<string, PriceHistory>
  /** By market. */
  readonly assets: ReadonlyMap<string, string>
  readonly inputs: readonly RunInput[]
}

/**
 * Reads the candles of every market of a run.
 *
 * @throws RunCandlesError BACKTEST_NO_CANDLES for a market without one in the run's time; HistoryError and BaseError of what reads them
 */
export async function readRunCandles(source: CandleSource): Promise<RunCandles> {
  const { chain, markets } = source
  const catalog = indexCatalog(loadCatalog(chain))
  const histories = new Map<string, PriceHistory>()
  const inputs: RunInput[] = []
  const assets = new Map<string, string>()
  const ofFile =
    source.file === undefined ? undefined : await candlesOfFile(source.file, catalog.catalog.tokens)
  for (const market of markets) {
    const facts = catalog.catalog.markets.find(({ symbol }) => symbol === market)
    const index = facts === undefined ? undefined : catalog.tokenByAddress.get(facts.indexToken.toLowerCase())
    if (index === undefined) throw noCandles(source, market)
    const asset = assetOf(index)
    const found = ofFile === undefined ? await candlesOfStore(source, market) : ofFile(asset, source)
    if (found === undefined || found.columns.length === 0) throw noCandles(source, market)
    const { columns, ...told } = found
    histories.set(asset, { ...columns, periodSeconds: told.periodSeconds })
    const { startSeconds, length } = columns
    const toSeconds = (startSeconds[length - 1] ?? 0) + told.periodSeconds
    const whole = { fromSeconds: startSeconds[0] ?? 0, toSeconds }
    assets.set(market, asset)
    inputs.push({
      market,
      ...told,
      ...whole,
      candles: length,
      gaps: gapsIn(startSeconds, told.periodSeconds, whole),
    })
  }
  return { histories, assets, inputs }
}

interface Found extends Pick<RunInput, 'source' | 'sha256' | 'periodSeconds'> {
  readonly columns: CandleColumns
}

function noCandles({ file, period, range }: CandleSource, market: string): RunCandlesError {
  return new RunCandlesError(`There are no candles of ${market} in that time.`, {
    code: 'BACKTEST_NO_CANDLES',
    facts: { file, from: isoOf(range.fromSeconds), to: isoOf(range.toSeconds) },
    details: `Nothing was run. Get them: perpd data get "${market}" --period ${period ?? '1m'}, or name a file that has them: --data FILE.`,
  })
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

function sliceOf(columns: CandleColumns, { fromSeconds, toSeconds }: TimeRange): CandleColumns {
  const [from, to] = [placeAt(columns, fromSeconds), placeAt(columns, toSeconds)]
  return {
    length: to - from,
    startSeconds: columns.startSeconds.slice(from, to),
    open: columns.open.slice(from, to),
    high: columns.high.slice(from, to),
    low: columns.low.slice(from, to),
    close: columns.close.slice(from, to),
    decimals: columns.decimals,
  }
}

type OfFile = (asset: string, source: CandleSource) => Found | undefined

async function candlesOfFile(path: string, tokens: Parameters<typeof loadReplay>[2]): Promise<OfFile> {
  const { series } = await loadReplay(path, 1, tokens)
  const sha256 = [sha256Of(readFileSync(path))]
  return (asset, { range }) => {
    const candles = series.get(asset)
    if (candles === undefined) return undefined
    const { columns } = columnsOf(candles)
    const periods = candles
      .slice(1, 1000)
      .map(({ startSeconds }, at) => startSeconds - (candles[at]?.startSeconds ?? 0))
    // The most frequent step is the length of a candle: gaps are longer ones.
    const counts = Map.groupBy(periods, (seconds) => seconds)
    const [length] = [...counts].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? [60]
    return { columns: sliceOf(columns, range), periodSeconds: length, source: basename(path), sha256 }
  }
}

async function candlesOfStore(source: CandleSource, market: string): Promise<Found> {
  const { range } = source
  // The Parquet reader is loaded only when there is Parquet to read.
  const { openStore } = await import('../history/store.ts')
  const store = openStore(source.storeFolder)
  const period = source.period ?? finestPeriod(store.manifest(), market, source)
  const read = await store.read({
    market,
    period,
    ...range,
    ...defined({ source: source.source }),
  })
  return {
    columns: read.columns,
    periodSeconds: periodSeconds[period],
    source: read.series.source,
    sha256: read.files.map(({ sha256 }) => sha256),
  }
}

/** The shortest candles of a market that begin with the range; where none do, the shortest that lie in it. */
function finestPeriod(
  { candles }: Manifest,
  market: string,
  { source, range: { fromSeconds, toSeconds } }: CandleSource,
): CandlePeriod {
  const own = candles.filter(
    (entry) =>
      entry.asset === assetOfMarket(market) &&
      (source ?? entry.source) === entry.source &&
      entry.firstSeconds < toSeconds &&
      entry.lastSeconds >= fromSeconds,
  )
  const starts = (period: CandlePeriod): boolean =>
    own.some((entry) => entry.period === period && entry.firstSeconds <= Math.max(fromSeconds, firstOf(own)))
  const periods = [...new Set(own.map(({ period }) => period))].toSorted(
    (one, other) => periodSeconds[one] - periodSeconds[other],
  )
  return periods.find(starts) ?? periods[0] ?? '1m'
}

function firstOf(entries: Manifest['candles']): number {
  return entries.reduce((least, { firstSeconds }) => Math.min(least, firstSeconds), Number.POSITIVE_INFINITY)
}

/** Most candles of a market that a run's folder holds. */
const MOST_SHOWN = 5_000

/** Candles of a market for charts: joined so that no more than `MOST_SHOWN` are left of the run's time. */
export function* shownCandles(market: string, history: PriceHistory, range: TimeRange): Generator<RunCandle> {
  const [from, to] = [placeAt(history, range.fromSeconds), placeAt(history, range.toSeconds)]
  const span = range.toSeconds - range.fromSeconds
  const lengthSeconds =
    history.periodSeconds * Math.max(1, Math.ceil(span / history.periodSeconds / MOST_SHOWN))
  let joined: RunCandle | undefined
  for (let at = from; at < to; at += 1) {
    const { startSeconds, open, high, low, close } = candleAt(history, at)
    const second = startSeconds - (startSeconds % lengthSeconds)
    if (joined !== undefined && joined.second !== second) {
      yield joined
      joined = undefined
    }
    joined =
      joined === undefined
        ? { market, second, open, high, low, close }
        : {
            ...joined,
            high: high > joined.high ? high : joined.high,
            low: low < joined.low ? low : joined.low,
            close,
          }
  }
  if (joined !== undefined) yield joined
}
