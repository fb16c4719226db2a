/** Tickers, capacity and orders of the application API (docs/reference/api-coverage.md A1 to A37 and GET /markets/tickers). */
import { defined } from '../../base/defined.ts'
import { hexKey } from '../../protocol/address.ts'
import { badFields, badRequest, type Json, notFound, parseAddress, requiredAddress } from '../http/http.ts'
import { capacityJson, capacityOfMarket, tickerRow } from '../pools/marketRows.ts'
import { orderRow, ordersOfAccount } from '../prepare/positionRows.ts'
import { findMarket } from '../state/lookup.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { VenueState } from '../state/venueState.ts'

/** Markets that either filter of `/markets/tickers` names; all without a filter. Throws HttpFailure 400. */
function filteredMarkets(venueState: VenueState, query: URLSearchParams): readonly VenueMarket[] {
  const addresses = query.getAll('addresses')
  const symbols = query.getAll('symbols')
  if (addresses.length === 0 && symbols.length === 0) return venueState.markets
  const wanted = new Set<VenueMarket>()
  for (const address of addresses) {
    const market =
      parseAddress(address) === undefined ? undefined : venueState.marketByKey.get(hexKey(address))
    if (market === undefined) {
      throw badFields({ addresses: { message: 'addresses names no market', value: address } })
    }
    wanted.add(market)
  }
  for (const symbol of symbols) {
    const market = findMarket(venueState, symbol)
    if (market === undefined)
      throw badFields({ symbols: { message: 'symbols names no market', value: symbol } })
    wanted.add(market)
  }
  return venueState.markets.filter((market) => wanted.has(market))
}

/** `/markets/tickers`. */
export function tickers(venueState: VenueState, query: URLSearchParams, nowMs: number): Json {
  return filteredMarkets(venueState, query).map((market) => tickerRow(venueState, market, nowMs))
}

/** `/markets/trading-capacity`. Throws HttpFailure 400. */
export function tradingCapacityRoute(venueState: VenueState, query: URLSearchParams): Json {
  const symbol = query.get('symbol')
  const direction = query.get('direction')
  const errors: Record<string, { message: string; value?: string }> = {}
  if (symbol === null || symbol === '') errors.symbol = { message: "'symbol' is required" }
  if (direction !== 'long' && direction !== 'short') {
    errors.direction = {
      message: "'direction' must be long or short",
      ...defined({ value: direction === null ? undefined : direction }),
    }
  }
  if (Object.keys(errors).length > 0) throw badFields(errors)
  const market = findMarket(venueState, symbol ?? '')
  if (market === undefined) throw badRequest('Market not found')
  return capacityJson(
    venueState,
    market,
    capacityOfMarket(venueState, market, direction === 'long' ? 'long' : 'short'),
  )
}

/** `/orders`. Throws HttpFailure 400. */
export function orders(venueState: VenueState, query: URLSearchParams): Json {
  return ordersOfAccount(venueState, requiredAddress(query, 'address')).map(orderRow)
}

/** `/orders/{key}`. Throws HttpFailure 404. */
export function orderByKey(venueState: VenueState, key: string): Json {
  const order = venueState.orders.get(hexKey(key))
  if (order === undefined) throw notFound('Order not found')
  return orderRow(order)
}
