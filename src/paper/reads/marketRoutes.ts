/** Where market, token and price reads are served, on both services (both documents, "Endpoints"). */
import { HttpFailure } from '../http/http.ts'
import { catalogRow, configRow, isActive, isListed } from '../pools/marketRows.ts'
import { pulledValues } from '../pools/marketValues.ts'
import { closedMarkets } from '../state/hours.ts'
import type { VenueParts } from '../venue/venueParts.ts'
import { tickers, tradingCapacityRoute } from './appRoutes.ts'
import {
  oracleCandles,
  oracleMarketInfo,
  oracleMarketState,
  oracleMarkets,
  oracleTickers,
  oracleTokenList,
} from './oracleRoutes.ts'
import type { RouteKit } from './routeKit.ts'
import { tokenInfoRow, tokenRow } from './tokenRows.ts'

/** Adds the routes. */
export function addMarketRoutes({ venueState, faults }: VenueParts, kit: RouteKit): void {
  const { markets } = venueState
  const { tokens } = venueState.catalog.catalog
  kit.oracle('/ping', () => {
    if (faults.oracleDatabase === 'unavailable') throw new HttpFailure(500, { errors: ['db is unavailable'] })
    return { ok: true }
  })
  kit.oracle('/prices/tickers', ({ nowMs }) => oracleTickers(venueState, nowMs))
  kit.oracle('/prices/candles', ({ query, nowMs }) => oracleCandles(venueState, query, nowMs))
  kit.oracle('/tokens', () => oracleTokenList(venueState))
  kit.oracle('/tokens/info', ({ nowMs }) => ({
    tokens: tokens.map((token) => tokenInfoRow(venueState, token, nowMs)),
  }))
  kit.oracle('/markets', () => oracleMarkets(venueState))
  kit.oracle('/markets/info', ({ nowMs }) => oracleMarketInfo(venueState, nowMs))
  kit.oracle('/markets/state', ({ nowMs }) =>
    oracleMarketState(venueState, {
      closed: new Set([
        ...closedMarkets(venueState, Math.floor(nowMs / 1000)),
        ...faults.closedMarkets.map((market) => market.toLowerCase()),
      ]),
      unknown: new Set(faults.unknownMarkets.map((market) => market.toLowerCase())),
    }),
  )

  kit.api('GET', '/markets', () =>
    markets.filter((market) => isListed(venueState, market)).map((market) => catalogRow(venueState, market)),
  )
  kit.api('GET', '/markets/config', () => markets.map((market) => configRow(venueState, market)))
  kit.api('GET', '/markets/values', ({ nowMs }) =>
    markets.map((market) => pulledValues(venueState, market, nowMs)),
  )
  kit.api('GET', '/markets/info', ({ nowMs }) =>
    markets.map((market) => ({
      ...configRow(venueState, market),
      ...pulledValues(venueState, market, nowMs),
    })),
  )
  kit.api('GET', '/markets/tickers', ({ query, nowMs }) => tickers(venueState, query, nowMs))
  kit.api('GET', '/markets/trading-capacity', ({ query }) => tradingCapacityRoute(venueState, query))
  kit.api('GET', '/risk-oracle/markets', () =>
    markets
      .filter((market) => isActive(venueState, market))
      .map(({ catalog }) => ({ symbol: catalog.symbol, marketTokenAddress: catalog.marketToken })),
  )
  kit.api('GET', '/tokens', () => tokens.map(tokenRow))
  kit.api('GET', '/tokens/info', ({ nowMs }) => tokens.map((token) => tokenInfoRow(venueState, token, nowMs)))
}
