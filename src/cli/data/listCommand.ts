/** `perpd data list` and `perpd data check`: which history is there, and how good it is. */
import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { type Basis, basisOf } from '../../history/basis.ts'
import { candlesOf, joinColumns } from '../../history/columns.ts'
import { ORACLE_SOURCE } from '../../history/importCandles.ts'
import { assetOfMarket } from '../../history/indexAssets.ts'
import { type CandleFileEntry, HistoryError, isSameSeries, type SeriesName } from '../../history/manifest.ts'
import { qualityOf, type SeriesQuality } from '../../history/quality.ts'
import { recordedFiles } from '../../history/recordingFile.ts'
import { type HistoryStore, openStore } from '../../history/store.ts'
import { periodSeconds } from '../../protocol/market.ts'
import type { Call } from '../call/command.ts'
import { type Column, table } from '../output/table.ts'
import { minuteText, outlierText, qualityText, rangeText } from './dataText.ts'

/** A series with all of its files. */
interface StoredSeries {
  readonly series: SeriesName
  readonly files: readonly CandleFileEntry[]
}

const listColumns: readonly Column[] = [
  { title: 'ASSET', rank: 0 },
  { title: 'PERIOD', rank: 0 },
  { title: 'SOURCE', rank: 0, isName: true },
  { title: 'FROM (UTC)', rank: 0 },
  { title: 'TO (UTC)', rank: 0 },
  { title: 'CANDLES', rank: 1, word: 'candles', isFigure: true },
  { title: 'MISSING', rank: 2, word: 'missing', isFigure: true },
]

/** Markets of which events of the chain are there, with their blocks' first and last times. */
function loggedOf(store: HistoryStore) {
  const byMarket = Map.groupBy(store.manifest().logs, ({ chain, market }) => `${chain} ${market}`)
  return [...byMarket.values()].map((files) => ({
    chain: files[0]?.chain ?? '',
    market: files[0]?.market ?? '',
    firstSeconds: files[0]?.fromSeconds ?? 0,
    lastSeconds: files.at(-1)?.toSeconds ?? 0,
    events: files.reduce((sum, { rows }) => sum + rows, 0),
    files,
  }))
}

/** Markets of which rates are there. */
function ratesOf(store: HistoryStore) {
  return store.manifest().rates.map(({ chain, market, unit, firstSeconds, lastSeconds, rows, file }) => {
    return { chain, market, unit, firstSeconds, lastSeconds, rates: rows, file }
  })
}

/** The recordings, from the first one on; undefined where none is. */
function recordingsOf(store: HistoryStore) {
  const files = recordedFiles(store.folder, 0, Number.POSITIVE_INFINITY).map(({ path, startMs }) => {
    const { size, mtimeMs } = statSync(path)
    return { file: relative(store.folder, path), bytes: size, startMs, writtenMs: mtimeMs }
  })
  const [first] = files
  if (first === undefined) return undefined
  return {
    firstSeconds: Math.floor(first.startMs / 1000),
    // A file is written to as long as it is recorded.
    lastSeconds: Math.floor(files.reduce((last, { writtenMs }) => Math.max(last, writtenMs), 0) / 1000),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    files: files.map(({ file, bytes }) => ({ file, bytes })),
  }
}

/** Lists every series, the rates, the events of the chain, and the recordings. */
export async function listData({ loaded, flags, width, out }: Call): Promise<number> {
  const store = openStore(loaded.config.history.folder)
  const rows = seriesOf(store).map(({ series, files }) => {
    const rows = files.reduce((sum, file) => sum + file.rows, 0)
    const firstSeconds = files[0]?.firstSeconds ?? 0
    const lastSeconds = files.at(-1)?.lastSeconds ?? 0
    const whole = (lastSeconds - firstSeconds) / periodSeconds[series.period] + 1
    return { ...series, firstSeconds, lastSeconds, candles: rows, missing: whole - rows, files }
  })
  const [logs, rates, recordings] = [loggedOf(store), ratesOf(store), recordingsOf(store)]
  const span = (firstSeconds: number, lastSeconds: number): string =>
    `${minuteText(firstSeconds)} to ${minuteText(lastSeconds)} UTC`
  if (flags.has('json'))
    out(JSON.stringify({ folder: store.folder, series: rows, rates, logs, recordings }, undefined, 2))
  else if (rows.length === 0 && logs.length === 0 && rates.length === 0 && recordings === undefined)
    out(
      `No history in ${store.folder}.\n  Get some: perpd data get ETH --period 1m, or perpd data import FILE.`,
    )
  else {
    const cells = rows.map((row) => [
      row.asset,
      row.period,
      row.source,
      minuteText(row.firstSeconds),
      minuteText(row.lastSeconds),
      String(row.candles),
      String(row.missing),
    ])
    if (rows.length > 0) out(table(listColumns, cells, width))
    for (const { chain, market, rates: count, firstSeconds, lastSeconds } of rates)
      out(`Rates of ${market} on ${chain}: ${count}, ${span(firstSeconds, lastSeconds)}.`)
    for (const { chain, market, events, firstSeconds, lastSeconds } of logs)
      out(`Events of ${market} on ${chain}: ${events}, ${span(firstSeconds, lastSeconds)}.`)
    if (recordings !== undefined) {
      const { files, bytes, firstSeconds, lastSeconds } = recordings
      const megabytes = (bytes / 1_000_000).toFixed(1)
      out(
        `Recordings: ${files.length} file${files.length === 1 ? '' : 's'}, ${megabytes} MB, ${span(firstSeconds, lastSeconds)}.`,
      )
    }
  }
  return exitCodes.ok
}

/** A series as a check finds it. */
interface CheckedSeries extends SeriesName {
  readonly candles: number
  readonly quality: SeriesQuality
  readonly basis: Basis | undefined
  /** Files that are not as they were written. */
  readonly damaged: readonly string[]
}

/** Reads every file, holds it to its hash, and lists what is missing and strange, by range. Exit code 1 where a file is damaged. */
export async function checkData({ loaded, flags, positionals, out }: Call): Promise<number> {
  const store = openStore(loaded.config.history.folder)
  const asset = positionals[0] === undefined ? undefined : assetOfMarket(positionals[0])
  const found = seriesOf(store).filter(({ series }) => asset === undefined || series.asset === asset)
  if (found.length === 0 && asset !== undefined)
    throw new CommandError(`No history of ${asset} in ${store.folder}.`, exitCodes.notFound)
  const checked: CheckedSeries[] = []
  for (const each of found) checked.push(await checkOne(store, each, found))
  if (flags.has('json')) out(JSON.stringify(checked, undefined, 2))
  else
    out(
      checked.length === 0
        ? `There is no history in ${store.folder}.`
        : checked.map(checkedText).join('\n\n'),
    )
  return checked.some(({ damaged }) => damaged.length > 0) ? exitCodes.error : exitCodes.ok
}

async function checkOne(
  store: HistoryStore,
  { series, files }: StoredSeries,
  all: readonly StoredSeries[],
): Promise<CheckedSeries> {
  const damaged: string[] = []
  const read = async (entries: readonly CandleFileEntry[], problems: string[]) => {
    const parts = []
    for (const entry of entries) {
      try {
        parts.push(await store.readFile(entry, true))
      } catch (error) {
        if (!(error instanceof HistoryError)) throw error
        problems.push(`${entry.file}: ${String(error.facts.reason ?? error.shortMessage)}`)
      }
    }
    return joinColumns(parts)
  }
  const columns = await read(files, damaged)
  const oracle = all.find(({ series: other }) => isSameSeries(other, { ...series, source: ORACLE_SOURCE }))
  const isOracle = series.source === ORACLE_SOURCE
  const basis =
    oracle === undefined || isOracle ? undefined : basisOf(candlesOf(columns), await read(oracle.files, []))
  return { ...series, candles: columns.length, quality: qualityOf(columns, series.period), basis, damaged }
}

function checkedText({ asset, period, source, candles, quality, basis, damaged }: CheckedSeries): string {
  const list = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [`  ${title}:`, ...lines.map((line) => `    ${line}`)]
  return [
    `${asset} ${period} ${source}: ${candles} candles; ${qualityText(quality)}`,
    ...list('damaged, not read', damaged),
    ...list('gaps', quality.gaps.map(rangeText)),
    ...list('without a move', quality.flat.map(rangeText)),
    ...list('outliers', quality.outliers.map(outlierText)),
    ...(basis === undefined
      ? []
      : [
          `  difference to the oracle's closes: median ${basis.p50Bps} bps, p99 ${basis.p99Bps} bps, over ${basis.candles} candles`,
        ]),
  ].join('\n')
}

function seriesOf(store: HistoryStore): readonly StoredSeries[] {
  const found: { series: SeriesName; files: CandleFileEntry[] }[] = []
  for (const entry of store.manifest().candles) {
    const known = found.find(({ series }) => isSameSeries(series, entry))
    const { asset, period, source } = entry
    if (known === undefined) found.push({ series: { asset, period, source }, files: [entry] })
    else known.files.push(entry)
  }
  return found
}
