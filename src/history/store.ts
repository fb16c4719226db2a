/**
 * The store of history: a folder of Parquet files, one a UTC month of a series, with a manifest. A write makes a new file and then lists it,
 * so that a process that dies between leaves the history as it was.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FileCandle } from '../base/candleFile.ts'
import { reasonOf } from '../base/errors.ts'
import { type CandlePeriod, periodSeconds } from '../protocol/market.ts'
import { cacheColumns, cachedColumns, dropOtherColumns } from './columnCache.ts'
import { type CandleColumns, candlesOf, columnsOf, joinColumns, placeAt, sliceColumns } from './columns.ts'
import { withLock } from './folderLock.ts'
import { gapsIn, joinRanges, type TimeRange } from './gaps.ts'
import { assetOfMarket } from './indexAssets.ts'
import {
  type AskedRange,
  type CandleFileEntry,
  HistoryError,
  isSameSeries,
  type Manifest,
  readManifest,
  type SeriesName,
  writeManifest,
} from './manifest.ts'
import { candlesOfParquet, parquetOfCandles } from './parquetCandles.ts'

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

/** The outcome of a write. */
export interface Written {
  /** Candles of times that had none. */
  readonly added: number
  /** Candles that were there with other prices; the new ones count. */
  readonly replaced: number
  /** Candles that were there already. */
  readonly same: number
  /** Prices with more digits than are kept. */
  readonly rounded: number
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

  async function write(
    series: SeriesName,
    candles: readonly FileCandle[],
    origin: string,
    asked?: TimeRange,
  ): Promise<Written> {
    return await withLock(folder, async () => {
      const total = { added: 0, replaced: 0, same: 0, rounded: 0 }
      const known = manifest()
      let entries = known.candles
      const months = Map.groupBy(candles, ({ startSeconds }) => monthOf(startSeconds))
      const replaced: string[] = []
      for (const [month, fresh] of months) {
        const old = entries.find(
          (entry) => isSameSeries(entry, series) && monthOf(entry.firstSeconds) === month,
        )
        const before = old === undefined ? [] : candlesOf(await readFile(old))
        const { merged, ...counts } = mergeCandles(before, fresh)
        total.added += counts.added
        total.replaced += counts.replaced
        total.same += counts.same
        if (counts.added + counts.replaced === 0) continue
        const { columns, rounded } = columnsOf(merged)
        total.rounded += rounded
        const entry = writeMonth(folder, series, month, columns, [...(old?.origins ?? []), origin])
        if (old !== undefined) replaced.push(old.file)
        entries = [...entries.filter((each) => each !== old), entry]
      }
      const ranges = asked === undefined ? known.asked : withAsked(known.asked, series, asked)
      writeManifest(folder, { ...known, candles: sorted(entries), asked: ranges })
      const listed = new Set(entries.map(({ file }) => file))
      for (const file of replaced) if (!listed.has(file)) rmSync(join(folder, file), { force: true })
      dropOtherColumns(folder, entries)
      return total
    })
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
    write,
    read,
    readFile,
    askedRanges: (series) => manifest().asked.filter((each) => isSameSeries(each, series)),
  }
}

/** Asked ranges with one more; those of a series that touch are joined. */
function withAsked(all: readonly AskedRange[], series: SeriesName, range: TimeRange): readonly AskedRange[] {
  const { asset, period, source } = series
  const own = all.filter((each) => isSameSeries(each, series))
  const joined = joinRanges([...own, range]).map((each) => ({ asset, period, source, ...each }))
  return [...all.filter((each) => !isSameSeries(each, series)), ...joined]
}

function monthOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 7)
}

function sorted(entries: readonly CandleFileEntry[]): readonly CandleFileEntry[] {
  const keyOf = ({ asset, period, source, firstSeconds }: CandleFileEntry): string =>
    [asset, period, source, String(firstSeconds).padStart(12, '0')].join(' ')
  return entries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

/** Joins two ascending lists; of two candles of one time the fresh one counts. */
function mergeCandles(
  before: readonly FileCandle[],
  fresh: readonly FileCandle[],
): { readonly merged: readonly FileCandle[] } & Omit<Written, 'rounded'> {
  const merged: FileCandle[] = []
  let [replaced, same, at] = [0, 0, 0]
  for (const candle of fresh) {
    const last = merged.at(-1)
    if (last !== undefined && last.startSeconds >= candle.startSeconds)
      throw new RangeError('candles that are written ascend, one a time')
    for (; at < before.length; at++) {
      const known = before[at]
      if (known === undefined || known.startSeconds >= candle.startSeconds) break
      merged.push(known)
    }
    const known = before[at]
    if (known?.startSeconds === candle.startSeconds) {
      if (isSameCandle(known, candle)) same += 1
      else replaced += 1
      at += 1
    }
    merged.push(candle)
  }
  return { merged: [...merged, ...before.slice(at)], added: fresh.length - replaced - same, replaced, same }
}

function isSameCandle(one: FileCandle, other: FileCandle): boolean {
  return (
    one.open === other.open && one.high === other.high && one.low === other.low && one.close === other.close
  )
}

function writeMonth(
  folder: string,
  { asset, period, source }: SeriesName,
  month: string,
  columns: CandleColumns,
  origins: readonly string[],
): CandleFileEntry {
  const bytes = parquetOfCandles(columns, { asset, period, source })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file = `candles/${asset}/${period}/${source}/${month}-${sha256.slice(0, 12)}.parquet`
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  const beside = join(dirname(path), `.${basename(path)}.new`)
  writeFileSync(beside, bytes, { flush: true })
  renameSync(beside, path)
  return {
    asset,
    period,
    source,
    file,
    sha256,
    firstSeconds: columns.startSeconds[0] ?? 0,
    lastSeconds: columns.startSeconds[columns.length - 1] ?? 0,
    rows: columns.length,
    decimals: columns.decimals,
    origins: [...new Set(origins)],
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
  if (found !== sha256) throw changed(path, `its SHA-256 is ${found}, and ${sha256} was written`)
  return bytes
}

function changed(path: string, reason: string, cause?: unknown): HistoryError {
  return new HistoryError('A file of the history is not the one that was written.', {
    code: 'HISTORY_FILE_CHANGED',
    facts: { path, reason },
    details:
      'Nothing is read of it. Put the file back, or remove it with its entry in manifest.json and get its data again.',
    ...(cause === undefined ? {} : { cause }),
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
    details: 'Nothing was mixed. Name one of them with --source.',
  })
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')
}
