/** Decodes a token of the application API's lists; the oracle's richer list has the same shape. */
import type { Token } from '../domain/market.ts'
import {
  address,
  boolean,
  type Fields,
  Malformed,
  object,
  optional,
  tokenDecimals,
  usd30,
  word,
} from './decode.ts'

function flag(row: Fields, name: string): boolean {
  return optional(row[name], name, boolean) ?? false
}

/** One token; flags that are absent are false, prices may be absent. Throws `Malformed`. */
export function token(value: unknown): Token {
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
