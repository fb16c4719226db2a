/** The store of history: a folder of Parquet files with a manifest; candles of a range with what is missing in them, and the hashes of what was read. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileCandle } from '../base/candles/candleFile.ts'
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import { type CandlePeriod, periodSeconds } from '../protocol/market.ts'
import { cacheColumns, cachedColumns } from './columnCache.ts'
import { type CandleColumns, joinColumns, placeAt, sliceColumns } from './columns.ts'
import { gapsIn, type TimeRange } from './gaps.ts'
import { assetOfMarket } from './indexAssets.ts'
import {
  type CandleFileEntry,
  HistoryError,
  isSameSeries,
  type Manifest,
  readManifest,
  type SeriesName,
} from './manifest.ts'
import { candlesOfParquet } from './parquetCandles.ts'
import { type Written, writeCandles } from './writeCandles.ts'

/** Which candles to read. */
export interface CandleQuery extends TimeRange {
  /** A market's symbol, `ETH/USD [WETH-USDC]`, its pair or its index asset. */
  readonly market: string
  readonly period: CandlePeriod
  /** Needed where several sources have candles of the range. */
  readonly source?: string
}

/** Candles of a range. */
export interface CandleRange {
  readonly series: SeriesName
  readonly columns: CandleColumns
  /** Parts of the range without a candle, ascending: no price. */
  readonly gaps: readonly TimeRange[]
  /** Files that the candles are of, with their hashes. */
  readonly files: readonly { readonly file: string; readonly sha256: string }[]
}

/** A folder of history. */
export interface HistoryStore {
  readonly folder: string
  /** All files and asked ranges, as they are listed now. Throws HistoryError. */
  manifest(): Manifest
  /**
   * Adds candles to a series.
   *
   * @param candles ascending by time, one a time
   * @param origin where they came from, for the manifest
   * @param asked a range of which their source has nothing more to say, listed with them
   * @throws HistoryError HISTORY_IN_USE while another process writes
   */
  write(
    series: SeriesName,
    candles: readonly FileCandle[],
    origin: string,
    asked?: TimeRange,
  ): Promise<Written>
  /**
   * Reads the candles of a range.
   *
   * @throws HistoryError HISTORY_MISSING where there are none, HISTORY_SOURCES where several sources have some and none is named, HISTORY_FILE_CHANGED
   */
  read(query: CandleQuery): Promise<CandleRange>
  /** The candles of one file; with `isProven` by its bytes, of which the hash is held to the manifest. Throws HistoryError HISTORY_FILE_CHANGED. */
  readFile(entry: CandleFileEntry, isProven?: boolean): Promise<CandleColumns>
  /** Ranges that the source of a series was asked for, ascending. Throws HistoryError. */
  askedRanges(series: SeriesName): readonly TimeRange[]
}

/** Opens a folder of history, which is made with the first write. */
export function openStore(folder: string): HistoryStore {
  const manifest = (): Manifest => readManifest(folder)

  async function readFile(entry: CandleFileEntry, isProven = false): Promise<CandleColumns> {
    const cached = isProven ? undefined : cachedColumns(folder, entry)
    if (cached !== undefined) return cached
    const bytes = bytesOf(folder, entry)
    const columns = await candlesOfParquet(bytes)
    cacheColumns(folder, entry, columns)
    return columns
  }

  async function read(query: CandleQuery): Promise<CandleRange> {
    const { fromSeconds, toSeconds, period } = query
    const asset = assetOfMarket(query.market)
    const ofAsset = manifest().candles.filter((entry) => entry.asset === asset && entry.period === period)
    const within = ofAsset.filter(
      (entry) =>
        entry.lastSeconds >= fromSeconds &&
        entry.firstSeconds < toSeconds &&
        (query.source ?? entry.source) === entry.source,
    )
    const [first] = within
    if (first === undefined) throw missing(folder, query, ofAsset)
    const sources = [...new Set(within.map(({ source }) => source))]
    if (sources.length > 1) throw severalSources(query, sources)
    const parts: CandleColumns[] = []
    for (const entry of within) {
      const columns = await readFile(entry)
      parts.push(sliceColumns(columns, placeAt(columns, fromSeconds), placeAt(columns, toSeconds)))
    }
    const columns = joinColumns(parts)
    return {
      series: { asset, period, source: first.source },
      columns,
      gaps: gapsIn(columns.startSeconds, periodSeconds[period], query),
      files: within.map(({ file, sha256 }) => ({ file, sha256 })),
    }
  }

  return {
    folder,
    manifest,
    write: async (series, candles, origin, asked) =>
      await writeCandles(folder, readFile, { series, candles, origin, asked }),
    read,
    readFile,
    askedRanges: (series) => manifest().asked.filter((each) => isSameSeries(each, series)),
  }
}

function bytesOf(folder: string, { file, sha256 }: CandleFileEntry): Uint8Array {
  const path = join(folder, file)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw changed(path, reasonOf(cause), cause)
  }
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256) throw changed(path, `its SHA-256 is ${found} instead of ${sha256}`)
  return bytes
}

function changed(path: string, reason: string, cause?: unknown): HistoryError {
  return new HistoryError('A file of the history was changed after perpd wrote it.', {
    code: 'HISTORY_FILE_CHANGED',
    facts: { path, reason },
    details:
      'perpd did not read it. Restore the file, or remove it with its entry in manifest.json and download its data again.',
    ...defined({ cause }),
  })
}

function missing(folder: string, query: CandleQuery, ofAsset: readonly CandleFileEntry[]): HistoryError {
  const { market, period, source } = query
  const range = (from: number, to: number): string => `${dayOf(from)} to ${dayOf(to)}`
  const first = ofAsset.reduce((least, { firstSeconds }) => Math.min(least, firstSeconds), Infinity)
  const last = ofAsset.reduce((most, { lastSeconds }) => Math.max(most, lastSeconds), 0)
  return new HistoryError(
    `There are no ${period} candles of ${market}${source === undefined ? '' : ` from ${source}`} in that range.`,
    {
      code: 'HISTORY_MISSING',
      facts: {
        folder,
        wanted: range(query.fromSeconds, query.toSeconds),
        there: ofAsset.length === 0 ? 'none of any time' : range(first, last),
      },
      details: `Get them: perpd data get ${assetOfMarket(market)} --period ${period}, or import a file: perpd data import FILE. What is there: perpd data list.`,
    },
  )
}

function severalSources({ market, period }: CandleQuery, sources: readonly string[]): HistoryError {
  return new HistoryError(`Several sources have ${period} candles of ${market} in that range.`, {
    code: 'HISTORY_SOURCES',
    facts: { sources: sources.join(', ') },
    details: 'perpd does not mix sources. Select one with --source.',
  })
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')
}
