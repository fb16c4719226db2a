/**
 * Candles into files: one a UTC month of a series, all of one series with one tick, so that other programs read them together. A write makes
 * new files and then lists them, so that a process that dies between leaves the history as it was.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FileCandle } from '../base/candles/candleFile.ts'
import { dropOtherColumns } from './columnCache.ts'
import { type CandleColumns, candlesOf, columnsOf, withDecimals } from './columns.ts'
import { withLock } from './folderLock.ts'
import { joinRanges, type TimeRange } from './gaps.ts'
import {
  type AskedRange,
  type CandleFileEntry,
  isSameSeries,
  readManifest,
  type SeriesName,
  writeManifest,
} from './manifest.ts'
import { parquetOfCandles } from './parquetCandles.ts'

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

/** Candles to write. */
export interface CandleWrite {
  readonly series: SeriesName
  /** Ascending by time, one a time. */
  readonly candles: readonly FileCandle[]
  readonly origin: string
  readonly asked: TimeRange | undefined
}

/** Adds candles to a series of a folder. Throws HistoryError HISTORY_IN_USE while another process writes. */
export async function writeCandles(
  folder: string,
  readFile: (entry: CandleFileEntry) => Promise<CandleColumns>,
  { series, candles, origin, asked }: CandleWrite,
): Promise<Written> {
  return await withLock(folder, async () => {
    const known = readManifest(folder)
    const own = known.candles.filter((entry) => isSameSeries(entry, series))
    const total = { added: 0, replaced: 0, same: 0, rounded: 0 }
    const least = own.reduce((most, { decimals }) => Math.max(most, decimals), 0)
    const { columns: fresh, rounded } = columnsOf(candles, least)
    const written = new Map<CandleFileEntry | string, CandleFileEntry>()
    for (const [month, part] of Map.groupBy(candles, ({ startSeconds }) => monthOf(startSeconds))) {
      const old = own.find((entry) => monthOf(entry.firstSeconds) === month)
      const before = old === undefined ? [] : candlesOf(await readFile(old))
      const { merged, ...counts } = mergeCandles(before, part)
      total.added += counts.added
      total.replaced += counts.replaced
      total.same += counts.same
      if (counts.added + counts.replaced === 0) continue
      const { columns } = columnsOf(merged, fresh.decimals)
      const origins = [...(old?.origins ?? []), origin]
      written.set(
        old ?? month,
        writeMonth(folder, series, month, withDecimals(columns, fresh.decimals), origins),
      )
    }
    if (total.added + total.replaced > 0) total.rounded = rounded
    // One tick for all files: a program that reads several takes that of the first.
    for (const old of written.size === 0 ? [] : own) {
      if (written.has(old) || old.decimals === fresh.decimals) continue
      const columns = withDecimals(await readFile(old), fresh.decimals)
      written.set(old, writeMonth(folder, series, monthOf(old.firstSeconds), columns, old.origins))
    }
    const entries = [...known.candles.filter((entry) => !written.has(entry)), ...written.values()]
    const ranges = asked === undefined ? known.asked : withAsked(known.asked, series, asked)
    writeManifest(folder, { ...known, candles: sorted(entries), asked: ranges })
    const listed = new Set(entries.map(({ file }) => file))
    for (const { file } of known.candles) if (!listed.has(file)) rmSync(join(folder, file), { force: true })
    dropOtherColumns(folder, entries)
    return total
  })
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
