/** Tokens of the application API. */
import type { Token } from '../domain/market.ts'
import {
  address,
  boolean,
  type Fields,
  list,
  Malformed,
  object,
  optional,
  tokenDecimals,
  usd30,
  word,
} from './decode.ts'
import type { CallOptions, Read, Route } from './route.ts'
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

function flag(row: Fields, name: string): boolean {
  return optional(row[name], name, boolean) ?? false
}

function token(value: unknown): Token {
  const row = object(value)
  return {
    symbol: word(row.symbol, 'symbol'),
    address: address(row.address, 'address'),
    decimals: tokenDecimals(row.decimals, 'decimals'),
    isStable: flag(row, 'isStable'),
    isNative: flag(row, 'isNative'),
    isWrapped: flag(row, 'isWrapped'),
    isSynthetic: flag(row, 'isSynthetic'),
    ...optional(row.prices, 'prices', tokenPrices),
  }
}

function tokenPrices(value: unknown, name: string): Pick<Token, 'minPrice' | 'maxPrice'> {
  const prices = object(value, name)
  const minPrice = usd30(prices.minPrice, 'prices.minPrice')
  const maxPrice = usd30(prices.maxPrice, 'prices.maxPrice')
  if (minPrice > maxPrice) throw new Malformed('prices.minPrice', 'is above maxPrice', prices.minPrice)
  return { minPrice, maxPrice }
}
