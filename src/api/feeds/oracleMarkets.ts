/**
 * The oracle service's markets and signed prices: second opinions, and what keepers put on chain (docs/reference/api-coverage.md O1
 * to O13).
 */
import type { Address, Hex } from '../../protocol/address.ts'
import type { Token } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  address,
  boolean,
  count,
  factor,
  float,
  hex,
  int,
  object,
  optional,
  present,
  string,
  tokenDecimals,
  uint,
  unixSeconds,
  usd30,
  word,
} from '../decode/decode.ts'
import { rows, rowsOrField } from '../rows/listRows.ts'
import { token } from '../rows/tokenRow.ts'
import { type CallOptions, COALESCE_MS, type Read, type Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** A market as the oracle lists it; join by `marketToken`, names differ between the APIs. */
export interface OracleMarket {
  readonly name: string
  readonly marketToken: Address
  /** The zero address for a market that only swaps. */
  readonly indexToken: Address
  readonly longToken: Address
  readonly shortToken: Address
  readonly isListed: boolean
  /** ISO 8601. */
  readonly listingDate?: string
}

/**
 * Near-live figures of a market. Units of rates are not documented: a cross-check for people, never to trade on; the
 * available liquidity of this route is not decoded, capacity comes from the application API.
 */
export interface OracleMarketInfo extends OracleMarket {
  readonly openInterestLongUsd?: Usd
  readonly openInterestShortUsd?: Usd
  readonly poolAmountLong?: bigint
  readonly poolAmountShort?: bigint
  readonly fundingRateLong?: bigint
  readonly fundingRateShort?: bigint
  readonly borrowingRateLong?: bigint
  readonly borrowingRateShort?: bigint
  readonly netRateLong?: bigint
  readonly netRateShort?: bigint
  readonly isDisabled?: boolean
}

/** A price with the oracle's signature, to be copied into a transaction. Prices stay as signed (document, "Price encoding"). */
export interface SignedPrice {
  readonly tokenSymbol: string
  readonly tokenAddress: Address
  readonly minOraclePrice: bigint
  readonly maxOraclePrice: bigint
  readonly medianOraclePrice: bigint
  readonly oracleDecimals: number
  readonly signer: Address
  readonly signature: Hex
  readonly signatureWithoutBlockHash: Hex
  readonly tokenOracleType: number
  readonly salt: Hex
  readonly minBlockNumber: number
  readonly minBlockTimestampSeconds: number
  readonly minBlockHash: Hex
  readonly maxBlockNumber: number
  readonly maxBlockTimestampSeconds: number
  readonly maxBlockHash: Hex
  /** May carry a fraction. */
  readonly createdAtSeconds: number
}

const byMarket = { market: 'marketToken' } as const

const marketsRoute: Route<undefined, readonly OracleMarket[]> = {
  path: '/markets',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: 10_000,
  decode: (body, asked) => rowsOrField(body, 'markets', oracleMarket, asked, byMarket),
}

const marketsInfoRoute: Route<undefined, readonly OracleMarketInfo[]> = {
  path: '/markets/info',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: 10_000,
  decode: (body, asked) => rowsOrField(body, 'markets', oracleMarketInfo, asked, byMarket),
}

const tokensInfoRoute: Route<undefined, readonly Token[]> = {
  path: '/tokens/info',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: COALESCE_MS,
  decode: (body, asked) => rowsOrField(body, 'tokens', token, asked, { token: 'address' }),
}

const signedPricesRoute: Route<undefined, readonly SignedPrice[]> = {
  path: '/signed_prices/latest',
  method: 'GET',
  service: 'oracle',
  kind: 'read',
  cacheMs: 1_000,
  timeoutMs: 10_000,
  decode: (body, asked) =>
    rows(object(body).signedPrices, 'signedPrices', signedPrice, asked, { token: 'tokenAddress' }),
}

/** The oracle's market catalog (`GET /markets`). */
export function getOracleMarkets(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly OracleMarket[]>> {
  return transport.call(marketsRoute, undefined, options)
}

/** The oracle's near-live market figures (`GET /markets/info`). */
export function getOracleMarketsInfo(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly OracleMarketInfo[]>> {
  return transport.call(marketsInfoRoute, undefined, options)
}

/** The oracle's tokens with prices (`GET /tokens/info`); read in the application API's shape. */
export function getOracleTokensInfo(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly Token[]>> {
  return transport.call(tokensInfoRoute, undefined, options)
}

/** Latest signed prices (`GET /signed_prices/latest`). Orders through the application API do not need them. */
export function getSignedPrices(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly SignedPrice[]>> {
  return transport.call(signedPricesRoute, undefined, options)
}

function oracleMarket(value: unknown): OracleMarket {
  const row = object(value)
  return {
    name: word(row.name, 'name'),
    marketToken: address(row.marketToken, 'marketToken'),
    indexToken: address(row.indexToken, 'indexToken'),
    longToken: address(row.longToken, 'longToken'),
    shortToken: address(row.shortToken, 'shortToken'),
    isListed: boolean(row.isListed, 'isListed'),
    ...present({ listingDate: optional(row.listingDate, 'listingDate', string) }),
  }
}

function oracleMarketInfo(value: unknown): OracleMarketInfo {
  const row = object(value)
  return {
    ...oracleMarket(row),
    ...present({
      openInterestLongUsd: optional(row.openInterestLong, 'openInterestLong', usd30),
      openInterestShortUsd: optional(row.openInterestShort, 'openInterestShort', usd30),
      poolAmountLong: optional(row.poolAmountLong, 'poolAmountLong', uint),
      poolAmountShort: optional(row.poolAmountShort, 'poolAmountShort', uint),
      fundingRateLong: optional(row.fundingRateLong, 'fundingRateLong', factor),
      fundingRateShort: optional(row.fundingRateShort, 'fundingRateShort', factor),
      borrowingRateLong: optional(row.borrowingRateLong, 'borrowingRateLong', factor),
      borrowingRateShort: optional(row.borrowingRateShort, 'borrowingRateShort', factor),
      netRateLong: optional(row.netRateLong, 'netRateLong', int),
      netRateShort: optional(row.netRateShort, 'netRateShort', int),
      isDisabled: optional(row.isDisabled, 'isDisabled', boolean),
    }),
  }
}

function signedPrice(value: unknown): SignedPrice {
  const row = object(value)
  return {
    tokenSymbol: word(row.tokenSymbol, 'tokenSymbol'),
    tokenAddress: address(row.tokenAddress, 'tokenAddress'),
    minOraclePrice: uint(row.minPrice, 'minPrice'),
    maxOraclePrice: uint(row.maxPrice, 'maxPrice'),
    medianOraclePrice: uint(row.medianPrice, 'medianPrice'),
    oracleDecimals: tokenDecimals(row.oracleDecimals, 'oracleDecimals'),
    signer: address(row.signer, 'signer'),
    signature: hex(row.signature, 'signature'),
    signatureWithoutBlockHash: hex(row.signatureWithoutBlockHash, 'signatureWithoutBlockHash'),
    tokenOracleType: count(row.tokenOracleType, 'tokenOracleType'),
    salt: hex(row.salt, 'salt'),
    minBlockNumber: count(row.minBlockNumber, 'minBlockNumber'),
    minBlockTimestampSeconds: unixSeconds(row.minBlockTimestamp, 'minBlockTimestamp'),
    minBlockHash: hex(row.minBlockHash, 'minBlockHash'),
    maxBlockNumber: count(row.maxBlockNumber, 'maxBlockNumber'),
    maxBlockTimestampSeconds: unixSeconds(row.maxBlockTimestamp, 'maxBlockTimestamp'),
    maxBlockHash: hex(row.maxBlockHash, 'maxBlockHash'),
    createdAtSeconds: float(row.createdAt, 'createdAt'),
  }
}
