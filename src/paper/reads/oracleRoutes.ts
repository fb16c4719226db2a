/** The oracle price service on the wire (docs/reference/api-coverage.md O1 to O13). */
import { defined } from '../../base/defined.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import { type CandlePeriod, periodSeconds } from '../../protocol/market.ts'
import type { Candles, PathCandle } from '../catalog/candles.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { HttpFailure, type Json } from '../http/http.ts'
import { listed } from '../http/yieldToEventLoop.ts'
import { legacyAvailableLiquidity } from '../math/capacity.ts'
import { interestUsd, type PricePair, slotValue } from '../math/marketState.ts'
import { hourlyRates, isListed } from '../pools/marketRows.ts'
import { vaultTokensOf } from '../pools/vaultTokens.ts'
import { namesMarket } from '../state/dataFaults.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { marketPrices, tokenPrice, type VenueState } from '../state/venueState.ts'

/** The oracle's name of a token. */
function oracleSymbolOf(token: CatalogToken): string {
  return token.oracleSymbol ?? token.symbol
}

/** Tokens the oracle prices, in catalogue order. */
function oracleTokens(venueState: VenueState): CatalogToken[] {
  return venueState.prices.tokens.flatMap((key) => venueState.catalog.tokenByAddress.get(key) ?? [])
}

/** A ticker; values are contract prices, so `oracleDecimals` is 0. */
function ticker(symbol: string, address: Address, price: PricePair, seconds: number): Record<string, Json> {
  return {
    tokenSymbol: symbol,
    tokenAddress: address,
    minPrice: price.min.toString(),
    maxPrice: price.max.toString(),
    medianPrice: ((price.min + price.max) / 2n).toString(),
    oracleDecimals: 0,
    updatedAt: seconds,
    timestamp: seconds,
  }
}

/** Tickers of the tokens that the oracle signs prices of. */
export function tokenTickers(venueState: VenueState, nowMs: number): readonly Record<string, Json>[] {
  const seconds = Math.floor(nowMs / 1000)
  return oracleTokens(venueState).map((token) =>
    ticker(oracleSymbolOf(token), token.address, tokenPrice(venueState, token, seconds), seconds),
  )
}

/** `/prices/tickers`: one element a token, those of the vaults last. */
export function oracleTickers(venueState: VenueState, nowMs: number): Json {
  const seconds = Math.floor(nowMs / 1000)
  const { tokens, prices } = vaultTokensOf(venueState)
  const ofVaults = tokens.flatMap(({ symbol, address }) => {
    const price = prices.at(hexKey(address), seconds)
    return price === undefined ? [] : [ticker(symbol, address, price, seconds)]
  })
  return [...tokenTickers(venueState, nowMs), ...ofVaults]
}

function oracleRefusal(text: string): HttpFailure {
  return new HttpFailure(400, { errors: [text] })
}

/** The token a candle request names: by oracle symbol, then by the application's, then by what a wrapped coin is of. */
function candleToken(venueState: VenueState, symbol: string): CatalogToken | undefined {
  const tokens = oracleTokens(venueState)
  return (
    tokens.find((token) => oracleSymbolOf(token) === symbol) ??
    tokens.find((token) => token.symbol === symbol || token.assetSymbol === symbol) ??
    tokens.find((token) => token.isWrapped && token.baseSymbol === symbol)
  )
}

/** Where the candles of a symbol come from. Throws HttpFailure 400 for a symbol that nothing has. */
function candleSource(
  venueState: VenueState,
  symbol: string,
): { readonly key: string; readonly decimals: number; readonly candles: Candles } {
  const token = candleToken(venueState, symbol)
  if (token !== undefined) {
    return {
      key: venueState.catalog.priceKeyOf(token),
      decimals: token.decimals,
      candles: venueState.candles,
    }
  }
  const { tokens, candles } = vaultTokensOf(venueState)
  const vault = tokens.find((one) => one.symbol === symbol)
  if (vault === undefined) throw oracleRefusal(`unknown tokenSymbol ${symbol}`)
  return { key: hexKey(vault.address), decimals: vault.decimals, candles }
}

/** Finished candles of a question as they were sent last, newest first: a later answer has the same rows, as the same objects. */
interface SentCandles {
  /** Start of the candle that ran then, Unix seconds. */
  readonly runningSeconds: number
  readonly rows: readonly Json[]
}

/** By token, period and limit. */
const sentCandles = new WeakMap<Candles, Map<string, SentCandles>>()
/** Most questions whose rows are kept; the oldest go first. */
const MAX_SENT = 64

/** `/prices/candles`. Throws HttpFailure 400 for a bad parameter. */
export async function oracleCandles(
  venueState: VenueState,
  query: URLSearchParams,
  nowMs: number,
): Promise<Json> {
  const symbol = query.get('tokenSymbol')
  const period = query.get('period')
  const limitText = query.get('limit') ?? '1000'
  if (symbol === null || symbol === '') throw oracleRefusal('tokenSymbol is required')
  if (period === null || !Object.hasOwn(periodSeconds, period)) {
    throw oracleRefusal(`period must be one of ${Object.keys(periodSeconds).join(', ')}`)
  }
  const limit = /^\d{1,5}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > 10_000) throw oracleRefusal('limit must be an integer from 1 to 10000')
  const { key, decimals, candles } = candleSource(venueState, symbol)
  // Candles are the one place where the wire carries prices as plain numbers.
  const scale = 10 ** (30 - decimals)
  const number = (contractPrice: bigint): number => Number(contractPrice) / scale
  const rowOf = ({ timestampSeconds, open, high, low, close }: PathCandle): Json => [
    timestampSeconds,
    ...[open, high, low, close].map(number),
  ]
  const seconds = Math.floor(nowMs / 1000)
  const length = periodSeconds[period as CandlePeriod]
  const runningSeconds = Math.floor(seconds / length) * length
  const sent = sentCandles.get(candles) ?? new Map<string, SentCandles>()
  sentCandles.set(candles, sent)
  const name = `${key}:${period}:${limit}`
  const last = sent.get(name)
  const steps = last === undefined ? limit : (runningSeconds - last.runningSeconds) / length
  const isNext = steps >= 0 && steps < limit
  const newest = candles.newest(key, period as CandlePeriod, isNext ? steps + 1 : limit, seconds)
  const fresh = await listed(newest, rowOf)
  const isWhole = !isNext || fresh.length < steps + 1
  const rows = isWhole ? fresh : [...fresh, ...(last?.rows ?? []).slice(0, limit - 1 - steps)]
  sent.delete(name)
  sent.set(name, { runningSeconds, rows: rows.slice(1) })
  if (sent.size > MAX_SENT) sent.delete(sent.keys().next().value ?? '')
  return { period, candles: rows }
}

/** `/tokens`, those of the vaults last. */
export function oracleTokenList(venueState: VenueState): Json {
  const tokens: Json[] = oracleTokens(venueState).map((token) => ({
    symbol: oracleSymbolOf(token),
    address: token.address,
    decimals: token.decimals,
    ...defined({ synthetic: token.isSynthetic ? true : undefined }),
  }))
  return { tokens: [...tokens, ...vaultTokensOf(venueState).tokens.map((token) => ({ ...token }))] }
}

function identity(venueState: VenueState, market: VenueMarket): Record<string, Json | undefined> {
  const { catalog } = market
  return {
    name: catalog.oracleName ?? catalog.symbol,
    marketToken: catalog.marketToken,
    indexToken: catalog.indexToken,
    longToken: catalog.longToken,
    shortToken: catalog.shortToken,
    isListed: isListed(venueState, market),
    listingDate: catalog.listingDate,
  }
}

/** `/markets`. */
export function oracleMarkets(venueState: VenueState): Json {
  return { markets: venueState.markets.map((market) => identity(venueState, market)) }
}

/** `/markets/info`; rates per hour. */
export function oracleMarketInfo(venueState: VenueState, nowMs: number): Json {
  const seconds = Math.floor(nowMs / 1000)
  return {
    markets: venueState.markets.map((market) => {
      const { settings, state } = market
      const prices = marketPrices(venueState, market, seconds)
      const rates = hourlyRates(market, prices)
      return {
        ...identity(venueState, market),
        openInterestLong: interestUsd(settings, state, 'long').toString(),
        openInterestShort: interestUsd(settings, state, 'short').toString(),
        availableLiquidityLong: legacyAvailableLiquidity(settings, state, 'long', prices).toString(),
        availableLiquidityShort: legacyAvailableLiquidity(settings, state, 'short', prices).toString(),
        poolAmountLong: slotValue(settings, state.pool, 0).toString(),
        poolAmountShort: slotValue(settings, state.pool, 1).toString(),
        fundingRateLong: rates.funding.long.toString(),
        fundingRateShort: rates.funding.short.toString(),
        borrowingRateLong: rates.borrowing.long.toString(),
        borrowingRateShort: rates.borrowing.short.toString(),
        netRateLong: (rates.funding.long - rates.borrowing.long).toString(),
        netRateShort: (rates.funding.short - rates.borrowing.short).toString(),
        isDisabled: namesMarket(venueState.dataFaults.disabledMarkets, market.key),
      }
    }),
  }
}

/** `/markets/state`: status by market; the sets hold keys of markets that are not trading, and whose status is not known. */
export function oracleMarketState(
  venueState: VenueState,
  sets: { readonly closed: ReadonlySet<string>; readonly unknown: ReadonlySet<string> },
): Json {
  const statusOf = (key: string): string =>
    sets.unknown.has(key) ? 'unknown' : sets.closed.has(key) ? 'closed' : 'open'
  return {
    markets: venueState.markets.map(({ catalog }) => ({
      marketToken: catalog.marketToken,
      status: statusOf(hexKey(catalog.marketToken)),
    })),
  }
}
