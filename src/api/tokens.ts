/** Tokens, the pair feed and the risk oracle's markets of the application API. */
import type { Address } from '../domain/address.ts'
import type { Token } from '../domain/market.ts'
import { address, float, inside, list, object, optional, present, unixSeconds, word } from './decode.ts'
import type { CallOptions, Read, Route } from './route.ts'
import { token } from './tokenRow.ts'
import type { Transport } from './transport.ts'

const tokensRoute: Route<undefined, readonly Token[]> = {
  path: '/tokens',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 60_000,
  decode: (body) => list(body, '', token),
}

const tokensInfoRoute: Route<undefined, readonly Token[]> = {
  path: '/tokens/info',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  decode: (body) => list(body, '', token),
}

/** Tokens of the chain without prices (`GET /tokens`). */
export function getTokens(transport: Transport, options?: CallOptions): Promise<Read<readonly Token[]>> {
  return transport.call(tokensRoute, undefined, options)
}

/** Tokens of the chain with their prices, USD with 30 decimals (`GET /tokens/info`). */
export function getTokensInfo(transport: Transport, options?: CallOptions): Promise<Read<readonly Token[]>> {
  return transport.call(tokensInfoRoute, undefined, options)
}

/** One perpetual in the feed for listings; plain floats, for people, never to trade on. */
export interface Pair {
  /** The market's symbol. */
  readonly tickerId: string
  readonly baseCurrency: string
  readonly targetCurrency: string
  readonly productType: string
  readonly lastPrice: number
  readonly baseVolume: number
  readonly targetVolume: number
  /** Market token; absent on Solana. */
  readonly poolId?: string
  readonly openInterest?: number
  readonly longOpenInterest?: number
  readonly shortOpenInterest?: number
  readonly high?: number
  readonly low?: number
  readonly fundingRate?: number
  readonly nextFundingRate?: number
  readonly nextFundingRateAtSeconds?: number
  readonly volumeUsd?: number
  readonly liquidityUsd?: number
}

const PAIRS_SHARE_MS = 60_000

const pairsRoute: Route<undefined, readonly Pair[]> = {
  path: '/pairs',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: PAIRS_SHARE_MS,
  decode: (body) => list(body, '', pair),
}

const solanaPairsRoute: Route<undefined, readonly Pair[]> = { ...pairsRoute, path: '/pairs/solana' }

const riskOracleRoute: Route<undefined, readonly Address[]> = {
  path: '/risk-oracle/markets',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 60_000,
  // The payload is not documented: addresses, or rows that have one.
  decode: (body) =>
    list(body, '', (value, name) =>
      typeof value === 'string'
        ? address(value, name)
        : inside(value, name, (row) => address(object(row).marketTokenAddress, 'marketTokenAddress')),
    ),
}

/** Perpetual pairs as listings read them (`GET /pairs`). */
export function getPairs(transport: Transport, options?: CallOptions): Promise<Read<readonly Pair[]>> {
  return transport.call(pairsRoute, undefined, options)
}

/** The Solana pairs (`GET /pairs/solana`); only the Arbitrum deployment has them, others answer 503: UnreachableError. */
export function getSolanaPairs(transport: Transport, options?: CallOptions): Promise<Read<readonly Pair[]>> {
  return transport.call(solanaPairsRoute, undefined, options)
}

/** Market tokens that the risk oracle expects to be active (`GET /risk-oracle/markets`). */
export function getRiskOracleMarkets(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly Address[]>> {
  return transport.call(riskOracleRoute, undefined, options)
}

function pair(value: unknown): Pair {
  const row = object(value)
  const maybe = (name: string) => optional(row[name], name, float)
  return {
    tickerId: word(row.ticker_id, 'ticker_id'),
    baseCurrency: word(row.base_currency, 'base_currency'),
    targetCurrency: word(row.target_currency, 'target_currency'),
    productType: word(row.product_type, 'product_type'),
    lastPrice: float(row.last_price, 'last_price'),
    baseVolume: float(row.base_volume, 'base_volume'),
    targetVolume: float(row.target_volume, 'target_volume'),
    ...present({
      poolId: optional(row.pool_id, 'pool_id', word),
      openInterest: maybe('open_interest'),
      longOpenInterest: maybe('long_open_interest'),
      shortOpenInterest: maybe('short_open_interest'),
      high: maybe('high'),
      low: maybe('low'),
      fundingRate: maybe('funding_rate'),
      nextFundingRate: maybe('next_funding_rate'),
      nextFundingRateAtSeconds: optional(
        row.next_funding_rate_timestamp,
        'next_funding_rate_timestamp',
        unixSeconds,
      ),
      volumeUsd: maybe('volume_usd'),
      liquidityUsd: maybe('liquidity_in_usd'),
    }),
  }
}
