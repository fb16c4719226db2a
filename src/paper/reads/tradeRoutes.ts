/** Trade history reads (docs/reference/api-coverage.md GET /trades). */

import { defined, ifDefined } from '../../base/defined.ts'
import { isObject } from '../../base/isObject.ts'
import { hexKey } from '../../protocol/address.ts'
import {
  badFields,
  badRequest,
  integerOf,
  JsonText,
  parseAddress,
  stringify,
  timestampOf,
} from '../http/http.ts'
import { findMarket } from '../state/lookup.ts'
import type { TradeRow } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

/** One of the kinds of rows that are wanted; what is absent does not matter. */
interface Combination {
  readonly eventName?: string
  readonly orderType?: number
  /** True when the order is a part of a twap. */
  readonly isTwap?: boolean
  /** True when the order moves collateral alone: a market order of size 0. */
  readonly isDepositOrWithdraw?: boolean
}

/** Which rows are wanted. */
export interface TradeFilter {
  readonly account: string | undefined
  readonly from: number | undefined
  readonly to: number | undefined
  readonly marketKey: string | undefined
  readonly eventNames: ReadonlySet<string> | undefined
  readonly combinations: readonly Combination[]
  readonly directions: readonly {
    readonly marketKey?: string
    readonly direction?: string
    readonly collateral?: string
  }[]
  /** True when OrderCreated rows of market orders are shown. */
  readonly showDebugValues: boolean
  readonly limit: number
  readonly cursor: string | undefined
}

/** MarketSwap, MarketIncrease, MarketDecrease and Liquidation (`BaseOrderUtils.isMarketOrder`). */
const marketOrders: ReadonlySet<number> = new Set([0, 2, 4, 7])

const limits = { min: 1, max: 1000, default: 100 }

/** Filter of `GET /trades`. Throws HttpFailure 400. */
export function tradesQuery(venueState: VenueState, query: URLSearchParams): TradeFilter {
  const address = query.get('address')
  const account = address === null ? undefined : parseAddress(address)
  if (address !== null && account === undefined) {
    throw badFields({ address: { message: "'address' is not an address", value: address } })
  }
  const name = query.get('marketAddress') ?? query.get('symbol') ?? undefined
  const market = name === undefined ? undefined : findMarket(venueState, name)
  if (name !== undefined && market === undefined) throw badRequest(`Market not found: ${name}`)
  const actions = query.getAll('actions')
  return {
    account: account === undefined ? undefined : hexKey(account),
    from: timestampOf(query.get('since'), 'since'),
    to: timestampOf(query.get('until'), 'until'),
    marketKey: market?.key,
    eventNames: actions.length === 0 ? undefined : new Set(actions),
    combinations: [],
    directions: [],
    showDebugValues: query.get('showDebugValues') === 'true',
    limit: integerOf(query.get('limit'), 'limit', limits),
    cursor: query.get('cursor') ?? undefined,
  }
}

/** Filter of `/trades/search`, from a POST body or the query of a GET. Throws HttpFailure 400. */
export function tradesSearch(body: Readonly<Record<string, unknown>>): TradeFilter {
  const account = parseAddress(body.address)
  const forAll = body.forAllAccounts === true || body.forAllAccounts === 'true'
  if (account === undefined && !forAll) {
    throw badFields({ address: { message: "'address' is required and must be an address" } })
  }
  const list = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
    Array.isArray(value) ? value.filter(isObject) : []
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
  return {
    account: account === undefined ? undefined : hexKey(account),
    from: timestampOf(body.fromTimestamp, 'fromTimestamp'),
    to: timestampOf(body.toTimestamp, 'toTimestamp'),
    marketKey: undefined,
    eventNames: undefined,
    combinations: list(body.orderEventCombinations).map(({ eventName, orderType, ...flags }) => ({
      ...defined({
        eventName: typeof eventName === 'string' ? eventName : undefined,
        orderType: typeof orderType === 'number' ? orderType : undefined,
        isTwap: typeof flags.isTwap === 'boolean' ? flags.isTwap : undefined,
        isDepositOrWithdraw:
          typeof flags.isDepositOrWithdraw === 'boolean' ? flags.isDepositOrWithdraw : undefined,
      }),
    })),
    directions: list(body.marketsDirections).map((one) => {
      const market = text(one.marketAddress)
      const direction = text(one.direction)
      const collateral = text(one.collateralAddress)
      return {
        ...defined({ marketKey: market === undefined || market === 'any' ? undefined : hexKey(market) }),
        ...defined({ direction: direction === undefined || direction === 'any' ? undefined : direction }),
        ...defined({ collateral: ifDefined(collateral, hexKey) }),
      }
    }),
    showDebugValues: body.showDebugValues === true || body.showDebugValues === 'true',
    limit: integerOf(body.limit, 'limit', limits),
    cursor: text(body.cursor),
  }
}

function directionOf(row: TradeRow): string {
  return row.orderType <= 1 ? 'swap' : row.fields.isLong === true ? 'long' : 'short'
}

function marketOf(row: TradeRow): string {
  return hexKey(String(row.fields.marketAddress ?? ''))
}

function movesCollateralAlone({ orderType, fields }: TradeRow): boolean {
  return (orderType === 2 || orderType === 4) && fields.sizeDeltaUsd === 0n
}

function matches(row: TradeRow, filter: TradeFilter): boolean {
  if (filter.from !== undefined && row.timestamp < filter.from) return false
  if (filter.to !== undefined && row.timestamp > filter.to) return false
  if (filter.account !== undefined && hexKey(row.account) !== filter.account) return false
  if (filter.marketKey !== undefined && marketOf(row) !== filter.marketKey) return false
  if (filter.eventNames !== undefined && !filter.eventNames.has(row.eventName)) return false
  const isMarket = marketOrders.has(row.orderType)
  if (!filter.showDebugValues && row.eventName === 'OrderCreated' && isMarket) return false
  if (
    filter.combinations.length > 0 &&
    !filter.combinations.some(
      (one) =>
        (one.eventName === undefined || one.eventName === row.eventName) &&
        (one.orderType === undefined || one.orderType === row.orderType) &&
        (one.isTwap === undefined || one.isTwap === (row.fields.twapGroupId !== undefined)) &&
        (one.isDepositOrWithdraw === undefined || one.isDepositOrWithdraw === movesCollateralAlone(row)),
    )
  ) {
    return false
  }
  return (
    filter.directions.length === 0 ||
    filter.directions.some(
      (one) =>
        (one.marketKey === undefined || one.marketKey === marketOf(row)) &&
        (one.direction === undefined || one.direction === directionOf(row)) &&
        (one.collateral === undefined ||
          one.collateral === hexKey(String(row.fields.initialCollateralTokenAddress ?? ''))),
    )
  )
}

/** Rows as they were written: the newest are asked for again and again, and a row never changes. */
const written = new WeakMap<TradeRow, string>()

/** A row as it is sent; amounts are decimal strings. */
function textOf(row: TradeRow): string {
  const known = written.get(row)
  if (known !== undefined) return known
  const { id, account, orderKey, eventName, orderType, timestamp, fields } = row
  const text = stringify({ id, account, orderKey, eventName, orderType, timestamp, ...fields })
  written.set(row, text)
  return text
}

/** Page of the history, newest first. The cursor is opaque: the place after the last row, in base64. */
export function tradePage(venueState: VenueState, filter: TradeFilter): JsonText {
  let at = venueState.trades.length - 1
  if (filter.cursor !== undefined) {
    const id = Buffer.from(filter.cursor, 'base64').toString('utf8').split(':')[1]
    at = venueState.trades.findIndex((row) => row.id === id) - 1
    if (at < -1) throw badRequest('cursor is not from this service')
  }
  const rows: TradeRow[] = []
  let hasMore = false
  for (; at >= 0; at -= 1) {
    const row = venueState.trades[at]
    if (row === undefined || !matches(row, filter)) continue
    if (rows.length === filter.limit) {
      hasMore = true
      break
    }
    rows.push(row)
  }
  const last = rows.at(-1)
  const nextCursor =
    hasMore && last !== undefined
      ? Buffer.from(`${last.timestamp}:${last.id}`, 'utf8').toString('base64')
      : null
  return new JsonText(
    `{"trades":[${rows.map(textOf).join(',')}],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}`,
  )
}
