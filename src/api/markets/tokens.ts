/** Tokens, the pair feed and the risk oracle's markets of the application API. */
import type { Address } from '../../protocol/address.ts'
import { address, inside, list, object } from '../decode/decode.ts'
import { type Undocumented, undocumented } from '../decode/undocumented.ts'
import { rows } from '../rows/listRows.ts'
import { type Pair, pair, SOLANA_UNSERVED } from '../rows/pairRow.ts'
import { type TokenRow, token } from '../rows/tokenRow.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

const byAddress = { token: 'address' } as const

const tokensRoute: Route<undefined, readonly TokenRow[]> = {
  path: '/tokens',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 60_000,
  decode: (body, asked) => rows(body, '', token, asked, byAddress),
}

const tokensInfoRoute: Route<undefined, readonly TokenRow[]> = {
  path: '/tokens/info',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  decode: (body, asked) => rows(body, '', token, asked, byAddress),
}

/** Tokens of the chain without prices (`GET /tokens`). */
export function getTokens(transport: Transport, options?: CallOptions): Promise<Read<readonly TokenRow[]>> {
  return transport.call(tokensRoute, undefined, options)
}

/** Tokens of the chain with their prices, USD with 30 decimals (`GET /tokens/info`). */
export function getTokensInfo(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly TokenRow[]>> {
  return transport.call(tokensInfoRoute, undefined, options)
}

const PAIRS_CACHE_MS = 60_000

const pairsRoute: Route<undefined, readonly Pair[]> = {
  path: '/pairs',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: PAIRS_CACHE_MS,
  decode: (body, asked) => rows(body, '', pair, asked),
}

const solanaPairsRoute: Route<undefined, readonly Pair[]> = {
  ...pairsRoute,
  path: '/pairs/solana',
  unservedMeans: SOLANA_UNSERVED,
}

const riskOracleRoute: Route<undefined, Undocumented<readonly Address[]>> = {
  path: '/risk-oracle/markets',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 60_000,
  // Addresses, or rows that have one.
  decode: undocumented((body) =>
    list(body, '', (value, name) =>
      typeof value === 'string'
        ? address(value, name)
        : inside(value, name, (row) => address(object(row).marketTokenAddress, 'marketTokenAddress')),
    ),
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

/** Market tokens that the risk oracle expects to be active (`GET /risk-oracle/markets`). The payload is not documented. */
export function getRiskOracleMarkets(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<Undocumented<readonly Address[]>>> {
  return transport.call(riskOracleRoute, undefined, options)
}
