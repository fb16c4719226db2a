/** The oracle price service: prices, candles, tokens, market status (docs/reference/api-coverage.md O1 to O13). Read-only. */
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Candle, CandlePeriod, MarketStatus, OraclePrice } from '../../protocol/market.ts'
import { oraclePriceToUsd } from '../../protocol/units.ts'
import {
  address,
  boolean,
  type Fields,
  float,
  lenient,
  list,
  Malformed,
  object,
  optional,
  tokenDecimals,
  uint,
  unixSeconds,
  word,
} from '../decode/decode.ts'
import { rows, rowsOrField } from '../rows/listRows.ts'
import { type CallOptions, mapRead, type Read, type Route, type RouteQuery } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Decimals of a token's own amounts, by its address in any case; undefined for a token that is not known. */
export type DecimalsOf = (tokenAddress: Address) => number | undefined

/** A token as the oracle lists it. */
export interface OracleToken {
  /** The oracle's symbol; not always the application API's (`BTC`, `WBTC.b`). Join by address. */
  readonly symbol: string
  readonly address: Address
  /** Decimals of the token's own amounts; absent where a list says symbol and address alone, as the document has it. */
  readonly decimals?: number | undefined
  /** True for an index token without a contract. */
  readonly isSynthetic: boolean
}

/** A price record as the wire has it; `value`s become USD only with the token's decimals. */
interface RawPrice {
  readonly tokenSymbol: string
  readonly tokenAddress: Address
  readonly min: bigint
  readonly max: bigint
  readonly median: bigint
  readonly oracleDecimals: number
  readonly updatedAtSeconds: number
}

const ROUTE_TIMEOUT_MS = 10_000

const pingRoute: Route<undefined, boolean> = {
  path: '/ping',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  decode: (body) => boolean(object(body).ok, 'ok'),
}

const tickersRoute: Route<undefined, readonly RawPrice[]> = {
  path: '/prices/tickers',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: 300,
  timeoutMs: ROUTE_TIMEOUT_MS,
  decode: (body, asked) => notEmpty(rows(body, '', rawPrice, asked, { token: 'tokenAddress' })),
  madeAtMs: newestOf,
}

const tokensRoute: Route<undefined, readonly OracleToken[]> = {
  path: '/tokens',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: 60_000,
  decode: (body, asked) => notEmpty(rowsOrField(body, 'tokens', oracleToken, asked, { token: 'address' })),
}

/** Candles to read. */
export interface CandlesQuery {
  /** The oracle's symbol, `ETH`. */
  readonly tokenSymbol: string
  readonly period: CandlePeriod
  /** 1 to 10000. */
  readonly limit: number
}

const CANDLE_LIMIT_MAX = 10_000
/** The smallest number of candles that is asked for. */
const CANDLE_LIMIT_STEP = 25

/**
 * Returns how many candles to request: the next of 25, 50, 100, ..., 10000. So strategies that look back differently far on one token share one
 * request. A limit out of range is passed on for the service to refuse.
 */
function askedLimit(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > CANDLE_LIMIT_MAX) return limit
  let asked = CANDLE_LIMIT_STEP
  while (asked < limit) asked *= 2
  return Math.min(asked, CANDLE_LIMIT_MAX)
}

const SHORT_CANDLE_CACHE_MS = 15_000
const LONG_CANDLE_CACHE_MS = 60_000

const candlesRoute: Route<CandlesQuery, readonly Candle[]> = {
  path: '/prices/candles',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: ({ period }) =>
    period === '1m' || period === '5m' ? SHORT_CANDLE_CACHE_MS : LONG_CANDLE_CACHE_MS,
  timeoutMs: ROUTE_TIMEOUT_MS,
  isHistory: true,
  query: ({ tokenSymbol, period, limit }) => ({ tokenSymbol, period, limit: askedLimit(limit) }),
  decode: (body, { input, last }) => {
    const { period, candles } = object(body)
    // Candles of another period would be read as signals of this one.
    if (period !== undefined && period !== input.period) {
      throw new Malformed('period', `is not ${input.period}`, period, true)
    }
    return candlesAfter(candles, last) ?? ascending(list(candles, 'candles', candle))
  },
}

const marketsStateRoute: Route<undefined, ReadonlyMap<string, MarketStatus>> = {
  path: '/markets/state',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: 5_000,
  decode: marketStates,
}

/** Reads whether the service reports itself healthy (`GET /ping`). A service without its database answers 500: UnreachableError. */
export function ping(transport: Transport, options?: CallOptions): Promise<Read<boolean>> {
  return transport.call(pingRoute, undefined, options)
}

/**
 * Latest prices of all tokens whose decimals are known, as USD with 30 decimals per whole token
 * (docs/reference/api-coverage.md O1). Tokens that `decimalsOf` does not know, and records with a
 * price of zero, are left out: they have no price that can be said.
 */
export async function getPrices(
  transport: Transport,
  decimalsOf: DecimalsOf,
  options?: CallOptions,
): Promise<Read<readonly OraclePrice[]>> {
  const read = await transport.call(tickersRoute, undefined, options)
  return mapRead(read, (rows) => {
    const last = lastLists.get(rows)
    if (last?.decimalsOf === decimalsOf) return last.prices
    const prices: OraclePrice[] = []
    for (const row of rows) {
      const decimals = decimalsOf(row.tokenAddress)
      if (decimals === undefined || row.min === 0n) continue
      prices.push(priceOf(row, decimals))
    }
    lastLists.set(rows, { decimalsOf, prices })
    return prices
  })
}

const lastLists = new WeakMap<
  readonly RawPrice[],
  { readonly decimalsOf: DecimalsOf; readonly prices: readonly OraclePrice[] }
>()

// The rows of one answer are shared by all who read it, and nearly always with the same decimals.
const lastPrices = new WeakMap<RawPrice, { readonly decimals: number; readonly price: OraclePrice }>()

function priceOf(row: RawPrice, decimals: number): OraclePrice {
  const last = lastPrices.get(row)
  if (last?.decimals === decimals) return last.price
  const price: OraclePrice = {
    tokenSymbol: row.tokenSymbol,
    tokenAddress: row.tokenAddress,
    minPrice: oraclePriceToUsd(row.min, decimals, row.oracleDecimals),
    maxPrice: oraclePriceToUsd(row.max, decimals, row.oracleDecimals),
    medianPrice: oraclePriceToUsd(row.median, decimals, row.oracleDecimals),
    updatedAtSeconds: row.updatedAtSeconds,
  }
  lastPrices.set(row, { decimals, price })
  return price
}

/**
 * The newest candles of one token, ascending by time, the running one last (`GET /prices/candles`; the wire has them newest
 * first). Markets of one index token have one symbol, and share the request whatever their limits are. An unknown symbol
 * is refused by the service: RefusedError.
 */
export async function getCandles(
  transport: Transport,
  query: CandlesQuery,
  options?: CallOptions,
): Promise<Read<readonly Candle[]>> {
  const read = await transport.call(candlesRoute, query, options)
  return mapRead(read, (candles) => newestCandles(candles, query.limit))
}

/** The newest of each answer, by their number: strategies that share an answer share the list, and all that is derived from it. */
const newestOfAnswer = new WeakMap<readonly Candle[], Map<number, readonly Candle[]>>()

function newestCandles(candles: readonly Candle[], limit: number): readonly Candle[] {
  const lists = newestOfAnswer.get(candles) ?? new Map<number, readonly Candle[]>()
  newestOfAnswer.set(candles, lists)
  const newest = lists.get(limit) ?? candles.slice(-limit)
  lists.set(limit, newest)
  return newest
}

/** Tokens that the oracle prices, with the decimals that its prices need where it says them (`GET /tokens`). */
export function getOracleTokens(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly OracleToken[]>> {
  return transport.call(tokensRoute, undefined, options)
}

/**
 * Reads whether each market trades, by lower-cased market token (`GET /markets/state`). Any word but `open` and `closed` becomes `unknown`, and so
 * does a market that is not in the map.
 */
export function getMarketsState(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<ReadonlyMap<string, MarketStatus>>> {
  return transport.call(marketsStateRoute, undefined, options)
}

/** Stamp of the youngest price, Unix ms: the service goes on or stands still as a whole. */
function newestOf(prices: readonly RawPrice[]): number {
  return prices.reduce((newest, { updatedAtSeconds }) => Math.max(newest, updatedAtSeconds), 0) * 1000
}

function notEmpty<T>(rows: readonly T[]): readonly T[] {
  if (rows.length === 0) throw new Malformed('', 'is an empty list', rows)
  return rows
}

function rawPrice(value: unknown): RawPrice {
  const row = object(value)
  const min = uint(row.minPrice, 'minPrice')
  const max = uint(row.maxPrice, 'maxPrice')
  const median = optional(row.medianPrice, 'medianPrice', uint) ?? (min + max) / 2n
  if (min > median || median > max) {
    throw new Malformed('medianPrice', 'is not between minPrice and maxPrice', row.medianPrice)
  }
  return {
    tokenSymbol: word(row.tokenSymbol, 'tokenSymbol'),
    tokenAddress: address(row.tokenAddress, 'tokenAddress'),
    min,
    max,
    median,
    oracleDecimals: optional(row.oracleDecimals, 'oracleDecimals', tokenDecimals) ?? 0,
    updatedAtSeconds: unixSeconds(row.updatedAt, 'updatedAt'),
  }
}

function oracleToken(value: unknown): OracleToken {
  const row = object(value)
  return {
    symbol: word(row.symbol, 'symbol'),
    address: address(row.address, 'address'),
    decimals: optional(row.decimals, 'decimals', tokenDecimals),
    isSynthetic: optional(row.synthetic, 'synthetic', boolean) ?? false,
  }
}

const CANDLE_PARTS = 5

function candle(value: unknown): Candle {
  if (!Array.isArray(value) || value.length < CANDLE_PARTS) {
    throw new Malformed('', 'is not a candle of five numbers', value)
  }
  const timestampSeconds = unixSeconds(value[0], '[0]')
  const open = price(value[1], '[1]')
  const high = price(value[2], '[2]')
  const low = price(value[3], '[3]')
  const close = price(value[4], '[4]')
  if (high < low) throw new Malformed('[2]', 'is a high below the low', value[2])
  return { timestampSeconds, open, high, low, close }
}

function price(value: unknown, name: string): number {
  const number = float(value, name)
  if (number <= 0) throw new Malformed(name, 'is not a positive price', value)
  return number
}

function ascending(newestFirst: readonly Candle[]): readonly Candle[] {
  const candles = newestFirst.toReversed()
  let isOrdered = true
  for (let index = 1; index < candles.length; index++) {
    const before = candles[index - 1]
    const after = candles[index]
    if (before && after && before.timestampSeconds >= after.timestampSeconds) isOrdered = false
  }
  if (isOrdered) return candles
  // When two candles have the same time, the one that came first on the wire is the newer.
  const byTime = new Map(candles.map((each) => [each.timestampSeconds, each]))
  return [...byTime.values()].sort((one, other) => one.timestampSeconds - other.timestampSeconds)
}

/**
 * Candles of which all but the newest were in the last answer, and were decoded then; undefined where these do not follow it row by row. The last
 * answer's own newest row was running, and is decoded anew.
 */
function candlesAfter(rows: unknown, last: RouteQuery<CandlesQuery>['last']): readonly Candle[] | undefined {
  if (last === undefined || !Array.isArray(rows)) return undefined
  const lastRows = object(last.body).candles
  const decoded = last.value as readonly Candle[]
  if (!Array.isArray(lastRows) || lastRows.length < 2 || decoded.length !== lastRows.length) return undefined
  const first = rows.indexOf(lastRows[1])
  const shared = rows.length - first
  if (first < 1 || shared > lastRows.length - 1) return undefined
  const newest = decoded.length - 2
  for (let at = 0; at < shared; at += 1) {
    const row: unknown = rows[first + at]
    const isSame = row === lastRows[at + 1] && Array.isArray(row)
    if (!isSame || row[0] !== decoded[newest - at]?.timestampSeconds) return undefined
  }
  const known = decoded.slice(newest + 1 - shared, newest + 1)
  // With one row that is known, so that the order is judged across the seam.
  const fresh = ascending(list(rows.slice(0, first + 1), 'candles', candle))
  const isInOrder =
    fresh.length === first + 1 && fresh[0]?.timestampSeconds === decoded[newest]?.timestampSeconds
  return isInOrder ? [...known, ...fresh.slice(1)] : undefined
}

function statusOf(value: unknown): MarketStatus {
  return value === 'open' || value === 'closed' ? value : 'unknown'
}

const byToken = { market: 'marketToken' } as const

/** The shape is not documented; rows, and a map by address, are both read. A market whose row cannot be read is not in it. */
function marketStates(body: unknown, asked: RouteQuery<undefined>): ReadonlyMap<string, MarketStatus> {
  const states = new Map<string, MarketStatus>()
  const add = (row: Fields) => {
    const token = address(row.marketToken ?? row.marketTokenAddress, 'marketToken')
    states.set(hexKey(token), statusOf(row.status))
  }
  if (Array.isArray(body)) {
    rows(body, '', (row) => add(object(row)), asked, byToken)
    return states
  }
  const fields = object(body)
  if (Array.isArray(fields.markets)) {
    rows(fields.markets, 'markets', (row) => add(object(row)), asked, byToken)
    return states
  }
  const byAddress = fields.markets === undefined ? fields : object(fields.markets, 'markets')
  for (const [key, value] of Object.entries(byAddress)) {
    const token = lenient(key, key, address)
    if (token === undefined) {
      asked.missing.push({ problem: `the key ${key} is not an address` })
      continue
    }
    const isRow = typeof value === 'object' && value !== null
    states.set(hexKey(token), statusOf(isRow ? (value as Fields).status : value))
  }
  return states
}
