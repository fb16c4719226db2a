/**
 * Candles from the venue's own routes into the store. The oracle's newest come in one request; older ones in pages of the application API,
 * from there back, each held to candles that are known already. Each answer is written with the range that it answers, so that a process that
 * is killed asks for nothing twice.
 */
import type { Api } from '../api/client.ts'
import { RefusedError } from '../api/transport/apiErrors.ts'
import { priceOf } from '../base/candles/candleCells.ts'
import type { FileCandle } from '../base/candles/candleFile.ts'
import { defined } from '../base/defined.ts'
import { periodSeconds } from '../protocol/market.ts'
import { basisOf } from './basis.ts'
import { emptyColumns } from './columns.ts'
import { rangeWithout, type TimeRange } from './gaps.ts'
import { HistoryError, isSameSeries, type SeriesName } from './manifest.ts'
import type { HistoryStore } from './store.ts'

/** Most candles that the oracle gives, always the newest ones. */
const ORACLE_CANDLES = 10_000
/** Most candles of a page of the application API. */
const PAGE_CANDLES = 1_000
/** Candles of a page that are known already, and say if the page has their unit and prices. */
const COMMON_CANDLES = 60
/** Largest p99 of the difference between the two routes, basis points: they show the same prices. */
const MAX_ROUTE_BASIS_BPS = 20

const ORACLE_ROUTE = 'GET /prices/candles'
const PAGES_ROUTE = 'GET /prices/ohlcv'

/** A request for candles. */
export interface GetRequest extends TimeRange {
  readonly series: SeriesName
  /** The oracle's symbol of the index token. */
  readonly tokenSymbol: string
  /** Symbol of a market of that token. */
  readonly marketSymbol: string
  /** Moment of the request, Unix seconds: what is not over then is left out. */
  readonly nowSeconds: number
}

/** Hears of requests that were answered, of those that are expected in all. */
export type GetProgress = (done: number, total: number) => void

/** The outcome. */
export interface GetOutcome {
  readonly requests: number
  /** Candles that were not there before. */
  readonly added: number
  /** Why the beginning of the range is not there, where a route has nothing older. */
  readonly stopped?: string
  /** First candle of the range that is there now, Unix seconds; undefined where none is. */
  readonly firstSeconds: number | undefined
}

/** The venue's reads of candles. */
type CandleReads = Pick<Api, 'getCandles' | 'getOhlcv'>

/**
 * Gets what is not there yet.
 *
 * @throws RefusedError, UnreachableError or DecodeError of the clients, and HistoryError; what was answered before is kept
 */
export async function getCandles(
  api: CandleReads,
  store: HistoryStore,
  request: GetRequest,
  progress: GetProgress = () => {},
): Promise<GetOutcome> {
  const { series, nowSeconds } = request
  const length = periodSeconds[series.period]
  const range = {
    fromSeconds: Math.ceil(request.fromSeconds / length) * length,
    toSeconds: Math.floor(Math.min(request.toSeconds, nowSeconds) / length) * length,
  }
  const counts = { requests: 0, added: 0 }
  const left = (within: TimeRange): readonly TimeRange[] => rangeWithout(within, store.askedRanges(series))
  const expected = (): number => {
    const candles = left(range).reduce((sum, each) => sum + (each.toSeconds - each.fromSeconds) / length, 0)
    return counts.requests + Math.ceil(candles / (PAGE_CANDLES - COMMON_CANDLES))
  }
  const heard = (added: number): void => {
    counts.requests += 1
    counts.added += added
    progress(counts.requests, expected())
  }

  const reachSeconds = Math.floor(nowSeconds / length) * length - (ORACLE_CANDLES - 1) * length
  const newest = left({ ...range, fromSeconds: Math.max(range.fromSeconds, reachSeconds) })
  if (newest.length > 0) heard(await newestCandles(api, store, request, length))

  const oldest = left(range).at(-1)
  let stopped =
    oldest === undefined || (await isProven(store, series, oldest.toSeconds))
      ? undefined
      : await proveUnit(api, store, request, heard)
  for (let older = left(range); older.length > 0 && stopped === undefined; older = left(range)) {
    const last = older.at(-1)
    if (last === undefined) break
    const page = await olderPage(api, store, request, last)
    heard(page.added)
    stopped = page.stopped
  }
  return {
    ...counts,
    ...defined({ stopped }),
    firstSeconds: await firstOf(store, series, range),
  }
}

/** The newest candles of the oracle; gives how many were new. */
async function newestCandles(
  api: CandleReads,
  store: HistoryStore,
  { series, tokenSymbol, nowSeconds }: GetRequest,
  length: number,
): Promise<number> {
  const { value } = await api.getCandles({ tokenSymbol, period: series.period, limit: ORACLE_CANDLES })
  const endSeconds = Math.floor(nowSeconds / length) * length
  const candles = value.flatMap(({ timestampSeconds, ...prices }): FileCandle[] => {
    if (timestampSeconds >= endSeconds || timestampSeconds % length !== 0) return []
    // Prices of the wire are floats: this is the one place where they become exact.
    const [open, high, low, close] = [prices.open, prices.high, prices.low, prices.close].map(priceOf)
    if (open === undefined || high === undefined || low === undefined || close === undefined) return []
    return [{ startSeconds: timestampSeconds, open, high, low, close }]
  })
  const fromSeconds = candles[0]?.startSeconds ?? endSeconds
  const written = await store.write(series, candles, ORACLE_ROUTE, { fromSeconds, toSeconds: endSeconds })
  return written.added
}

/** Says if a page that ends there is held to known candles, or one of the series was. */
async function isProven(store: HistoryStore, series: SeriesName, seconds: number): Promise<boolean> {
  const isOfPages = store
    .manifest()
    .candles.some((entry) => isSameSeries(entry, series) && entry.origins.includes(PAGES_ROUTE))
  return isOfPages || (await knownAfter(store, series, seconds)).length >= COMMON_CANDLES / 2
}

/** Holds one page to the oracle's newest candles, where the range lies before both; gives why older pages cannot be taken. */
async function proveUnit(
  api: CandleReads,
  store: HistoryStore,
  request: GetRequest,
  heard: (added: number) => void,
): Promise<string | undefined> {
  const { series, nowSeconds } = request
  const length = periodSeconds[series.period]
  const toSeconds = Math.floor(nowSeconds / length) * length
  const fromSeconds = toSeconds - PAGE_CANDLES * length
  const isThere = rangeWithout({ fromSeconds, toSeconds }, store.askedRanges(series)).length === 0
  if (!isThere) heard(await newestCandles(api, store, request, length))
  const rows = await pageFrom(api, request, fromSeconds)
  heard(0)
  const known = await readIfThere(store, series, { fromSeconds, toSeconds })
  if (basisOf(rows, known) === undefined) return `${PAGES_ROUTE} cannot be checked against ${ORACLE_ROUTE}`
  refuseOtherPrices(rows, known, series)
  return undefined
}

/** A page of candles from a moment on. */
async function pageFrom(
  api: CandleReads,
  { series, marketSymbol }: GetRequest,
  sinceSeconds: number,
): Promise<readonly FileCandle[]> {
  const query = { symbol: marketSymbol, timeframe: series.period, limit: PAGE_CANDLES }
  const { value } = await api.getOhlcv({ ...query, sinceMs: sinceSeconds * 1_000 })
  return value.map(({ timestampMs, open, high, low, close }) => ({
    startSeconds: timestampMs / 1_000,
    open,
    high,
    low,
    close,
  }))
}

/** One page of candles that end where a range does. */
async function olderPage(
  api: CandleReads,
  store: HistoryStore,
  request: GetRequest,
  range: TimeRange,
): Promise<{ readonly added: number; readonly stopped?: string }> {
  const { series } = request
  const length = periodSeconds[series.period]
  const fresh = (PAGE_CANDLES - COMMON_CANDLES) * length
  const sinceSeconds = Math.max(range.fromSeconds, range.toSeconds - fresh)
  const common = await knownAfter(store, series, range.toSeconds)
  let rows: readonly FileCandle[]
  try {
    rows = await pageFrom(api, request, sinceSeconds)
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    return { added: 0, stopped: `${PAGES_ROUTE} refuses it: ${error.shortMessage}` }
  }
  const aligned = rows.filter(({ startSeconds }) => startSeconds % length === 0)
  const first = aligned[0]?.startSeconds
  if (first === undefined) return { added: 0, stopped: `${PAGES_ROUTE} has nothing from then on` }
  if (first < sinceSeconds || first >= sinceSeconds + PAGE_CANDLES * length)
    return { added: 0, stopped: `${PAGES_ROUTE} returned other times than requested` }
  refuseOtherPrices(aligned, common, series)
  const inside = aligned.filter(({ startSeconds }) => startSeconds < range.toSeconds)
  const added = await store.write(series, inside, PAGES_ROUTE, {
    fromSeconds: sinceSeconds,
    toSeconds: range.toSeconds,
  })
  // A page that begins late is where the route begins.
  const isOldest = first > sinceSeconds && sinceSeconds > range.fromSeconds
  return {
    added: added.added,
    ...defined({ stopped: inside.length === 0 || isOldest ? `${PAGES_ROUTE} has nothing older` : undefined }),
  }
}

/** Known candles right after a moment; none where the series has none there. */
async function knownAfter(store: HistoryStore, series: SeriesName, seconds: number) {
  const toSeconds = seconds + COMMON_CANDLES * periodSeconds[series.period]
  return await readIfThere(store, series, { fromSeconds: seconds, toSeconds })
}

async function readIfThere(store: HistoryStore, series: SeriesName, range: TimeRange) {
  try {
    const { asset: market, period, source } = series
    return (await store.read({ market, period, source, ...range })).columns
  } catch (error) {
    if (error instanceof HistoryError && error.code === 'HISTORY_MISSING') return emptyColumns(0, 0)
    throw error
  }
}

async function firstOf(
  store: HistoryStore,
  series: SeriesName,
  range: TimeRange,
): Promise<number | undefined> {
  return (await readIfThere(store, series, range)).startSeconds[0]
}

/** The unit of a page is not documented: prices that differ from those that are known are not kept. */
function refuseOtherPrices(
  rows: readonly FileCandle[],
  common: Awaited<ReturnType<typeof knownAfter>>,
  { asset, period }: SeriesName,
): void {
  const basis = basisOf(rows, common)
  if (basis === undefined || basis.p99Bps <= MAX_ROUTE_BASIS_BPS) return
  throw new HistoryError(`${PAGES_ROUTE} shows other prices of ${asset} than ${ORACLE_ROUTE}.`, {
    code: 'HISTORY_BASIS',
    facts: { period, candles: basis.candles, p50Bps: basis.p50Bps, p99Bps: basis.p99Bps },
    details: 'perpd discarded that response. Import older candles from a file: perpd data import FILE.',
  })
}
