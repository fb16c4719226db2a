/** Where market, token and price reads are served, on both services (both documents, "Endpoints"). */
import { tickers, tradingCapacityRoute } from './appRoutes.ts'
import { closedMarkets } from './hours.ts'
import { HttpFailure } from './http.ts'
import { catalogRow, configRow, isActive, isListed } from './marketRows.ts'
import { pulledValues } from './marketValues.ts'
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
import type { VenueState } from './venueState.ts'

/** Adds the routes. */
export function addMarketRoutes({ world, faults }: VenueState, kit: RouteKit): void {
  const { markets } = world
  const { tokens } = world.catalog.catalog
  kit.oracle('/ping', () => {
    if (faults.oracleDatabase === 'unavailable') throw new HttpFailure(500, { errors: ['db is unavailable'] })
    return { ok: true }
  })
  kit.oracle('/prices/tickers', ({ nowMs }) => oracleTickers(world, nowMs))
  kit.oracle('/prices/candles', ({ query, nowMs }) => oracleCandles(world, query, nowMs))
  kit.oracle('/tokens', () => oracleTokenList(world))
  kit.oracle('/tokens/info', ({ nowMs }) => ({
    tokens: tokens.map((token) => tokenInfoRow(world, token, nowMs)),
  }))
  kit.oracle('/markets', () => oracleMarkets(world))
  kit.oracle('/markets/info', ({ nowMs }) => oracleMarketInfo(world, nowMs))
  kit.oracle('/markets/state', ({ nowMs }) =>
    oracleMarketState(world, {
      closed: new Set([
        ...closedMarkets(world, Math.floor(nowMs / 1000)),
        ...faults.closedMarkets.map((market) => market.toLowerCase()),
      ]),
      unknown: new Set(faults.unknownMarkets.map((market) => market.toLowerCase())),
    }),
  )

  kit.api('GET', '/markets', () =>
    markets.filter((market) => isListed(world, market)).map((market) => catalogRow(world, market)),
  )
  kit.api('GET', '/markets/config', () => markets.map((market) => configRow(world, market)))
  kit.api('GET', '/markets/values', ({ nowMs }) =>
    markets.map((market) => pulledValues(world, market, nowMs)),
  )
  kit.api('GET', '/markets/info', ({ nowMs }) =>
    markets.map((market) => ({ ...configRow(world, market), ...pulledValues(world, market, nowMs) })),
  )
  kit.api('GET', '/markets/tickers', ({ query, nowMs }) => tickers(world, query, nowMs))
  kit.api('GET', '/markets/trading-capacity', ({ query }) => tradingCapacityRoute(world, query))
  kit.api('GET', '/risk-oracle/markets', () =>
    markets
      .filter((market) => isActive(world, market))
      .map(({ catalog }) => ({ symbol: catalog.symbol, marketTokenAddress: catalog.marketToken })),
  )
  kit.api('GET', '/tokens', () => tokens.map(tokenRow))
  kit.api('GET', '/tokens/info', ({ nowMs }) => tokens.map((token) => tokenInfoRow(world, token, nowMs)))
}
