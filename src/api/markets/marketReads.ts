/** Markets of the application API: catalog, tickers, trading capacity. */
import { defined } from '../../base/defined.ts'
import { type Address, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import {
  capacityOf,
  type Direction,
  LEAST_POSITION_USD,
  type LeverageTier,
  type Market,
  type Ticker,
  type TradingCapacity,
} from '../../protocol/market.ts'
import {
  address,
  boolean,
  list,
  Malformed,
  object,
  optional,
  present,
  uint,
  unixSeconds,
  usd30,
  word,
} from '../decode/decode.ts'
import { tradingCapacity } from '../rows/capacityRow.ts'
import { rows } from '../rows/listRows.ts'
import { createRowMemo, perTransport } from '../rows/rowMemo.ts'
import { copyTicker, ticker } from '../rows/tickerRow.ts'
import { type CallOptions, COALESCE_MS, type Read, type Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'
import { createQuestions, filteredTickers } from './tickerFilters.ts'

const byMarket = { market: 'marketTokenAddress' } as const

const marketsRoute: Route<undefined, readonly Market[]> = {
  path: '/markets',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 60_000,
  decode: (body, asked) => {
    const markets = rows(body, '', market, asked, byMarket)
    if (markets.length === 0) throw new Malformed('', 'is an empty list', body)
    return markets
  },
}

/** Which markets; absent or empty lists do not filter. */
export interface TickersQuery {
  /** Market tokens. */
  readonly addresses?: readonly Address[]
  /** Market symbols, `ETH/USD [WETH-USDC]`. */
  readonly symbols?: readonly string[]
}

const tickersRoute = perTransport((): Route<TickersQuery, readonly Ticker[]> => {
  const row = createRowMemo({ identity: 'marketTokenAddress', decode: ticker, copy: copyTicker })
  return {
    path: '/markets/tickers',
    method: 'GET',
    service: 'api',
    kind: 'read',
    cacheMs: COALESCE_MS,
    query: ({ addresses, symbols }) => ({ addresses, symbols }),
    decode: (body, asked) => rows(body, '', row, asked, byMarket),
  }
})

const tickerQuestions = perTransport(createQuestions)
const capacityQuestions = perTransport(createQuestions)

/** One side of one market. */
export interface CapacityQuery {
  /** `ETH/USD [WETH-USDC]`. */
  readonly symbol: string
  readonly direction: Direction
}

const capacityRoute: Route<CapacityQuery, TradingCapacity> = {
  path: '/markets/trading-capacity',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  query: ({ symbol, direction }) => ({ symbol, direction }),
  decode: (body) => tradingCapacity(body),
}

/** The listed markets (`GET /markets`); never empty. */
export function getMarkets(transport: Transport, options?: CallOptions): Promise<Read<readonly Market[]>> {
  return transport.call(marketsRoute, undefined, options)
}

/**
 * Prices, rates and capacity of markets (`GET /markets/tickers`). The legacy available liquidity stops here: it ignores
 * JIT and open interest and must not size an increase (docs/reference/api-coverage.md A3). While callers use more
 * than a few different filters, they share one read of the whole list (tickerFilters.ts).
 */
export function getMarketTickers(
  transport: Transport,
  query: TickersQuery = {},
  options?: CallOptions,
): Promise<Read<readonly Ticker[]>> {
  const route = tickersRoute(transport)
  const isOfAll = (query.addresses ?? []).length === 0 && (query.symbols ?? []).length === 0
  if (isOfAll || mustAsk(options)) return transport.call(route, query, options)
  const question = JSON.stringify([query.addresses, query.symbols])
  return tickerQuestions(transport).ask(question, async (fromAll) => {
    if (!fromAll) return transport.call(route, query, options)
    const all = await transport.call(route, {}, options)
    const value = filteredTickers(all.value, query)
    return value === undefined ? transport.call(route, query, options) : { ...all, value }
  })
}

/**
 * Available capacity for increases on one side of a market (`GET /markets/trading-capacity`); indicative. While callers
 * ask for more than a few markets and sides, they share one read of all tickers, which carry the same record.
 */
export function getTradingCapacity(
  transport: Transport,
  query: CapacityQuery,
  options?: CallOptions,
): Promise<Read<TradingCapacity>> {
  if (mustAsk(options)) return transport.call(capacityRoute, query, options)
  const { symbol, direction } = query
  return capacityQuestions(transport).ask(`${direction} ${symbol}`, async (fromAll) => {
    if (!fromAll) return transport.call(capacityRoute, query, options)
    const all = await transport.call(tickersRoute(transport), {}, options)
    const found = all.value.find((each) => each.symbol === symbol)
    const value = found === undefined ? undefined : capacityOf(found, direction)
    return value === undefined ? transport.call(capacityRoute, query, options) : { ...all, value }
  })
}

/** Tells whether the caller requires a separate response, or one from a given host. */
function mustAsk(options: CallOptions | undefined): boolean {
  return options?.isFresh === true || options?.host !== undefined
}

/** A leverage in bps, 10000 = 1x. */
function leverageBps(value: unknown, name: string): number {
  const bps = uint(value, name)
  if (bps > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed(name, 'is a leverage out of range', value)
  return Number(bps)
}

function leverageTier(value: unknown): LeverageTier {
  const tier = object(value)
  return {
    maxLeverageBps: leverageBps(tier.maxLeverage, 'maxLeverage'),
    minCollateralFactor: uint(tier.minCollateralFactor, 'minCollateralFactor'),
    ...present({ maxPositionSizeUsd: optional(tier.maxPositionSize, 'maxPositionSize', usd30) }),
  }
}

function market(value: unknown): Market {
  const row = object(value)
  const leverageTiers = list(row.leverageTiers ?? [], 'leverageTiers', leverageTier)
  const maxLeverageBps = Math.max(0, ...leverageTiers.map((tier) => tier.maxLeverageBps))
  const indexToken = address(row.indexTokenAddress, 'indexTokenAddress')
  return {
    symbol: word(row.symbol, 'symbol'),
    marketToken: address(row.marketTokenAddress, 'marketTokenAddress'),
    indexToken,
    longToken: address(row.longTokenAddress, 'longTokenAddress'),
    shortToken: address(row.shortTokenAddress, 'shortTokenAddress'),
    // The document calls the list that of the listed markets; a pool that only swaps has no index token.
    isListed: optional(row.isListed, 'isListed', boolean) ?? true,
    isSpotOnly: optional(row.isSpotOnly, 'isSpotOnly', boolean) ?? sameHex(indexToken, ZERO_ADDRESS),
    minPositionSizeUsd: optional(row.minPositionSizeUsd, 'minPositionSizeUsd', usd30) ?? LEAST_POSITION_USD,
    minCollateralUsd: optional(row.minCollateralUsd, 'minCollateralUsd', usd30) ?? LEAST_POSITION_USD,
    ...defined({ maxLeverageBps: maxLeverageBps === 0 ? undefined : maxLeverageBps }),
    ...defined({ leverageTiers: leverageTiers.length === 0 ? undefined : leverageTiers }),
    ...present({ listedAtSeconds: optional(row.listingDate, 'listingDate', unixSeconds) }),
  }
}
