/**
 * Views of markets as a snapshot has them: ticker, capacity, oracle price, candles and impact of each, with the moment at which each part was true. A
 * missing part is absent, never a default. A list with an unreadable row is marked, and its market with it.
 */
import type { Api } from '../api/client.ts'
import type { Read } from '../api/transport/route.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { madeOnce } from '../base/madeOnce.ts'
import { tolerate } from '../base/tolerate.ts'
import type { CandleReading, MarketView } from '../domain/snapshot.ts'
import { type Address, hexKey, sameHex } from '../protocol/address.ts'
import type {
  Candle,
  CandlePeriod,
  Market,
  OraclePrice,
  PriceDoubt,
  Token,
  TradingCapacity,
} from '../protocol/market.ts'
import type { MissingRow } from '../protocol/missing.ts'
import type { Reading } from '../protocol/reading.ts'
import { absOf, bps, type Usd } from '../protocol/units.ts'
import { withHeldMarkets } from './heldMarkets.ts'
import type { KnownVenue } from './knownVenue.ts'
import type { Catalogue } from './marketCatalogue.ts'
import { impactReadings } from './marketImpact.ts'

/** The markets could not be read well enough to decide on. */
class SnapshotError extends BaseError {}

/** Sources of the views. */
export interface MarketViewsContext {
  readonly api: Api
  readonly clock: Pick<Clock, 'now'>
  readonly known: KnownVenue
  /** Medians of oracle prices that were not doubted, by lower-cased token; kept from snapshot to snapshot. Absent: none. */
  readonly acceptedPrices?: Map<string, Usd>
  /** Says of a market why nothing is added on it; `api` is pinned to it. Absent: nothing is said. */
  readonly catalogue?: Pick<Catalogue, 'closedBy' | 'facts' | 'want'>
}

/** Lists of the venue that views are made of; undefined: it could not be read. */
export interface MarketLists {
  readonly markets: Read<readonly Market[]>
  readonly tokens: Awaited<ReturnType<Api['getTokensInfo']>>
  readonly oracle: Awaited<ReturnType<typeof readPrices>> | undefined
  readonly states: Awaited<ReturnType<Api['getMarketsState']>> | undefined
  /** Returns the reason why a market's values count as stale; undefined: they do not. */
  readonly staleOf: (marketToken: Address) => string | undefined
}

/** Markets that are to be viewed. */
export interface WantedMarkets {
  /** Markets whose ticker, oracle price and capacity are read. */
  readonly symbols: readonly string[]
  /** Several periods of one market are several entries. */
  readonly candles?: readonly {
    readonly symbol: string
    readonly period: CandlePeriod
    readonly limit: number
  }[]
  /** Tokens of the markets that something is held or ordered on. */
  readonly held: readonly Address[]
  /** True to view those too, delisted ones included. */
  readonly withHeld: boolean
}

/** Oldest oracle price that collateral is counted by, ms. */
const tokenPriceMaxAgeMs = 60_000
/** Widest gap between the two services' prices of a token that collateral is counted by, bps. */
const tokenDivergenceBps = 200

/** The same object at each call: derived data are made once. */
const noPrices: readonly OraclePrice[] = []

/** More symbols than this are sized by the tickers' capacity alone: one request instead of two a market. */
const capacityReadsMax = 8

/** Reads the views of the wanted markets, by lower-cased market token. Rejects with TOKEN_UNKNOWN for a market with a token that no list has. */
export async function readMarketViews(
  context: MarketViewsContext,
  { markets, tokens, oracle, states, staleOf }: MarketLists,
  needs: WantedMarkets,
): Promise<ReadonlyMap<string, MarketView>> {
  const { api, clock, known } = context
  const impactOf = impactReadings(known)
  const oraclePrices = oracle?.prices
  const tokensByAddress = known.lists.tokens(tokens.value)
  const listed = known.lists.markets(markets.value, markets.missing)
  const all = await withHeldMarkets(api, listed, needs.held, context.catalogue?.facts())
  const wanted = wantedMarkets(all, needs).filter((market) =>
    hasTokens(market, tokensByAddress, tokens.missing),
  )
  const { trusted: pricesByAddress, doubts } = known.lists.trusted(
    oraclePrices?.value ?? noPrices,
    tokens.value,
    context.acceptedPrices,
  )
  const toOurClock = oracleStamps(api, oraclePrices)
  const [tickers, views] = await readMarketRows(api, wanted, needs, pricesByAddress)
  const byMarket = new Map<string, MarketView>()
  const isWhole = [markets, tickers, oraclePrices, oracle?.tokens, tokens].every(
    (list) => list?.missing === undefined,
  )
  const nowMs = clock.now()
  const priceOf = (address: Address) => {
    const price = pricesByAddress.get(hexKey(address))
    return price !== undefined && nowMs - toOurClock(price) <= tokenPriceMaxAgeMs ? price : undefined
  }
  for (const { market, capacityLong, capacityShort, candles, moreCandles } of views) {
    const ticker = tickers?.value.find((each) => hexKey(each.marketToken) === hexKey(market.marketToken))
    const oraclePrice = pricesByAddress.get(hexKey(market.indexToken))
    const atMs = tickers?.readAtMs ?? 0
    const stale = staleOf(market.marketToken)
    const fresh = (capacity: Reading<TradingCapacity> | undefined) =>
      stale === undefined || capacity === undefined ? capacity : withStaleData(capacity)
    const gaps = isWhole
      ? []
      : [
          ...gapsOf('markets', markets.missing, 'marketToken', [market.marketToken]),
          ...gapsOf('tickers', tickers?.missing, 'marketToken', [market.marketToken]),
          ...gapsOf('oracle prices', oraclePrices?.missing, 'token', tokensOf(market)),
          ...gapsOf('oracle tokens', oracle?.tokens.missing, 'token', tokensOf(market)),
          ...gapsOf('tokens', tokens.missing, 'token', tokensOf(market)),
        ]
    context.catalogue?.want(market.marketToken)
    byMarket.set(hexKey(market.marketToken), {
      market,
      indexToken: tokenOf(tokensByAddress, market.indexToken, oraclePrice),
      longToken: tokenOf(tokensByAddress, market.longToken, priceOf(market.longToken)),
      shortToken: tokenOf(tokensByAddress, market.shortToken, priceOf(market.shortToken)),
      status: states?.value.get(hexKey(market.marketToken)) ?? 'unknown',
      ...defined({
        ticker: ticker && { value: ticker, atMs },
        capacityLong: fresh(capacityLong ?? readingOf(ticker?.capacityLong, atMs)),
        capacityShort: fresh(capacityShort ?? readingOf(ticker?.capacityShort, atMs)),
        oraclePrice: oraclePrice && { value: oraclePrice, atMs: toOurClock(oraclePrice) },
        impact: impactOf(market.marketToken),
        priceDoubts: doubtsOn(market, doubts),
        candles,
        moreCandles: moreCandles.length === 0 ? undefined : moreCandles,
        staleValues: stale,
        untrusted: context.catalogue?.closedBy(market.marketToken),
        gaps: gaps.length === 0 ? undefined : gaps,
      }),
    })
  }
  return byMarket
}

/** Reads the rows of each wanted market, next to the tickers of all listed markets; undefined tickers: none, or no answer. */
function readMarketRows(
  api: Api,
  wanted: readonly Market[],
  needs: WantedMarkets,
  pricesByAddress: ReadonlyMap<string, OraclePrice>,
) {
  const capacitySymbols = new Set(needs.symbols.length <= capacityReadsMax ? needs.symbols : [])
  const listed = wanted.filter(({ isListed }) => isListed)
  return Promise.all([
    listed.length === 0
      ? undefined
      : tolerate(api.getMarketTickers({ symbols: listed.map(({ symbol }) => symbol) })),
    Promise.all(
      wanted.map(async (market) => {
        const [capacityLong, capacityShort, [candles, ...others]] = await Promise.all([
          capacitySymbols.has(market.symbol) ? readCapacity(api, market, 'long') : undefined,
          capacitySymbols.has(market.symbol) ? readCapacity(api, market, 'short') : undefined,
          readCandles(api, market, needs, pricesByAddress),
        ])
        const moreCandles = others.filter((each) => each !== undefined)
        return { market, capacityLong, capacityShort, candles, moreCandles }
      }),
    ),
  ])
}

/** Marks a reading as stale by the venue's own statement: the market's data is not fresh, and nothing is sized by it. */
function withStaleData({ value, atMs }: Reading<TradingCapacity>): Reading<TradingCapacity> {
  return { value: { ...value, marketDataStatus: 'stale' }, atMs }
}

function tokensOf({ indexToken, longToken, shortToken }: Market): readonly Address[] {
  return [indexToken, longToken, shortToken]
}

/** Returns the faults of list rows that are, or may be, about one of these addresses. */
function gapsOf(
  list: string,
  missing: readonly MissingRow[] | undefined,
  by: 'marketToken' | 'token',
  addresses: readonly Address[],
): readonly string[] {
  return (missing ?? []).flatMap((row) => {
    const named = row[by]
    const isMeant = named === undefined || addresses.some((address) => sameHex(address, named))
    return isMeant ? [`${list} ${row.problem}`] : []
  })
}

/** A market whose token was never read can be neither sized nor signed for; the other markets do not wait for it. */
function hasTokens(
  market: Market,
  tokens: ReadonlyMap<string, Token>,
  missing: readonly MissingRow[] | undefined,
): boolean {
  return missing === undefined || tokensOf(market).every((address) => tokens.has(hexKey(address)))
}

function wantedMarkets(
  markets: readonly Market[],
  { symbols: named, held, withHeld }: WantedMarkets,
): readonly Market[] {
  const [symbol] = named
  if (!withHeld && named.length === 1 && symbol !== undefined) return bySymbol(markets).get(symbol) ?? []
  const tokens = new Set(withHeld ? held.map(hexKey) : [])
  const symbols = new Set(named)
  return markets.filter(
    ({ marketToken, symbol }) => symbols.has(symbol) || (tokens.size > 0 && tokens.has(hexKey(marketToken))),
  )
}

/** Markets by symbol; made once for a list: most strategies look for one market in it, each turn. */
const bySymbol = madeOnce((markets: readonly Market[]) => Map.groupBy(markets, ({ symbol }) => symbol))

function doubtsOn(market: Market, doubts: readonly PriceDoubt[]): readonly PriceDoubt[] | undefined {
  if (doubts.length === 0) return undefined
  const tokens = new Set([market.indexToken, market.longToken, market.shortToken].map(hexKey))
  const found = doubts.filter(({ tokenAddress }) => tokens.has(hexKey(tokenAddress)))
  return found.length === 0 ? undefined : found
}

/**
 * The moment of a price by our own clock, Unix ms. Its stamp is the service's: a clock of ours that runs behind would call
 * an old price young. Nothing is younger than the read that brought it.
 */
function oracleStamps(api: Api, read: Read<unknown> | undefined): (price: OraclePrice) => number {
  const skewMs = read === undefined ? 0 : (api.clockSkewMs(read.host) ?? 0)
  const readAtMs = read?.readAtMs ?? 0
  return ({ updatedAtSeconds }) => Math.min(readAtMs, updatedAtSeconds * 1000 - skewMs)
}

/** Reads oracle prices, joined with the oracle's own token list for their decimals. Rejects as reading does. */
export async function readPrices(api: Pick<Api, 'getOracleTokens' | 'getPrices'>, { lists }: KnownVenue) {
  const tokens = await api.getOracleTokens()
  return { tokens, prices: await api.getPrices(lists.decimals(tokens.value)) }
}

async function readCapacity(api: Api, market: Market, direction: 'long' | 'short') {
  const read = await tolerate(api.getTradingCapacity({ symbol: market.symbol, direction }))
  return read === undefined ? undefined : { value: read.value, atMs: read.readAtMs }
}

async function readCandles(
  api: Api,
  market: Market,
  needs: WantedMarkets,
  prices: ReadonlyMap<string, OraclePrice>,
): Promise<readonly (CandleReading | undefined)[]> {
  const wanted = needs.candles?.filter(({ symbol }) => symbol === market.symbol) ?? []
  // The oracle has its own names; the address joins them (docs/reference/api-coverage.md GET /tokens).
  const tokenSymbol = prices.get(hexKey(market.indexToken))?.tokenSymbol
  if (tokenSymbol === undefined) return []
  return await Promise.all(
    wanted.map(async ({ period, limit }) => {
      const read = await tolerate(api.getCandles({ tokenSymbol, period, limit }))
      if (read === undefined) return undefined
      const candles: readonly Candle[] = read.value
      return { value: { period, candles }, atMs: read.readAtMs }
    }),
  )
}

function tokenOf(tokens: ReadonlyMap<string, Token>, address: Address, price?: OraclePrice): Token {
  const token = tokens.get(hexKey(address))
  if (token === undefined) {
    throw new SnapshotError('The venue lists a market with an unknown token.', {
      code: 'TOKEN_UNKNOWN',
      facts: { token: address },
      details: 'perpd skipped this tick and retries at the next one.',
    })
  }
  const last = lastPriced.get(token)
  if (last !== undefined && last.price === price) return last.priced
  const priced = pricedToken(token, price)
  lastPriced.set(token, { price, priced })
  return priced
}

/** The last one made of each token: strategies share tokens and prices of one answer. */
const lastPriced = new WeakMap<Token, { readonly price: OraclePrice | undefined; readonly priced: Token }>()

function pricedToken(token: Token, price: OraclePrice | undefined): Token {
  const { minPrice, maxPrice, ...unpriced } = token
  // Collateral is counted at this price and paid out in full: one service's statement is not enough. Without a fresh oracle price, or where the two
  // services disagree, the token has no price, and decisions that need one are denied.
  if (price === undefined) return unpriced
  const isDoubted =
    minPrice !== undefined && absOf(minPrice - price.minPrice) > bps(price.minPrice, tokenDivergenceBps)
  return isDoubted ? unpriced : { ...unpriced, minPrice: price.minPrice, maxPrice: price.maxPrice }
}

function readingOf<T>(value: T | undefined, atMs: number): Reading<T> | undefined {
  return value === undefined ? undefined : { value, atMs }
}
