/**
 * Reads the world into a Snapshot: the data that a strategy needs, each part with the moment at which it was true.
 *
 * Everyone needs the catalogue, the tokens and the account: without them there is no snapshot. Tickers, capacity, oracle prices, candles and market
 * status may be missing. A missing part is absent, never a default, and decisions that need it are denied. A list with an unreadable row is marked,
 * and its market with it. The transport shares concurrent reads of many strategies within the venue's cache windows.
 */
import type { Api } from '../api/client.ts'
import type { Read } from '../api/transport/route.ts'
import type { Clock } from '../base/clock.ts'
import { BaseError } from '../base/errors.ts'
import type { CandleReading, MarketView, Snapshot } from '../domain/snapshot.ts'
import type { Feed } from '../domain/venueEvent.ts'
import { withHeldMarkets } from '../market/heldMarkets.ts'
import { createKnown, type KnownVenue, MARKET_VALUES_AGE_MS, staleValues } from '../market/knownVenue.ts'
import type { Catalogue } from '../market/marketCatalogue.ts'
import { impactReadings, readImpactSettings } from '../market/marketImpact.ts'
import { type Address, hexKey, sameHex } from '../protocol/address.ts'
import type { Candle, Market, OraclePrice, PriceDoubt, Token, TradingCapacity } from '../protocol/market.ts'
import type { MissingRow } from '../protocol/missing.ts'
import type { Reading } from '../protocol/reading.ts'
import { absOf, bps, type Usd } from '../protocol/units.ts'
import type { Needs } from '../strategy/strategy.ts'

/** The world could not be read well enough to decide on. */
class SnapshotError extends BaseError {}

/** Dependencies of a snapshot's reading. */
export interface SnapshotContext {
  readonly api: Api
  readonly clock: Clock
  readonly account: Address
  /** Medians of oracle prices that were not doubted, by lower-cased token; kept from snapshot to snapshot. Absent: none. */
  readonly acceptedPrices?: Map<string, Usd>
  /** Earlier observations of the venue; retained from snapshot to snapshot. Absent: none. */
  readonly known?: KnownVenue
  /** Says of a market why nothing is added on it; `api` is pinned to it. Absent: nothing is said. */
  readonly catalogue?: Pick<Catalogue, 'closedBy' | 'facts' | 'want'>
  /** Oldest refresh of a market's values that its data counts as fresh with, ms. Absent: `MARKET_VALUES_AGE_MS`. */
  readonly maxMarketValuesAgeMs?: number
  /** Returns the markets of the journal's positions, whatever lists show. Absent: none. */
  readonly heldMarkets?: () => readonly Address[]
  /** Told of every part that was read, with its age. */
  readonly onFeed: (feed: Feed, ageMs: number) => void
}

/** Oldest oracle price that collateral is counted by, ms. */
const tokenPriceMaxAgeMs = 60_000
/** Widest gap between the two services' prices of a token that collateral is counted by, bps. */
const tokenDivergenceBps = 200

/** The same object at each call: derived data are made once. */
const noPrices: readonly OraclePrice[] = []

/** More symbols than this are sized by the tickers' capacity alone: one request instead of two a market. */
const capacityReadsMax = 8

/** Reads the data that `needs` requests. Throws what the api throws when the catalogue, the tokens or the account cannot be read. */
export async function readSnapshot(context: SnapshotContext, needs: Needs): Promise<Snapshot> {
  const { api, account, clock, known = createKnown() } = context
  const [markets, tokens, positions, orders, oracle, states, balances, staleOf] = await Promise.all([
    api.getMarkets(),
    api.getTokensInfo(),
    api.getPositions({ account }),
    api.getOrders({ account }),
    tolerate(readPrices(api, known)),
    tolerate(api.getMarketsState()),
    needs.balances === true ? tolerate(api.getWalletBalances({ account })) : undefined,
    staleValues(api, clock, known, context.maxMarketValuesAgeMs ?? MARKET_VALUES_AGE_MS),
    readImpactSettings(api, clock, known),
  ])
  const impactOf = impactReadings(known)
  const oraclePrices = oracle?.prices
  const tokensByAddress = known.lists.tokens(tokens.value)
  const rows = [...positions.value, ...orders.value]
  // A position without a readable row must remain closable too.
  const unread = (positions.missing ?? []).flatMap(({ marketToken }) =>
    marketToken === undefined ? [] : [{ marketToken }],
  )
  const byJournal = (context.heldMarkets?.() ?? []).map((marketToken) => ({ marketToken }))
  const all = [...rows, ...unread, ...byJournal]
  const held = needs.allPositionMarkets === true ? all : []
  const catalogue = await withHeldMarkets(
    api,
    known.lists.markets(markets.value, markets.missing),
    all.map(({ marketToken }) => marketToken),
    context.catalogue?.facts(),
  )
  const wanted = wantedMarkets(catalogue, needs, held).filter((market) =>
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
    const gaps = [
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
      ...optional('ticker', ticker === undefined ? undefined : { value: ticker, atMs }),
      ...optional('capacityLong', fresh(capacityLong ?? readingOf(ticker?.capacityLong, atMs))),
      ...optional('capacityShort', fresh(capacityShort ?? readingOf(ticker?.capacityShort, atMs))),
      ...optional(
        'oraclePrice',
        oraclePrice === undefined ? undefined : { value: oraclePrice, atMs: toOurClock(oraclePrice) },
      ),
      ...optional('impact', impactOf(market.marketToken)),
      ...optional('priceDoubts', doubtsOn(market, doubts)),
      ...optional('candles', candles),
      ...optional('moreCandles', moreCandles.length === 0 ? undefined : moreCandles),
      ...optional('staleValues', stale),
      ...optional('untrusted', context.catalogue?.closedBy(market.marketToken)),
      ...optional('gaps', gaps.length === 0 ? undefined : gaps),
    })
  }
  const snapshot: Snapshot = {
    atMs: clock.now(),
    account,
    markets: byMarket,
    positions: listReading(positions),
    orders: listReading(orders),
    ...optional('balances', balances && listReading(balances)),
  }
  reportFeeds(context, snapshot)
  return snapshot
}

/** Reads the rows of each wanted market, next to the tickers of all listed markets; undefined tickers: none, or no answer. */
function readMarketRows(
  api: Api,
  wanted: readonly Market[],
  needs: Needs,
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

function listReading<T>({ value, readAtMs, missing }: Read<T>): Reading<T> {
  return { value, atMs: readAtMs, ...optional('missing', missing) }
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
  needs: Needs,
  held: readonly { readonly marketToken: Address }[],
): readonly Market[] {
  const tokens = new Set(held.map(({ marketToken }) => hexKey(marketToken)))
  const symbols = new Set(needs.symbols)
  const isHeld = ({ marketToken }: Market) => tokens.size > 0 && tokens.has(hexKey(marketToken))
  return markets.filter((market) => symbols.has(market.symbol) || isHeld(market))
}

function doubtsOn(market: Market, doubts: readonly PriceDoubt[]): readonly PriceDoubt[] | undefined {
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

/** Oracle prices, joined with the oracle's own token list for their decimals. */
async function readPrices(api: Api, { lists }: KnownVenue) {
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
  needs: Needs,
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

function optional<Name extends string, T>(name: Name, value: T | undefined): { [Key in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: T })
}

/** A part that may be missing. Mistakes of ours still throw. */
async function tolerate<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof BaseError) return undefined
    throw error
  }
}

function reportFeeds(context: SnapshotContext, snapshot: Snapshot): void {
  const report = (feed: Feed, readings: readonly (Reading<unknown> | undefined)[]) => {
    const known = readings.filter((reading) => reading !== undefined)
    if (known.length === 0) return
    context.onFeed(feed, Math.max(...known.map(({ atMs }) => Math.max(0, snapshot.atMs - atMs))))
  }
  const views = [...snapshot.markets.values()]
  report('positions', [snapshot.positions])
  report('orders', [snapshot.orders])
  report(
    'tickers',
    views.map(({ ticker }) => ticker),
  )
  report(
    'capacity',
    views.flatMap(({ capacityLong, capacityShort }) => [capacityLong, capacityShort]),
  )
  // The price of a market that is closed stands still and nothing is added by it: that it was read is all there is to its age.
  report(
    'oracle',
    views.map(({ status, oraclePrice }) =>
      status === 'closed' && oraclePrice !== undefined
        ? { ...oraclePrice, atMs: snapshot.atMs }
        : oraclePrice,
    ),
  )
  report(
    'candles',
    views.flatMap(({ candles, moreCandles = [] }) => [candles, ...moreCandles]),
  )
}
