/** Positions, resting orders and trades of one account (application document, "Positions, orders, trades"). */
import type { Address } from '../domain/address.ts'
import type { Direction } from '../domain/market.ts'
import type { Order, Position, Trade, TradeEventName } from '../domain/position.ts'
import {
  address,
  boolean,
  bytes32,
  count,
  type Decoder,
  type Fields,
  int,
  list,
  Malformed,
  object,
  oneOf,
  optional,
  present,
  signedUsd30,
  string,
  uint,
  unixSeconds,
  usd30,
  word,
} from './decode.ts'
import type { CallOptions, Read, Route } from './route.ts'
import type { Transport } from './transport.ts'

/** Whose rows. */
export interface AccountQuery {
  readonly account: Address
}

const positionsRoute: Route<AccountQuery, readonly Position[]> = {
  path: '/positions',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  query: ({ account }) => ({ address: account }),
  decode: (body) => list(body, '', position),
}

const positionRoute: Route<{ readonly positionKey: string }, Position> = {
  path: '/positions/{key}',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  pathOf: ({ positionKey }) => `/positions/${encodeURIComponent(positionKey)}`,
  decode: position,
}

const ordersRoute: Route<AccountQuery, readonly Order[]> = {
  path: '/orders',
  method: 'GET',
  service: 'api',
  kind: 'read',
  query: ({ account }) => ({ address: account }),
  decode: (body) => list(body, '', order),
}

const orderRoute: Route<{ readonly orderKey: string }, Order> = {
  path: '/orders/{key}',
  method: 'GET',
  service: 'api',
  kind: 'read',
  pathOf: ({ orderKey }) => `/orders/${encodeURIComponent(orderKey)}`,
  decode: order,
}

/** Which trades. */
export interface TradesQuery extends AccountQuery {
  /** Whole Unix seconds, 0 to 2147483647, both included. */
  readonly sinceSeconds?: number
  readonly untilSeconds?: number
  readonly marketToken?: Address
  /** 1 to 1000. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

/** One page of trades, newest first. */
export interface TradesPage {
  readonly trades: readonly Trade[]
  readonly nextCursor?: string
  readonly hasMore: boolean
}

const tradesRoute: Route<TradesQuery, TradesPage> = {
  path: '/trades',
  method: 'GET',
  service: 'api',
  kind: 'read',
  query: ({ account, sinceSeconds, untilSeconds, marketToken, limit, cursor }) => ({
    address: account,
    since: sinceSeconds,
    until: untilSeconds,
    marketAddress: marketToken,
    limit,
    cursor,
  }),
  decode: tradesPage,
}

/** Which trades, in the richer search; lists are joined by OR. */
export interface TradesSearch extends AccountQuery {
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
  path: '/trades/search',
  method: 'POST',
  service: 'api',
  kind: 'read',
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
  decode: tradesPage,
}

/** Open positions of an account, all from one block (`GET /positions`). */
export function getPositions(
  transport: Transport,
  query: AccountQuery,
  options?: CallOptions,
): Promise<Read<readonly Position[]>> {
  return transport.call(positionsRoute, query, options)
}

/** One open position by its key (`GET /positions/{key}`); a closed one is a RefusedError with status 404. */
export function getPosition(
  transport: Transport,
  query: { readonly positionKey: string },
  options?: CallOptions,
): Promise<Read<Position>> {
  return transport.call(positionRoute, query, options)
}

/** Orders of an account that rest at the venue, frozen ones included (`GET /orders`). */
export function getOrders(
  transport: Transport,
  query: AccountQuery,
  options?: CallOptions,
): Promise<Read<readonly Order[]>> {
  return transport.call(ordersRoute, query, options)
}

/** One resting order by its key (`GET /orders/{key}`); one that is gone is a RefusedError with status 404. */
export function getOrder(
  transport: Transport,
  query: { readonly orderKey: string },
  options?: CallOptions,
): Promise<Read<Order>> {
  return transport.call(orderRoute, query, options)
}

/** What happened to an account's orders (`GET /trades`), newest first, one page. */
export function getTrades(
  transport: Transport,
  query: TradesQuery,
  options?: CallOptions,
): Promise<Read<TradesPage>> {
  return transport.call(tradesRoute, query, options)
}

/** The same with more filters (`POST /trades/search`, which changes nothing). */
export function searchTrades(
  transport: Transport,
  query: TradesSearch,
  options?: CallOptions,
): Promise<Read<TradesPage>> {
  return transport.call(tradesSearchRoute, query, options)
}

function directionOf(isLong: boolean): Direction {
  return isLong ? 'long' : 'short'
}

function position(value: unknown): Position {
  const row = object(value)
  const netValueUsd = signedUsd30(row.netValue, 'netValue')
  return {
    positionKey: word(row.key, 'key'),
    contractKey: bytes32(row.contractKey, 'contractKey'),
    account: address(row.account, 'account'),
    marketToken: address(row.marketAddress, 'marketAddress'),
    collateralToken: address(row.collateralTokenAddress, 'collateralTokenAddress'),
    direction: directionOf(boolean(row.isLong, 'isLong')),
    sizeInUsd: usd30(row.sizeInUsd, 'sizeInUsd'),
    sizeInTokens: uint(row.sizeInTokens, 'sizeInTokens'),
    collateralAmount: uint(row.collateralAmount, 'collateralAmount'),
    collateralUsd: usd30(row.collateralUsd, 'collateralUsd'),
    remainingCollateralUsd: signedUsd30(row.remainingCollateralUsd, 'remainingCollateralUsd'),
    markPrice: usd30(row.markPrice, 'markPrice'),
    pnlUsd: signedUsd30(row.pnl, 'pnl'),
    pnlAfterFeesUsd: signedUsd30(row.pnlAfterFees, 'pnlAfterFees'),
    // Older deployments do not send it (gaps: conflict 13).
    positionValueInUsd: optional(row.positionValueInUsd, 'positionValueInUsd', signedUsd30) ?? netValueUsd,
    netValueUsd,
    increasedAtSeconds: unixSeconds(row.increasedAtTime, 'increasedAtTime'),
    decreasedAtSeconds: unixSeconds(row.decreasedAtTime, 'decreasedAtTime'),
    ...present({
      entryPrice: optional(row.entryPrice, 'entryPrice', usd30),
      liquidationPrice: optional(row.liquidationPrice, 'liquidationPrice', usd30),
      leverageBps: optional(row.leverage, 'leverage', int),
    }),
  }
}

/** Greatest on-chain order type (wire: eip712-and-chain, section 6) known today; later ones pass as numbers. */
const ORDER_TYPE_LIMIT = 255

function orderTypeOf(value: unknown): number {
  const orderType = count(value, 'orderType')
  if (orderType > ORDER_TYPE_LIMIT) throw new Malformed('orderType', 'is not an order type', value)
  return orderType
}

function order(value: unknown): Order {
  const row = object(value)
  return {
    orderKey: bytes32(row.key, 'key'),
    account: address(row.account, 'account'),
    receiver: address(row.receiver, 'receiver'),
    marketToken: address(row.marketAddress, 'marketAddress'),
    initialCollateralToken: address(row.initialCollateralTokenAddress, 'initialCollateralTokenAddress'),
    orderType: orderTypeOf(row.orderType),
    direction: directionOf(boolean(row.isLong, 'isLong')),
    sizeDeltaUsd: usd30(row.sizeDeltaUsd, 'sizeDeltaUsd'),
    initialCollateralDeltaAmount: uint(row.initialCollateralDeltaAmount, 'initialCollateralDeltaAmount'),
    triggerContractPrice: uint(row.triggerPrice, 'triggerPrice'),
    acceptableContractPrice: uint(row.acceptablePrice, 'acceptablePrice'),
    isFrozen: boolean(row.isFrozen, 'isFrozen'),
    updatedAtSeconds: unixSeconds(row.updatedAtTime, 'updatedAtTime'),
    validFromSeconds: unixSeconds(row.validFromTime, 'validFromTime'),
  }
}

const tradeEventNames = new Set<Exclude<TradeEventName, 'unrecognised'>>([
  'OrderCreated',
  'OrderExecuted',
  'OrderCancelled',
  'OrderUpdated',
  'OrderFrozen',
])

function maybe<T>(row: Fields, name: string, decode: Decoder<T>): T | undefined {
  return optional(row[name], name, decode)
}

function trade(value: unknown): Trade {
  const row = object(value)
  const isLong = maybe(row, 'isLong', boolean)
  return {
    id: word(row.id, 'id'),
    account: address(row.account, 'account'),
    orderKey: bytes32(row.orderKey, 'orderKey'),
    transactionHash: bytes32(row.transactionHash, 'transactionHash'),
    eventName: oneOf(row.eventName, 'eventName', tradeEventNames),
    orderType: orderTypeOf(row.orderType),
    timestampSeconds: unixSeconds(row.timestamp, 'timestamp'),
    initialCollateralToken: address(row.initialCollateralTokenAddress, 'initialCollateralTokenAddress'),
    initialCollateralDeltaAmount: uint(row.initialCollateralDeltaAmount, 'initialCollateralDeltaAmount'),
    ...present({
      marketToken: maybe(row, 'marketAddress', address),
      direction: isLong === undefined ? undefined : directionOf(isLong),
      sizeDeltaUsd: maybe(row, 'sizeDeltaUsd', usd30),
      executionContractPrice: maybe(row, 'executionPrice', uint),
      collateralTokenContractPriceMin: maybe(row, 'collateralTokenPriceMin', uint),
      collateralTokenContractPriceMax: maybe(row, 'collateralTokenPriceMax', uint),
      pnlUsd: maybe(row, 'pnlUsd', signedUsd30),
      priceImpactUsd: maybe(row, 'priceImpactUsd', signedUsd30),
      positionFeeAmount: maybe(row, 'positionFeeAmount', uint),
      borrowingFeeAmount: maybe(row, 'borrowingFeeAmount', uint),
      fundingFeeAmount: maybe(row, 'fundingFeeAmount', uint),
      reason: maybe(row, 'reason', string),
    }),
  }
}

function tradesPage(body: unknown): TradesPage {
  const page = object(body)
  const nextCursor = optional(page.nextCursor, 'nextCursor', string)
  return {
    trades: list(page.trades, 'trades', trade),
    ...(nextCursor === undefined ? {} : { nextCursor }),
    hasMore: boolean(page.hasMore, 'hasMore'),
  }
}
