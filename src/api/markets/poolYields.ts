/**
 * Yield of pools and fee earnings of a wallet (docs/reference/api-coverage.md GET /yield/gm-pools and GET /yield/gm-user-earnings).
 */
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  address,
  type Decoder,
  float,
  inside,
  Malformed,
  object,
  optional,
  present,
  unixSeconds,
  usd30,
  word,
} from '../decode/decode.ts'
import { rows } from '../rows/listRows.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'
import type { HistoryPeriod } from './history.ts'

/** Which pools' yield. */
export interface GmPoolsQuery {
  readonly period: HistoryPeriod
  readonly pools?: readonly Address[]
  readonly includeComponents?: boolean
}

/**
 * Yield of one pool over a window; plain USD and fractions. A null is a figure that is not indexed, never zero
 * (docs/reference/api-coverage.md A7).
 */
export interface GmPool {
  readonly marketToken: Address
  /** Fees alone: no incentives, no trader PnL, no change of the backing tokens' prices. */
  readonly feeApy: number | null
  /** Positive: traders won, the pool lost. */
  readonly tradersPnlUsd: number | null
  readonly tradersPnlApr: number | null
  readonly timeWeightedPoolValueUsd: number | null
  /** Judge freshness by its end. A young pool has a shorter one. */
  readonly window: {
    /** Absent where the venue sends the end alone, as the document has it. */
    readonly period?: string | undefined
    readonly startTimestampSeconds?: number | undefined
    readonly endTimestampSeconds: number
  }
  readonly components?: {
    readonly realizedPnlLongUsd: number | null
    readonly realizedPnlShortUsd: number | null
    readonly unrealizedPnlLongUsd: number | null
    readonly unrealizedPnlShortUsd: number | null
  }
}

/**
 * Fee earnings of a wallet. Only pool tokens count that the wallet holds itself on this chain: not those in a platform
 * account, not bridged ones; vault earnings are not served. One row a pool token ever held, delisted pools included
 * (docs/reference/api-coverage.md GET /yield/gm-user-earnings).
 */
export interface GmUserEarnings {
  readonly account: Address
  readonly windowDays: number
  readonly startTimestampSeconds: number
  /** When it was calculated. */
  readonly endTimestampSeconds: number
  readonly pools: readonly {
    readonly marketToken: Address
    readonly lifetimeFeeUsd: Usd
    readonly recent7dFeeUsd: Usd
  }[]
}

const byMarket = { market: 'marketToken' } as const

const gmPoolsRoute: Route<GmPoolsQuery, readonly GmPool[]> = {
  path: '/yield/gm-pools',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_800_000,
  query: ({ period, pools, includeComponents }) => ({ period, pools, includeComponents }),
  decode: (body, asked) => rows(object(body).pools, 'pools', gmPool, asked, byMarket),
}

const earningsRoute: Route<{ readonly account: Address }, GmUserEarnings> = {
  path: '/yield/gm-user-earnings',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 2_000,
  unservedMeans: 'the earnings data is warming up, or this deployment has none',
  query: ({ account }) => ({ account }),
  decode: (body, asked) => {
    const fields = object(body)
    const window = object(fields.window, 'window')
    const account = address(fields.account, 'account')
    if (!sameHex(account, asked.input.account))
      throw new Malformed('account', `is not ${asked.input.account}`, account, true)
    return {
      account,
      windowDays: float(window.days, 'window.days'),
      startTimestampSeconds: unixSeconds(window.startTimestamp, 'window.startTimestamp'),
      endTimestampSeconds: unixSeconds(window.endTimestamp, 'window.endTimestamp'),
      pools: rows(fields.pools, 'pools', poolEarnings, asked, byMarket),
    }
  },
}

/** Fee yield and traders' PnL of pools (`GET /yield/gm-pools`). */
export function getGmPools(
  transport: Transport,
  query: GmPoolsQuery,
  options?: CallOptions,
): Promise<Read<readonly GmPool[]>> {
  return transport.call(gmPoolsRoute, query, options)
}

/** Fee earnings of a wallet (`GET /yield/gm-user-earnings`); while the venue warms up it answers 503: UnreachableError. */
export function getGmUserEarnings(
  transport: Transport,
  query: { readonly account: Address },
  options?: CallOptions,
): Promise<Read<GmUserEarnings>> {
  return transport.call(earningsRoute, query, options)
}

function poolEarnings(value: unknown): GmUserEarnings['pools'][number] {
  const pool = object(value)
  return {
    marketToken: address(pool.marketToken, 'marketToken'),
    lifetimeFeeUsd: usd30(pool.lifetimeFeeUsd, 'lifetimeFeeUsd'),
    recent7dFeeUsd: usd30(pool.recent7dFeeUsd, 'recent7dFeeUsd'),
  }
}

const orMissing: Decoder<number | null> = (value, name) => optional(value, name, float) ?? null

function gmPool(value: unknown): GmPool {
  const row = object(value)
  const window = object(row.window, 'window')
  return {
    marketToken: address(row.marketToken, 'marketToken'),
    feeApy: orMissing(row.feeApy, 'feeApy'),
    tradersPnlUsd: orMissing(row.tradersPnlUsd, 'tradersPnlUsd'),
    tradersPnlApr: orMissing(row.tradersPnlApr, 'tradersPnlApr'),
    timeWeightedPoolValueUsd: orMissing(row.timeWeightedPoolValue, 'timeWeightedPoolValue'),
    window: {
      ...present({
        period: optional(window.period, 'window.period', word),
        startTimestampSeconds: optional(window.startTimestamp, 'window.startTimestamp', unixSeconds),
      }),
      endTimestampSeconds: unixSeconds(window.endTimestamp, 'window.endTimestamp'),
    },
    ...present({
      components: optional(row.components, 'components', (components, name) =>
        inside(components, name, (inner) => {
          const parts = object(inner)
          return {
            realizedPnlLongUsd: orMissing(parts.realizedPnlLongUsd, 'realizedPnlLongUsd'),
            realizedPnlShortUsd: orMissing(parts.realizedPnlShortUsd, 'realizedPnlShortUsd'),
            unrealizedPnlLongUsd: orMissing(parts.unrealizedPnlLongUsd, 'unrealizedPnlLongUsd'),
            unrealizedPnlShortUsd: orMissing(parts.unrealizedPnlShortUsd, 'unrealizedPnlShortUsd'),
          }
        }),
      ),
    }),
  }
}
