/**
 * History from the venue's indexer: rates, yields and performance, served by both APIs in the same shapes
 * (docs/api-coverage.md GET /rates). For people and reports; no order is sized by it.
 */
import { type Address, hexKey } from '../../protocol/address.ts'
import {
  address,
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
import type { Service } from '../transport/hosts.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transport.ts'

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

/** Of which period, and of one pool or all. */
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

function ratesRoute(service: Service): Route<RatesQuery, readonly MarketRates[]> {
  return {
    ...historyRead,
    path: '/rates',
    service,
    query: ({ period, averageBy, marketToken }) => ({ period, averageBy, address: marketToken }),
    decode: (body) =>
      list(body, '', (value) => {
        const row = object(value)
        return {
          marketToken: address(row.marketAddress, 'marketAddress'),
          snapshots: list(row.ratesSnapshots, 'ratesSnapshots', ratesSnapshot),
        }
      }),
  }
}

function apyRoute(service: Service): Route<{ readonly period: HistoryPeriod }, Apys> {
  return {
    ...historyRead,
    path: '/apy',
    service,
    query: ({ period }) => ({ period }),
    decode: (body) => {
      const fields = object(body)
      return {
        markets: inside(fields.markets, 'markets', apysByAddress),
        glvs: inside(fields.glvs, 'glvs', apysByAddress),
      }
    },
  }
}

function annualizedRoute(service: Service): Route<PerformanceQuery, readonly PoolPerformance[]> {
  return {
    ...historyRead,
    path: '/performance/annualized',
    service,
    query: ({ period, pool }) => ({ period, address: pool }),
    decode: (body) =>
      list(body, '', (value) => {
        const row = object(value)
        return {
          address: address(row.address, 'address'),
          entity: oneOf(row.entity, 'entity', entities),
          ...present({
            performance: optional(row.performance, 'performance', string),
            longTokenPerformance: optional(row.longTokenPerformance, 'longTokenPerformance', string),
            shortTokenPerformance: optional(row.shortTokenPerformance, 'shortTokenPerformance', string),
            uniswapV2Performance: optional(row.uniswapV2Performance, 'uniswapV2Performance', string),
          }),
        }
      }),
  }
}

function performanceRoute(service: Service): Route<PerformanceQuery, readonly PerformanceHistory[]> {
  return {
    ...historyRead,
    path: '/performance/snapshots',
    service,
    query: ({ period, pool }) => ({ period, address: pool }),
    decode: (body) =>
      list(body, '', (value) => {
        const row = object(value)
        return {
          address: address(row.address, 'address'),
          entity: oneOf(row.entity, 'entity', entities),
          snapshots: list(row.snapshots, 'snapshots', (each) => {
            const snapshot = object(each)
            return {
              timestampSeconds: unixSeconds(snapshot.snapshotTimestamp, 'snapshotTimestamp'),
              ...present({
                performance: optional(snapshot.performance, 'performance', string),
                uniswapV2Performance: optional(snapshot.uniswapV2Performance, 'uniswapV2Performance', string),
              }),
            }
          }),
        }
      }),
  }
}

const appRates = ratesRoute('api')
const oracleRates = ratesRoute('oracle')
const appApy = apyRoute('api')
const oracleApy = apyRoute('oracle')
const appAnnualized = annualizedRoute('api')
const oracleAnnualized = annualizedRoute('oracle')
const appPerformance = performanceRoute('api')
const oraclePerformance = performanceRoute('oracle')

/** History of funding and borrowing rates (`GET /rates` of the application API). */
export function getRates(
  transport: Transport,
  query: RatesQuery,
  options?: CallOptions,
): Promise<Read<readonly MarketRates[]>> {
  return transport.call(appRates, query, options)
}

/** The same from the oracle service (`GET /rates`). */
export function getOracleRates(
  transport: Transport,
  query: RatesQuery,
  options?: CallOptions,
): Promise<Read<readonly MarketRates[]>> {
  return transport.call(oracleRates, query, options)
}

/** Yields of pools and vaults (`GET /apy` of the application API). */
export function getApy(
  transport: Transport,
  query: { readonly period: HistoryPeriod },
  options?: CallOptions,
): Promise<Read<Apys>> {
  return transport.call(appApy, query, options)
}

/** The same from the oracle service (`GET /apy`). */
export function getOracleApy(
  transport: Transport,
  query: { readonly period: HistoryPeriod },
  options?: CallOptions,
): Promise<Read<Apys>> {
  return transport.call(oracleApy, query, options)
}

/** Annualized performance of pools (`GET /performance/annualized` of the application API). */
export function getPerformanceAnnualized(
  transport: Transport,
  query: PerformanceQuery,
  options?: CallOptions,
): Promise<Read<readonly PoolPerformance[]>> {
  return transport.call(appAnnualized, query, options)
}

/** The same from the oracle service (`GET /performance/annualized`). */
export function getOraclePerformanceAnnualized(
  transport: Transport,
  query: PerformanceQuery,
  options?: CallOptions,
): Promise<Read<readonly PoolPerformance[]>> {
  return transport.call(oracleAnnualized, query, options)
}

/** History of pools' performance (`GET /performance/snapshots` of the application API). */
export function getPerformanceSnapshots(
  transport: Transport,
  query: PerformanceQuery,
  options?: CallOptions,
): Promise<Read<readonly PerformanceHistory[]>> {
  return transport.call(appPerformance, query, options)
}

/** The same from the oracle service (`GET /performance/snapshots`). */
export function getOraclePerformanceSnapshots(
  transport: Transport,
  query: PerformanceQuery,
  options?: CallOptions,
): Promise<Read<readonly PerformanceHistory[]>> {
  return transport.call(oraclePerformance, query, options)
}

const entities = new Set(['Market', 'Glv'] as const)

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

function apysByAddress(value: unknown): ReadonlyMap<string, PoolApy> {
  const apys = new Map<string, PoolApy>()
  for (const [key, each] of Object.entries(object(value))) {
    const token = inside(key, `key ${key}`, (text) => address(text, ''))
    apys.set(hexKey(token), inside(each, key, poolApy))
  }
  return apys
}

/** The documents call the third field `bonusApr`, one client type `bonusApy` (docs/api-coverage.md GET /apy). */
function poolApy(value: unknown): PoolApy {
  const row = object(value)
  return {
    apy: float(row.apy, 'apy'),
    baseApy: float(row.baseApy, 'baseApy'),
    bonusApr: float(row.bonusApr ?? row.bonusApy, 'bonusApr'),
  }
}
