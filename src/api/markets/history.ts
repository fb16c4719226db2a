/**
 * History from the venue's indexer: rates, yields and performance, served by both APIs in the same shapes
 * (docs/reference/api-coverage.md GET /rates). For people and reports; no order is sized by it.
 */
import { type Address, hexKey } from '../../protocol/address.ts'
import {
  address,
  type Fields,
  factor,
  float,
  inside,
  list,
  object,
  oneOf,
  optional,
  present,
  string,
  unixSeconds,
} from '../decode/decode.ts'
import { rows } from '../rows/listRows.ts'
import type { Service } from '../transport/hosts.ts'
import type { CallOptions, Read, Route, RouteQuery } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Periods of history; always sent, defaults are not documented. */
export type HistoryPeriod = '1d' | '7d' | '30d' | '90d' | '180d' | '1y' | 'total'

/** Which rates. */
export interface RatesQuery {
  readonly period: HistoryPeriod
  readonly averageBy: '1d' | '7d' | '30d'
  /** One market token. */
  readonly marketToken?: Address
}

/** Rates of a market at one moment; factors with 30 decimals, signed. From an indexer, not real-time. */
export interface RatesSnapshot {
  readonly timestampSeconds: number
  readonly netRateLong: bigint
  readonly netRateShort: bigint
  readonly fundingRateLong: bigint
  readonly fundingRateShort: bigint
  readonly borrowingRateLong: bigint
  readonly borrowingRateShort: bigint
}

/** History of one market's rates. */
export interface MarketRates {
  readonly marketToken: Address
  readonly snapshots: readonly RatesSnapshot[]
}

/** Yield of one pool; fractions of 1. */
export interface PoolApy {
  readonly apy: number
  readonly baseApy: number
  readonly bonusApr: number
}

/** Yields by lower-cased address. */
export interface Apys {
  readonly markets: ReadonlyMap<string, PoolApy>
  readonly glvs: ReadonlyMap<string, PoolApy>
}

/** Period of the performance, and one pool or all. */
export interface PerformanceQuery {
  /** `1d` is refused by the venue. */
  readonly period: HistoryPeriod
  readonly pool?: Address
}

/** Performance of one pool, as decimal texts; which ones are there depends on the deployment. */
export interface PoolPerformance {
  readonly address: Address
  readonly entity: 'Market' | 'Glv' | 'unrecognised'
  readonly performance?: string
  readonly longTokenPerformance?: string
  readonly shortTokenPerformance?: string
  readonly uniswapV2Performance?: string
}

/** History of one pool's performance. */
export interface PerformanceHistory {
  readonly address: Address
  readonly entity: 'Market' | 'Glv' | 'unrecognised'
  readonly snapshots: readonly {
    readonly timestampSeconds: number
    readonly performance?: string
    readonly uniswapV2Performance?: string
  }[]
}

const HISTORY_CACHE_MS = 60_000
const historyRead = { method: 'GET', kind: 'read', cacheMs: HISTORY_CACHE_MS } as const

/** The function that asks a service for a route that both serve in the same shape. */
function reader<Query, Value>(
  route: Omit<Route<Query, Value>, 'service' | keyof typeof historyRead>,
  service: Service,
): (transport: Transport, query: Query, options?: CallOptions) => Promise<Read<Value>> {
  const ofService: Route<Query, Value> = { ...historyRead, ...route, service }
  return (transport, query, options) => transport.call(ofService, query, options)
}

const rates = {
  path: '/rates',
  query: ({ period, averageBy, marketToken }: RatesQuery) => ({ period, averageBy, address: marketToken }),
  decode: (body: unknown, asked: RouteQuery<unknown>): readonly MarketRates[] =>
    rows(body, '', marketRates, asked, { market: 'marketAddress' }),
}

const apy = {
  path: '/apy',
  query: ({ period }: { readonly period: HistoryPeriod }) => ({ period }),
  decode: (body: unknown, asked: RouteQuery<unknown>): Apys => {
    const fields = object(body)
    return {
      markets: inside(fields.markets, 'markets', (value) => apysByAddress(value, 'markets', asked)),
      glvs: inside(fields.glvs, 'glvs', (value) => apysByAddress(value, 'glvs', asked)),
    }
  },
}

const poolQuery = ({ period, pool }: PerformanceQuery) => ({ period, address: pool })

const annualized = {
  path: '/performance/annualized',
  query: poolQuery,
  decode: (body: unknown, asked: RouteQuery<unknown>): readonly PoolPerformance[] =>
    rows(body, '', poolPerformance, asked),
}

const performance = {
  path: '/performance/snapshots',
  query: poolQuery,
  decode: (body: unknown, asked: RouteQuery<unknown>): readonly PerformanceHistory[] =>
    rows(body, '', performanceHistory, asked),
}

/** History of funding and borrowing rates (`GET /rates` of the application API). */
export const getRates = reader(rates, 'api')

/** The same from the oracle service (`GET /rates`). */
export const getOracleRates = reader(rates, 'oracle')

/** Yields of pools and vaults (`GET /apy` of the application API). */
export const getApy = reader(apy, 'api')

/** The same from the oracle service (`GET /apy`). */
export const getOracleApy = reader(apy, 'oracle')

/** Annualized performance of pools (`GET /performance/annualized` of the application API). */
export const getPerformanceAnnualized = reader(annualized, 'api')

/** The same from the oracle service (`GET /performance/annualized`). */
export const getOraclePerformanceAnnualized = reader(annualized, 'oracle')

/** History of pools' performance (`GET /performance/snapshots` of the application API). */
export const getPerformanceSnapshots = reader(performance, 'api')

/** The same from the oracle service (`GET /performance/snapshots`). */
export const getOraclePerformanceSnapshots = reader(performance, 'oracle')

const entities = new Set(['Market', 'Glv'] as const)

function marketRates(value: unknown): MarketRates {
  const row = object(value)
  return {
    marketToken: address(row.marketAddress, 'marketAddress'),
    snapshots: list(row.ratesSnapshots, 'ratesSnapshots', ratesSnapshot),
  }
}

function performances(row: Fields) {
  return {
    performance: optional(row.performance, 'performance', string),
    uniswapV2Performance: optional(row.uniswapV2Performance, 'uniswapV2Performance', string),
  }
}

function poolPerformance(value: unknown): PoolPerformance {
  const row = object(value)
  return {
    address: address(row.address, 'address'),
    entity: oneOf(row.entity, 'entity', entities),
    ...present({
      ...performances(row),
      longTokenPerformance: optional(row.longTokenPerformance, 'longTokenPerformance', string),
      shortTokenPerformance: optional(row.shortTokenPerformance, 'shortTokenPerformance', string),
    }),
  }
}

function performanceHistory(value: unknown): PerformanceHistory {
  const row = object(value)
  return {
    address: address(row.address, 'address'),
    entity: oneOf(row.entity, 'entity', entities),
    snapshots: list(row.snapshots, 'snapshots', (each) => {
      const snapshot = object(each)
      return {
        timestampSeconds: unixSeconds(snapshot.snapshotTimestamp, 'snapshotTimestamp'),
        ...present(performances(snapshot)),
      }
    }),
  }
}

function ratesSnapshot(value: unknown): RatesSnapshot {
  const row = object(value)
  return {
    timestampSeconds: unixSeconds(row.timestamp, 'timestamp'),
    netRateLong: factor(row.netRateLong, 'netRateLong'),
    netRateShort: factor(row.netRateShort, 'netRateShort'),
    fundingRateLong: factor(row.fundingRateLong, 'fundingRateLong'),
    fundingRateShort: factor(row.fundingRateShort, 'fundingRateShort'),
    borrowingRateLong: factor(row.borrowingRateLong, 'borrowingRateLong'),
    borrowingRateShort: factor(row.borrowingRateShort, 'borrowingRateShort'),
  }
}

/** Yields by address; one that cannot be read costs itself. */
function apysByAddress(
  value: unknown,
  name: string,
  asked: RouteQuery<unknown>,
): ReadonlyMap<string, PoolApy> {
  const entries = Object.entries(object(value))
  const read = rows(
    entries,
    name,
    (entry) => {
      const [key, each] = entry as (typeof entries)[number]
      return [hexKey(address(key, 'key')), inside(each, key, poolApy)] as const
    },
    asked,
    { mayBeEmpty: true },
  )
  return new Map(read)
}

/** The documents call the third field `bonusApr`, one client type `bonusApy` (docs/reference/api-coverage.md GET /apy). */
function poolApy(value: unknown): PoolApy {
  const row = object(value)
  return {
    apy: float(row.apy, 'apy'),
    baseApy: float(row.baseApy, 'baseApy'),
    bonusApr: float(row.bonusApr ?? row.bonusApy, 'bonusApr'),
  }
}
