/**
 * Data derived from the venue's lists, made once for each answer: the snapshots of hundreds of strategies share it. Markets and tokens that a list
 * omits are supplied from earlier readings.
 */
import type { OracleToken } from '../api/feeds/oracle.ts'
import { doubtsOf } from '../api/priceSanity.ts'
import type { MarketConfig, MarketValues } from '../api/rows/marketInfoTypes.ts'
import { sameAgain } from '../base/sameAgain.ts'
import { type Address, hexKey, sameHex } from '../protocol/address.ts'
import type { Market, OraclePrice, PriceDoubt, Token } from '../protocol/market.ts'
import type { MissingRow } from '../protocol/missing.ts'
import type { Order, Position } from '../protocol/position.ts'
import type { Usd } from '../protocol/units.ts'
import type { MarketList } from './heldMarkets.ts'

/** Prices by lower-cased token, and why others are doubted. */
export interface TrustedPrices {
  readonly trusted: ReadonlyMap<string, OraclePrice>
  readonly doubts: readonly PriceDoubt[]
}

/** Each gives for the rows of one answer the same object again. */
export interface SharedLists {
  /** The markets of a listing, and earlier ones as no longer listed. */
  readonly markets: (value: readonly Market[], missing: readonly MissingRow[] | undefined) => MarketList
  /** Tokens by lower-cased address. */
  readonly tokens: (value: readonly ListedToken[]) => ReadonlyMap<string, Token>
  /** Rows of values and of settings by lower-cased market token; none before the first answer. */
  readonly values: (rows: readonly MarketValues[] | undefined) => ReadonlyMap<string, MarketValues>
  readonly settings: (rows: readonly MarketConfig[] | undefined) => ReadonlyMap<string, MarketConfig>
  /** The decimals of a token by the oracle's own list. */
  readonly decimals: (tokens: readonly OracleToken[]) => (address: Address) => number | undefined
  /** Tokens of the markets that something is held or ordered on, each once for a row, and of those that the journal knows. */
  readonly held: (
    positions: readonly Position[],
    unread: readonly MissingRow[] | undefined,
    orders: readonly Order[],
    known: readonly Address[],
  ) => readonly Address[]
  /** Prices without the doubted ones; `accepted`: medians that were not doubted before, by lower-cased token. */
  readonly trusted: (
    prices: readonly OraclePrice[],
    tokens: readonly Token[],
    accepted: Map<string, Usd> | undefined,
  ) => TrustedPrices
}

/** Makes them over the known data of the venue, by lower-cased address, which grow with each new answer. */
export function createSharedLists(markets: Map<string, Market>, tokens: Map<string, Token>): SharedLists {
  return {
    markets: sameAgain((value, missing) => {
      const byToken = marketsNow(value, missing, markets)
      return { byToken, all: [...byToken.values()] }
    }),
    tokens: sameAgain((value) => tokensNow(value, tokens)),
    values: sameAgain(byMarket<MarketValues>),
    settings: sameAgain(byMarket<MarketConfig>),
    decimals: sameAgain((rows) => {
      const decimals = new Map(rows.map((token) => [hexKey(token.address), token.decimals]))
      return (address) => decimals.get(hexKey(address))
    }),
    held: sameAgain((positions, unread, orders, known) => [
      ...[...positions, ...orders].map(({ marketToken }) => marketToken),
      // A position without a readable row must remain closable too.
      ...(unread ?? []).flatMap(({ marketToken }) => marketToken ?? []),
      ...known,
    ]),
    trusted: sameAgain(trustedPrices),
  }
}

/** Rows by lower-cased market token. */
function byMarket<Row extends { readonly marketToken: Address }>(
  rows: readonly Row[] = [],
): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [hexKey(row.marketToken), row]))
}

/**
 * The market that a row or a position names, as a listing or an earlier one has it. One that is no longer listed comes with
 * `isListed` false: it can only be left.
 */
function marketsNow(
  markets: readonly Market[],
  missing: readonly MissingRow[] | undefined,
  known: Map<string, Market>,
): ReadonlyMap<string, Market> {
  const now = new Map(markets.map((market) => [hexKey(market.marketToken), market]))
  for (const [key, market] of now) known.set(key, market)
  for (const [key, market] of known) {
    if (now.has(key)) continue
    now.set(key, isUnread(missing, market.marketToken) ? market : { ...market, isListed: false })
  }
  return now
}

/** A token as the venue lists it, with the other name that it goes by. */
type ListedToken = Token & { readonly assetSymbol?: string }

/**
 * Tokens by lower-cased address, those whose row cannot be read as they were, without a price. Requests name one whose symbol
 * another token goes by too by its address: a table of names has one entry for each, and which token that is differs
 * between hosts and lists (`BTC`, `WBTC`).
 */
function tokensNow(tokens: readonly ListedToken[], known: Map<string, Token>): ReadonlyMap<string, Token> {
  const timesNamed = new Map<string, number>()
  const note = (name: string): void => void timesNamed.set(name, (timesNamed.get(name) ?? 0) + 1)
  for (const { symbol, assetSymbol } of tokens) {
    note(symbol)
    if (assetSymbol !== undefined && assetSymbol !== symbol) note(assetSymbol)
  }
  const now = new Map(
    tokens.map((token): readonly [string, Token] => {
      const isShared = (timesNamed.get(token.symbol) ?? 0) > 1
      return [hexKey(token.address), isShared ? { ...token, wireName: token.address } : token]
    }),
  )
  for (const [key, token] of now) known.set(key, token)
  for (const [key, last] of known) {
    if (now.has(key)) continue
    const { minPrice: _min, maxPrice: _max, ...token } = last
    now.set(key, token)
  }
  return now
}

/** Tells whether an unreadable row is, or may be, of this market. */
function isUnread(missing: readonly MissingRow[] | undefined, address: Address): boolean {
  return (missing ?? []).some(({ marketToken }) => marketToken === undefined || sameHex(marketToken, address))
}

/**
 * Prices by lower-cased token without the doubted ones, and the doubts: a price of the wrong scale must not size an order.
 * What is trusted is remembered in `accepted`.
 */
function trustedPrices(
  prices: readonly OraclePrice[],
  tokens: readonly Token[],
  accepted: Map<string, Usd> | undefined,
): TrustedPrices {
  const doubts = doubtsOf(prices, { tokens, ...(accepted && { lastAccepted: accepted }) })
  const trusted = new Map(prices.map((price) => [hexKey(price.tokenAddress), price]))
  for (const { tokenAddress } of doubts) trusted.delete(hexKey(tokenAddress))
  for (const [key, { medianPrice }] of trusted) accepted?.set(key, medianPrice)
  return { trusted, doubts }
}
