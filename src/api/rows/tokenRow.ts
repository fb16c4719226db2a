/** Decodes a token of the application API's lists; the oracle's richer list has the same shape. */
import type { Token } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  address,
  boolean,
  type Decoder,
  type Fields,
  float,
  list,
  Malformed,
  object,
  optional,
  string,
  tokenDecimals,
  uint,
  usd30,
  word,
} from '../decode/decode.ts'
import { type FieldsOf, fieldsOf } from '../decode/fieldTable.ts'

function flag(row: Fields, name: string): boolean {
  return optional(row[name], name, boolean) ?? false
}

const texts: Decoder<readonly string[]> = (value, name) => list(value, name, string)

/**
 * Further fields of a token. Balances and supply are in its own units. `visualMultiplier` and `visualPrefix` are for people:
 * amounts and prices stay per one token.
 */
const tokenTable = {
  name: ['name', string],
  assetSymbol: ['assetSymbol', string],
  baseSymbol: ['baseSymbol', string],
  visualMultiplier: ['visualMultiplier', float],
  visualPrefix: ['visualPrefix', string],
  wrappedAddress: ['wrappedAddress', address],
  metamaskSymbol: ['metamaskSymbol', string],
  explorerSymbol: ['explorerSymbol', string],
  explorerUrl: ['explorerUrl', string],
  reservesUrl: ['reservesUrl', string],
  imageUrl: ['imageUrl', string],
  categories: ['categories', texts],
  searchAliases: ['searchAliases', texts],
  isPermitSupported: ['isPermitSupported', boolean],
  isPermitDisabled: ['isPermitDisabled', boolean],
  contractVersion: ['contractVersion', anyText],
  isUsdg: ['isUsdg', boolean],
  isShortable: ['isShortable', boolean],
  isTempHidden: ['isTempHidden', boolean],
  isChartDisabled: ['isChartDisabled', boolean],
  isV1Available: ['isV1Available', boolean],
  isPlatformToken: ['isPlatformToken', boolean],
  isPlatformTradingToken: ['isPlatformTradingToken', boolean],
  isStaking: ['isStaking', boolean],
  hasPriceFeedProvider: ['hasPriceFeedProvider', boolean],
  balance: ['balance', uint],
  balanceType: ['balanceType', anyText],
  walletBalance: ['walletBalance', uint],
  gmxAccountBalance: ['gmxAccountBalance', uint],
  sourceChainBalance: ['sourceChainBalance', uint],
  totalSupply: ['totalSupply', uint],
} as const

/** A token with all that the wire says of it. */
export interface TokenRow extends Token, FieldsOf<typeof tokenTable> {}

// A word on one deployment, a number on another: nothing is decided by it.
function anyText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** One token; flags that are absent are false, prices may be absent. Throws `Malformed`. */
export function token(value: unknown): TokenRow {
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
    ...fieldsOf(row, tokenTable),
  }
}

function tokenPrices(value: unknown, name: string): { readonly minPrice?: Usd; readonly maxPrice?: Usd } {
  const prices = object(value, name)
  const minPrice = usd30(prices.minPrice, 'prices.minPrice')
  const maxPrice = usd30(prices.maxPrice, 'prices.maxPrice')
  if (minPrice > maxPrice) throw new Malformed('prices.minPrice', 'is above maxPrice', prices.minPrice)
  return { minPrice, maxPrice }
}
