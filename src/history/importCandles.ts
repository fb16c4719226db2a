/** Candles of a file into the store: whose they are, how long they are, and how far they are from the oracle's. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { type FileCandle, readCandleFile } from '../base/candles/candleFile.ts'
import type { ColumnMap } from '../base/candles/candleTable.ts'
import { isoTime } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { readFileBytes } from '../base/textFile.ts'
import { type CandlePeriod, periodSeconds } from '../protocol/market.ts'
import { type Basis, basisOf } from './basis.ts'
import { columnsOf } from './columns.ts'
import { assetOfMarket, knownAssets, nearKnownAsset } from './indexAssets.ts'
import { HistoryError, type SeriesName } from './manifest.ts'
import { qualityOf, type SeriesQuality } from './quality.ts'
import type { HistoryStore } from './store.ts'
import type { Written } from './writeCandles.ts'

/** The source of candles of the oracle service: the prices that orders execute at. */
export const ORACLE_SOURCE = 'oracle'

/** Source of candles that a venue of play money made up: never mixed with the oracle's. */
const PAPER_SOURCE = 'paper'

/** The source that candles of the venue's own routes have. */
export function venueSource(isPaper: boolean): string {
  return isPaper ? PAPER_SOURCE : ORACLE_SOURCE
}

/** An import of one file. */
export interface ImportRequest {
  readonly path: string
  /** The market, or its index asset; without it the rows' symbol or the file's name says it. */
  readonly market?: string
  /** Length of a candle; without it most distances of its rows say it. */
  readonly period?: CandlePeriod
  /** Name of the source, for the store. */
  readonly source: string
  readonly map?: ColumnMap
  /** Largest p99 of the difference to the oracle's candles, basis points. */
  readonly maxBasisBps: number
  /** Moment of the import, Unix seconds: a candle that is not over then is left out. */
  readonly nowSeconds: number
}

/** A series that an import wrote. */
export interface ImportedSeries {
  readonly series: SeriesName
  readonly firstSeconds: number
  readonly lastSeconds: number
  readonly candles: number
  readonly written: Written
  /** Rows of the file, all symbols together, that stood out of order, and that said once more what another said. */
  readonly outOfOrder: number
  readonly repeated: number
  /** Candles at the end that were not over. */
  readonly running: number
  readonly quality: SeriesQuality
  /** Undefined where the store has too few candles of the oracle for these times. */
  readonly basis: Basis | undefined
}

/**
 * Imports a file. It writes all series of the file, or none.
 *
 * @throws CandleFileError CANDLES_UNREADABLE, HistoryError HISTORY_IMPORT_REFUSED or HISTORY_BASIS, and what writing throws
 */
export async function importCandles(
  store: HistoryStore,
  request: ImportRequest,
): Promise<readonly ImportedSeries[]> {
  const { path, source, map, nowSeconds } = request
  const { series, outOfOrder, repeated } = await readCandleFile(path, {
    isAnyOrder: true,
    ...defined({ map }),
  })
  if (request.market !== undefined && series.size > 1) {
    throw refused(path, `the file has ${series.size} symbols, but --market ${request.market} names one`, {
      symbols: [...series.keys()].join(', '),
      details: 'Omit --market: each symbol is an asset.',
    })
  }
  const ready: (ImportedSeries & { readonly fresh: readonly FileCandle[] })[] = []
  for (const [symbol, all] of series) {
    const asset = assetOfImport(request, symbol)
    const period = request.period ?? periodOf(path, all)
    refuseUnaligned(path, all, period)
    const fresh = all.filter(({ startSeconds }) => startSeconds + periodSeconds[period] <= nowSeconds)
    if (fresh.length === 0) throw refused(path, 'it has no completed candle', {})
    const name = { asset, period, source }
    ready.push({
      series: name,
      firstSeconds: fresh[0]?.startSeconds ?? 0,
      lastSeconds: fresh.at(-1)?.startSeconds ?? 0,
      candles: fresh.length,
      written: { added: 0, replaced: 0, same: 0, rounded: 0 },
      outOfOrder,
      repeated,
      running: all.length - fresh.length,
      quality: qualityOf(columnsOf(fresh).columns, period),
      basis: await basisToOracle(store, name, fresh, request),
      fresh,
    })
  }
  const sha256 = createHash('sha256').update(readFileBytes(path)).digest('hex')
  const imported: ImportedSeries[] = []
  for (const { fresh, ...each } of ready) {
    const written = await store.write(each.series, fresh, `${basename(path)} ${sha256}`)
    imported.push({ ...each, written })
  }
  return imported
}

/** Ends of a pair's name that are the currency in which it is quoted. */
const quoted = /(?:USDT|USDC|FDUSD|BUSD|USD)$/

function assetOfImport({ path, market }: ImportRequest, symbol: string): string {
  if (market !== undefined) return assetOfMarket(market)
  const name = (symbol === '' ? basename(path) : symbol).toUpperCase()
  const [first = ''] = /^[A-Z0-9]+/.exec(name) ?? []
  const asset = first.replace(quoted, '') || first
  if (knownAssets().has(asset)) return asset
  const near = nearKnownAsset(asset)
  throw refused(path, `perpd knows no market of ${asset === '' ? 'a file without a name' : asset}`, {
    ...defined({ nearest: near }),
    details: `Name the market, or its index asset: --market ${near ?? 'ETH'}.`,
  })
}

/** The period that most rows are apart. */
function periodOf(path: string, candles: readonly FileCandle[]): CandlePeriod {
  const counts = new Map<number, number>()
  for (let at = 1; at < candles.length; at++) {
    const apart = (candles[at]?.startSeconds ?? 0) - (candles[at - 1]?.startSeconds ?? 0)
    counts.set(apart, (counts.get(apart) ?? 0) + 1)
  }
  const [most] = [...counts].toSorted(([, one], [, other]) => other - one)
  const names = Object.keys(periodSeconds) as CandlePeriod[]
  const found = names.find((period) => periodSeconds[period] === most?.[0])
  if (found !== undefined) return found
  const apart = most === undefined ? 'it has one candle' : `most of its candles are ${most[0]} s apart`
  throw refused(path, `${apart}, which is no period`, {
    details: `Name it: --period ${names.join(', ')}.`,
  })
}

function refuseUnaligned(path: string, candles: readonly FileCandle[], period: CandlePeriod): void {
  const length = periodSeconds[period]
  const wrong = candles.filter(({ startSeconds }) => startSeconds % length !== 0)
  const [first] = wrong
  if (first === undefined) return
  throw refused(path, `${wrong.length} of its candles do not start at a whole ${period} of UTC`, {
    first: isoTime(first.startSeconds * 1_000),
    details: `Give the start time of each candle, in UTC. For candles of another length set --period.`,
  })
}

async function basisToOracle(
  store: HistoryStore,
  { asset, period, source }: SeriesName,
  fresh: readonly FileCandle[],
  { path, maxBasisBps }: ImportRequest,
): Promise<Basis | undefined> {
  const fromSeconds = fresh[0]?.startSeconds ?? 0
  const toSeconds = (fresh.at(-1)?.startSeconds ?? 0) + 1
  const isThere = store
    .manifest()
    .candles.some(
      (entry) =>
        entry.asset === asset &&
        entry.period === period &&
        entry.source === ORACLE_SOURCE &&
        entry.lastSeconds >= fromSeconds &&
        entry.firstSeconds < toSeconds,
    )
  if (source === ORACLE_SOURCE || !isThere) return undefined
  const query = { market: asset, period, fromSeconds, toSeconds, source: ORACLE_SOURCE }
  const basis = basisOf(fresh, (await store.read(query)).columns)
  if (basis === undefined || basis.p99Bps <= maxBasisBps) return basis
  throw new HistoryError(`The prices of the file differ too much from the oracle's prices of ${asset}.`, {
    code: 'HISTORY_BASIS',
    facts: { path, candles: basis.candles, p50Bps: basis.p50Bps, p99Bps: basis.p99Bps, maxBasisBps },
    details:
      'Nothing was imported. Check the market and the unit of the file; if the difference is intended, raise --max-basis-bps.',
  })
}

function refused(
  path: string,
  why: string,
  { details, ...facts }: { readonly details?: string; readonly [fact: string]: string | undefined },
): HistoryError {
  return new HistoryError(`The file was not imported: ${why}.`, {
    code: 'HISTORY_IMPORT_REFUSED',
    facts: { path, ...facts },
    ...defined({ details }),
  })
}
