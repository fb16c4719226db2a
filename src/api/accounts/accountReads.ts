/** Positions, resting orders and trades of one account (docs/reference/api-coverage.md GET /positions). */
import { defined } from '../../base/defined.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { TradeEventName } from '../../protocol/position.ts'
import { boolean, type Decoder, Malformed, object, optional, string } from '../decode/decode.ts'
import {
  type OrderRow,
  order,
  type PositionRow,
  type PositionWithOrders,
  position,
  positionWithOrders,
  type TradeRow,
  trade,
} from '../rows/accountRows.ts'
import { rows } from '../rows/listRows.ts'
import { RefusedError } from '../transport/apiErrors.ts'
import { type CallOptions, COALESCE_MS, type Read, type Route, type RouteQuery } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Whose rows. */
export interface AccountQuery {
  readonly account: Address
}

/**
 * Field names that may still identify an unreadable position or order row. An account may have no rows, so a list without a readable one is possible.
 */
const positionNames = { market: 'marketAddress', isPosition: true, mayBeEmpty: true } as const
const orderNames = { market: 'marketAddress', orderKey: 'key', mayBeEmpty: true } as const
const tradeNames = { market: 'marketAddress', orderKey: 'orderKey', mayBeEmpty: true } as const

/** A row of one account: one of another makes the answer one to another question. */
function ofAccount<T extends { readonly account: Address }>(
  item: Decoder<T>,
  account: Address | undefined,
): Decoder<T> {
  return (value, name) => {
    const row = item(value, name)
    if (account === undefined || sameHex(row.account, account)) return row
    throw new Malformed('account', `is not ${account}`, row.account, true)
  }
}

const positionsRoute: Route<AccountQuery, readonly PositionRow[]> = {
  path: '/positions',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  query: ({ account }) => ({ address: account }),
  decode: (body, asked) => rows(body, '', ofAccount(position, asked.input.account), asked, positionNames),
}

const positionRoute: Route<{ readonly positionKey: string }, PositionRow> = {
  path: '/positions/{key}',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  pathOf: ({ positionKey }) => `/positions/${encodeURIComponent(positionKey)}`,
  decode: position,
}

const positionsWithOrdersRoute: Route<AccountQuery, readonly PositionWithOrders[]> = {
  ...positionsRoute,
  query: ({ account }) => ({ address: account, includeRelatedOrders: true }),
  decode: (body, asked) =>
    rows(body, '', ofAccount(positionWithOrders, asked.input.account), asked, positionNames),
}

const positionWithOrdersRoute: Route<{ readonly positionKey: string }, PositionWithOrders> = {
  ...positionRoute,
  query: () => ({ includeRelatedOrders: true }),
  decode: positionWithOrders,
}

const ordersRoute: Route<AccountQuery, readonly OrderRow[]> = {
  path: '/orders',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  query: ({ account }) => ({ address: account }),
  decode: (body, asked) => rows(body, '', ofAccount(order, asked.input.account), asked, orderNames),
}

const orderRoute: Route<{ readonly orderKey: string }, OrderRow> = {
  path: '/orders/{key}',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  pathOf: ({ orderKey }) => `/orders/${encodeURIComponent(orderKey)}`,
  decode: order,
}

/** Which trades. */
export interface TradesQuery extends AccountQuery {
  /** Whole Unix seconds, 0 to 2147483647, both included. */
  readonly sinceSeconds?: number
  readonly untilSeconds?: number
  readonly marketToken?: Address
  /** The market's symbol, `ETH/USD [WETH-USDC]`. */
  readonly symbol?: string
  /** Events to show; absent: all. */
  readonly eventNames?: readonly Exclude<TradeEventName, 'unrecognised'>[]
  /** 1 to 1000. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

/** One page of trades, newest first. */
export interface TradesPage {
  readonly trades: readonly TradeRow[]
  readonly nextCursor?: string
  readonly hasMore: boolean
}

const tradesRead = { method: 'GET', service: 'api', kind: 'read', decode: tradesPage } as const

const tradesRoute: Route<TradesQuery, TradesPage> = {
  ...tradesRead,
  path: '/trades',
  query: ({ account, sinceSeconds, untilSeconds, marketToken, symbol, eventNames, limit, cursor }) => ({
    address: account,
    symbol,
    marketAddress: marketToken,
    since: sinceSeconds,
    until: untilSeconds,
    actions: eventNames,
    limit,
    cursor,
  }),
}

/** Which trades, in the richer search: of one account, or of all; lists are joined by OR. */
export type TradesSearch = TradesFilter &
  (AccountQuery | { readonly account?: never; readonly forAllAccounts: true })

/** Filters of the trade search. */
export interface TradesFilter {
  /** Whole Unix seconds, 0 to 2147483647, both included. */
  readonly fromSeconds?: number
  readonly toSeconds?: number
  readonly marketsDirections?: readonly {
    readonly marketToken: Address | 'any'
    readonly direction: Direction | 'swap' | 'any'
    readonly collateralToken?: Address
  }[]
  readonly orderEventCombinations?: readonly {
    readonly eventName?: Exclude<TradeEventName, 'unrecognised'>
    readonly orderType?: number
    readonly isDepositOrWithdraw?: boolean
    readonly isTwap?: boolean
  }[]
  /** Shows the creation of market orders too. */
  readonly showDebugValues?: boolean
  /** 1 to 1000. */
  readonly limit?: number
  readonly cursor?: string
}

const tradesSearchRoute: Route<TradesSearch, TradesPage> = {
  ...tradesRead,
  path: '/trades/search',
  method: 'POST',
  body: ({ account, fromSeconds, toSeconds, marketsDirections, ...rest }) => ({
    address: account,
    fromTimestamp: fromSeconds,
    toTimestamp: toSeconds,
    marketsDirections: marketsDirections?.map(({ marketToken, direction, collateralToken }) => ({
      marketAddress: marketToken,
      direction,
      collateralAddress: collateralToken,
    })),
    ...rest,
  }),
}

// Listed as a GET with parameters in the document, as a POST elsewhere (gaps: conflict 1).
const tradesSearchGetRoute: Route<TradesSearch, TradesPage> = {
  ...tradesRead,
  path: '/trades/search',
  query: ({ account, fromSeconds, toSeconds, showDebugValues, limit, cursor }) => ({
    address: account,
    fromTimestamp: fromSeconds,
    toTimestamp: toSeconds,
    showDebugValues,
    limit,
    cursor,
  }),
}

/**
 * Open positions of an account, all from one block (`GET /positions`). A position closed before that block is not among
 * them. `positionValueInUsd` may be slightly overstated in the venue's fallback (docs/reference/api-coverage.md A5).
 */
export function getPositions(
  transport: Transport,
  query: AccountQuery,
  options?: CallOptions,
): Promise<Read<readonly PositionRow[]>> {
  return transport.call(positionsRoute, query, options)
}

/**
 * The same with the orders that touch each position (`GET /positions?includeRelatedOrders=true`). The orders come from the
 * venue's order store and are not part of the positions' one-block read.
 */
export function getPositionsWithOrders(
  transport: Transport,
  query: AccountQuery,
  options?: CallOptions,
): Promise<Read<readonly PositionWithOrders[]>> {
  return transport.call(positionsWithOrdersRoute, query, options)
}

/** One open position with its orders (`GET /positions/{key}?includeRelatedOrders=true`); a closed one is refused, 404. */
export function getPositionWithOrders(
  transport: Transport,
  query: { readonly positionKey: string },
  options?: CallOptions,
): Promise<Read<PositionWithOrders>> {
  return transport.call(positionWithOrdersRoute, query, options)
}

/** One open position by its key (`GET /positions/{key}`); a closed one is a RefusedError with status 404. */
export function getPosition(
  transport: Transport,
  query: { readonly positionKey: string },
  options?: CallOptions,
): Promise<Read<PositionRow>> {
  return transport.call(positionRoute, query, options)
}

/** Orders of an account that rest at the venue, frozen ones included (`GET /orders`). */
export function getOrders(
  transport: Transport,
  query: AccountQuery,
  options?: CallOptions,
): Promise<Read<readonly OrderRow[]>> {
  return transport.call(ordersRoute, query, options)
}

/** One resting order by its key (`GET /orders/{key}`); one that is gone is a RefusedError with status 404. */
export function getOrder(
  transport: Transport,
  query: { readonly orderKey: string },
  options?: CallOptions,
): Promise<Read<OrderRow>> {
  return transport.call(orderRoute, query, options)
}

/** Reads the trades of an account's orders (`GET /trades`), newest first, one page. */
export function getTrades(
  transport: Transport,
  query: TradesQuery,
  options?: CallOptions,
): Promise<Read<TradesPage>> {
  return transport.call(tradesRoute, query, options)
}

/**
 * The same with more filters (`POST /trades/search`, which changes nothing). Where a deployment has no POST there (404, 405)
 * the GET of the document is asked instead, if it can say the same: its filters are account, times, limit and cursor. It is
 * asked to show the creation of market orders too, but may leave them out.
 */
export async function searchTrades(
  transport: Transport,
  query: TradesSearch,
  options?: CallOptions,
): Promise<Read<TradesPage>> {
  try {
    return await transport.call(tradesSearchRoute, query, options)
  } catch (error) {
    const isNotServed = error instanceof RefusedError && (error.status === 404 || error.status === 405)
    // Without its filters the answer would hold trades that were not asked for.
    const { marketsDirections, orderEventCombinations } = query
    const isFiltered = marketsDirections !== undefined || orderEventCombinations !== undefined
    if (!isNotServed || isFiltered || 'forAllAccounts' in query) throw error
    return transport.call(tradesSearchGetRoute, query, options)
  }
}

function tradesPage(body: unknown, asked: RouteQuery<{ readonly account?: Address }>): TradesPage {
  const page = object(body)
  const nextCursor = optional(page.nextCursor, 'nextCursor', string)
  return {
    trades: rows(page.trades, 'trades', ofAccount(trade, asked.input.account), asked, tradeNames),
    ...defined({ nextCursor }),
    hasMore: boolean(page.hasMore, 'hasMore'),
  }
}
