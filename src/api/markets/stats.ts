/**
 * Stats of the whole protocol (docs/reference/api-coverage.md A8 and A9). Only the Arbitrum deployment computes them; other
 * hosts forward, redirect (308, followed) or answer 503. For reports, never to trade on.
 *
 * The documents name the parts of the answers but not their layout, so figures are kept by their dotted path as they come:
 * `total`, `byNetwork.arbitrum`, `byVersion.v2`. **A null is a figure that the source cannot provide; it is never zero.**
 */
import type { Usd } from '../../protocol/units.ts'
import {
  boolean,
  type Decoder,
  type Fields,
  float,
  inside,
  int,
  list,
  Malformed,
  object,
  oneOf,
  optional,
  present,
  string,
  word,
} from '../decode/decode.ts'
import { rows } from '../rows/listRows.ts'
import { figures, type StatsFigures, statCount } from '../rows/statsFigures.ts'
import type { CallOptions, Read, Route, RouteQuery } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Networks that have stats. */
export type StatsNetwork = 'arbitrum' | 'avalanche' | 'megaeth' | 'solana'

/** Versions of the protocol that have stats. */
export type StatsVersion = 'v1' | 'v2'

/** Metrics in USD, 30 decimals. */
export type StatsUsdMetric =
  | 'volume.perps'
  | 'volume.swaps'
  | 'volume.total'
  | 'fees.trading'
  | 'fees.swap'
  | 'fees.total'
  | 'revenue.protocol'
  | 'revenue.lp'

/** Metrics that count. Users are counted once a network and version, so sums can count one wallet more than once. */
export type StatsCountMetric = 'trades.perps' | 'trades.swaps' | 'users.active'

/** Which part of the protocol; lists are sent as repeated keys, absent ones do not filter. */
export interface StatsScope {
  readonly networks?: readonly StatsNetwork[]
  readonly versions?: readonly StatsVersion[]
}

/** Metric and range of a history of stats. */
export interface StatsTimeseriesQuery extends StatsScope {
  readonly metric: StatsUsdMetric | StatsCountMetric
  /** Default of the venue: `network`. */
  readonly groupBy?: 'network' | 'version' | 'none'
  /** Whole Unix seconds, floored by the venue to the UTC day. */
  readonly fromSeconds?: number
  readonly toSeconds?: number
}

/** Health of a source. `stale`: more than 900 s behind, and still counted in sums. */
export type SourceHealth = 'fresh' | 'stale' | 'missing' | 'unrecognised'

/** One source behind the stats. */
export interface StatsSource {
  readonly health: SourceHealth
  /** Lag of the source, seconds; null when it never reported any. */
  readonly lagSeconds: number | null
  readonly lastError: string | null
  readonly network?: string
  readonly version?: string
  /** Its name or id, where it has one. */
  readonly name?: string
}

/** Sources and completeness of the figures. */
export interface StatsMeta {
  /** `complete` only when every source in scope is fresh. */
  readonly completeness: 'complete' | 'partial' | 'unrecognised'
  readonly sources: readonly StatsSource[]
}

/** Cumulative figures of the protocol and those of the last 24 hours. */
export interface StatsSummary {
  readonly volumeUsd: StatsFigures<Usd>
  readonly feesUsd: StatsFigures<Usd>
  readonly revenueUsd: StatsFigures<Usd>
  readonly users: StatsFigures<number>
  /** `source`: a wallet counts once for each network and version it is active on, so totals can count it twice. */
  readonly usersDistinctness?: 'source' | 'unrecognised'
  readonly trades: StatsFigures<number>
  readonly volume24hUsd: StatsFigures<Usd>
  readonly fees24hUsd: StatsFigures<Usd>
  /** Open positions in index tokens at the current oracle mid price, as in `/pairs`. */
  readonly openInterestUsd: StatsFigures<Usd>
  readonly tvlUsd: StatsFigures<Usd>
  /** When the TVL was valued, Unix ms; null where it never was. */
  readonly tvlValuedAtMs: number | null
  readonly tvlPoolsValuedAtMs: number | null
  /** The totals in USD, `volume.total` among them. */
  readonly totalsUsd: StatsFigures<Usd>
  readonly totalUsers: StatsFigures<number>
  readonly totalTrades: StatsFigures<number>
  readonly meta: StatsMeta
}

/** One day of a metric. */
export interface StatsPoint<T> {
  /** Start of the UTC day, Unix seconds. */
  readonly daySeconds: number
  readonly value: T | null
  /** The day can still change. */
  readonly isProvisional: boolean
}

/** Points of one group. */
export interface StatsSeries<T> {
  /** The network or version; `total` where the answer is not grouped and names none. */
  readonly key: string
  readonly points: readonly StatsPoint<T>[]
}

/** History of one metric, in USD or in counts. */
export type StatsTimeseries =
  | {
      readonly metric: StatsUsdMetric
      readonly unit: 'usd30'
      readonly series: readonly StatsSeries<Usd>[]
      readonly meta?: StatsMeta
    }
  | {
      readonly metric: StatsCountMetric
      readonly unit: 'count'
      readonly series: readonly StatsSeries<number>[]
      readonly meta?: StatsMeta
    }

const statsRead = {
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 30_000,
  followsRedirect: true,
  unservedMeans: 'this deployment does not serve stats; the Arbitrum hosts do',
} as const

const summaryRoute: Route<StatsScope, StatsSummary> = {
  ...statsRead,
  path: '/stats/summary',
  query: ({ networks, versions }) => ({ networks, versions }),
  decode: summary,
}

const timeseriesRoute: Route<StatsTimeseriesQuery, Fields> = {
  ...statsRead,
  path: '/stats/timeseries',
  query: ({ metric, groupBy, networks, versions, fromSeconds, toSeconds }) => ({
    metric,
    groupBy,
    networks,
    versions,
    from: fromSeconds,
    to: toSeconds,
  }),
  decode: (body) => object(body),
}

const sourcesRoute: Route<undefined, readonly StatsSource[]> = {
  ...statsRead,
  path: '/stats/sources',
  decode: (body, asked) => rows(object(body).sources, 'sources', source, asked),
}

/** Figures of the protocol so far (`GET /stats/summary`). `meta` says how complete they are. */
export function getStatsSummary(
  transport: Transport,
  query: StatsScope = {},
  options?: CallOptions,
): Promise<Read<StatsSummary>> {
  return transport.call(summaryRoute, query, options)
}

/** One metric day by day (`GET /stats/timeseries`). */
export function getStatsTimeseries(
  transport: Transport,
  query: StatsTimeseriesQuery,
  options?: CallOptions,
): Promise<Read<StatsTimeseries>> {
  const route: Route<StatsTimeseriesQuery, StatsTimeseries> = {
    ...timeseriesRoute,
    decode: (body, asked) => timeseries(timeseriesRoute.decode(body, asked), query.metric, asked),
  }
  return transport.call(route, query, options)
}

/** The sources behind the stats and how fresh they are (`GET /stats/sources`). */
export function getStatsSources(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly StatsSource[]>> {
  return transport.call(sourcesRoute, undefined, options)
}

const healths = new Set(['fresh', 'stale', 'missing'] as const)
const completenesses = new Set(['complete', 'partial'] as const)
const distinctnesses = new Set(['source'] as const)

function source(value: unknown): StatsSource {
  const row = object(value)
  return {
    health: oneOf(row.health, 'health', healths),
    lagSeconds: optional(row.lagSeconds, 'lagSeconds', float) ?? null,
    lastError: optional(row.lastError, 'lastError', faultText) ?? null,
    ...present({
      network: optional(row.network, 'network', string),
      version: optional(row.version, 'version', string),
      name: optional(row.name ?? row.id ?? row.source, 'name', string),
    }),
  }
}

function faultText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

function meta(value: unknown, asked: RouteQuery<unknown>): StatsMeta {
  const fields = object(value)
  return {
    completeness: oneOf(fields.completeness, 'completeness', completenesses),
    sources: rows(fields.sources, 'sources', source, asked),
  }
}

function part<T>(fields: Fields, name: string, decode: Decoder<T>): StatsFigures<T> {
  return inside(fields[name], name, (value) => figures(value, decode))
}

const MILLISECONDS_FROM = 100_000_000_000

/** Unix seconds, Unix ms or ISO 8601, as Unix ms. */
function timeMs(value: unknown, name: string): number {
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (!Number.isSafeInteger(time) || time < 0) throw new Malformed(name, 'is not a time', value)
  return typeof value === 'number' && time < MILLISECONDS_FROM ? time * 1000 : time
}

function inner(fields: Fields, name: string): Fields {
  const value = fields[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

function summary(body: unknown, asked: RouteQuery<unknown>): StatsSummary {
  const fields = object(body)
  const totals = fields.totals === undefined ? {} : object(fields.totals, 'totals')
  const { users, trades, ...usdTotals } = totals
  const tvl = inner(fields, 'tvl')
  const distinctness =
    inner(fields, 'users').distinctness ?? inner(totals, 'users').distinctness ?? fields.distinctness
  return {
    volumeUsd: part(fields, 'volume', int),
    feesUsd: part(fields, 'fees', int),
    revenueUsd: part(fields, 'revenue', int),
    users: part(fields, 'users', statCount),
    ...present({
      usersDistinctness: optional(distinctness, 'users.distinctness', (value, name) =>
        oneOf(value, name, distinctnesses),
      ),
    }),
    trades: part(fields, 'trades', statCount),
    volume24hUsd: part(fields, 'volume24h', int),
    fees24hUsd: part(fields, 'fees24h', int),
    openInterestUsd: part(fields, 'openInterest', int),
    tvlUsd: part(fields, 'tvl', int),
    tvlValuedAtMs: optional(tvl.valuedAt, 'tvl.valuedAt', timeMs) ?? null,
    tvlPoolsValuedAtMs: optional(tvl.poolsValuedAt, 'tvl.poolsValuedAt', timeMs) ?? null,
    totalsUsd: inside(usdTotals, 'totals', (value) => figures(value, int)),
    totalUsers: inside(users, 'totals.users', (value) => figures(value, statCount)),
    totalTrades: inside(trades, 'totals.trades', (value) => figures(value, statCount)),
    meta: inside(fields.meta, 'meta', (value) => meta(value, asked)),
  }
}

function series<T>(body: Fields, decode: Decoder<T>, asked: RouteQuery<unknown>): readonly StatsSeries<T>[] {
  const one = (value: unknown): StatsSeries<T> => {
    const row = object(value)
    return {
      key: optional(row.key, 'key', word) ?? 'total',
      points: list(row.points, 'points', (each) => {
        const point = object(each)
        return {
          daySeconds: Math.floor(timeMs(point.day, 'day') / 1000),
          value: point.value === null ? null : decode(point.value, 'value'),
          isProvisional: optional(point.provisional, 'provisional', boolean) ?? false,
        }
      }),
    }
  }
  return rows(body.series, 'series', one, asked)
}

const countMetrics: ReadonlySet<string> = new Set<StatsCountMetric>([
  'trades.perps',
  'trades.swaps',
  'users.active',
])

function isCountMetric(metric: StatsUsdMetric | StatsCountMetric): metric is StatsCountMetric {
  return countMetrics.has(metric)
}

function timeseries(
  body: Fields,
  metric: StatsUsdMetric | StatsCountMetric,
  asked: RouteQuery<unknown>,
): StatsTimeseries {
  // Read by the unit that was asked for: an answer of another metric would be misread.
  if (body.metric !== undefined && body.metric !== metric) {
    throw new Malformed('metric', `is not ${metric}`, body.metric)
  }
  const common = present({
    meta: optional(body.meta, 'meta', (value, name) => inside(value, name, (inner) => meta(inner, asked))),
  })
  return isCountMetric(metric)
    ? { metric, unit: 'count', series: series(body, statCount, asked), ...common }
    : { metric, unit: 'usd30', series: series(body, int, asked), ...common }
}
