/** Where the reads beside trading are served, and on which host (docs/reference/api-coverage.md A12 to A16). */
import { HttpFailure, type Json, notFound } from '../http/http.ts'
import { gmUserEarnings, liquidityProviders } from '../pools/earnings.ts'
import { valuesStaleness } from '../pools/marketValues.ts'
import { fieldRefusal, type Refusal } from '../pools/periods.ts'
import type { VenueState } from '../state/venueState.ts'
import { advanceVenue } from '../transactions/advance.ts'
import { performanceAnnualized, performanceSnapshots, rates } from './historyRoutes.ts'
import { jitHistory, jitInfo } from './jitRoutes.ts'
import { boostApr, buyback, ohlcv, signedPrices, stakingPower, whitelists } from './otherReads.ts'
import { pairRows, solanaPairs } from './pairs.ts'
import type { RouteHandler, RouteInput, RouteKit } from './routeKit.ts'
import { statsSourceList, statsSummary, statsTimeseries } from './statsRoutes.ts'
import { readThroughDays, type StatsSource, statsSources } from './statsSources.ts'
import { apys, gmPools } from './yieldRows.ts'

/** The chain whose deployment computes stats and the Solana feed (docs/reference/api-coverage.md A15 and A16). */
export const STATS_CHAIN = 'arbitrum'
/** Chains with a public summary for exchange listings (docs/reference/api-coverage.md A16). */
export const listingChains: readonly string[] = ['arbitrum', 'avalanche']
const oracleRefusal: Refusal = (_name, text) => new HttpFailure(400, { errors: [text] })
/** Where stats are while they are moved on purpose. */
const MOVED = '/moved'
const unserved = (): HttpFailure => new HttpFailure(503, { message: 'Internal Server Error' })

/** A redirect has no CORS headers: browsers cannot follow it. */
function redirect(address: string): Response {
  return new Response(null, { status: 308, headers: { Location: address } })
}

/** Adds the routes. */
export function addReadRoutes(venueState: VenueState, kit: RouteKit): void {
  addHistory(venueState, kit)
  addStats(venueState, kit)
  addFeeds(venueState, kit)
  kit.api('GET', '/yield/gm-pools', ({ query, nowMs }) => gmPools(venueState, query, nowMs))
  kit.api('GET', '/yield/gm-user-earnings', ({ query, nowMs }) => gmUserEarnings(venueState, query, nowMs))
  kit.api('GET', '/prices/ohlcv', ({ query, nowMs }) => ohlcv(venueState, query, nowMs))
  kit.oracle('/signed_prices/latest', ({ nowMs }) => signedPrices(venueState, nowMs))
  kit.api('GET', '/staking/power', ({ query, nowMs }) => stakingPower(venueState, query, nowMs))
  kit.api('GET', '/buyback/weekly-stats', ({ nowMs }) => buyback(venueState, nowMs))
  kit.api('GET', '/jit/liquidity_info', ({ nowMs }) => jitInfo(venueState, 'v1', nowMs))
  kit.at('/api/:host{[0-1]}/v2/jit/liquidity_info', 'api/:host', ({ nowMs }) =>
    jitInfo(venueState, 'v2', nowMs),
  )
  kit.api('GET', '/jit/liquidity_history', ({ query, nowMs }) => jitHistory(venueState, query, nowMs))
  kit.api('GET', '/incentives/usdg/boost-apr', ({ nowMs }) => boostApr(venueState, nowMs))
  kit.api('GET', '/whitelists', ({ query }) => whitelists(venueState, query))
  kit.at('/__control/liquidity-providers', 'control', () =>
    [...liquidityProviders(venueState).values()].map(({ address, holdings }) => ({
      address,
      pools: holdings.map((holding) => ({
        marketToken: venueState.marketByKey.get(holding.marketKey)?.catalog.marketToken ?? holding.marketKey,
        sharePpm: holding.sharePpm,
        isHeld: holding.toHour === Number.POSITIVE_INFINITY,
      })),
    })),
  )
  kit.at('/__control/staleness', 'control', ({ nowMs }) => valuesStaleness(venueState, nowMs))
}

/** Pair feeds: this chain's, the Solana one, and the summaries of the chains that have one. */
function addFeeds(venueState: VenueState, kit: RouteKit): void {
  const solana: RouteHandler = ({ nowMs }) =>
    solanaPairs(venueState, nowMs, venueState.chain.name === STATS_CHAIN)
  kit.api('GET', '/pairs', ({ nowMs }) => pairRows(venueState, nowMs))
  kit.api('GET', '/pairs/solana', solana)
  kit.at('/solana/v1/pairs', 'solana', solana)
  kit.at('/pairs/api/:chain/pairs', 'pairs', ({ nowMs, param }) => {
    const chain = param('chain')
    const worlds = [venueState, ...kit.neighbours().map((one) => one.venueState)]
    const listed = listingChains.includes(chain) ? worlds.find((one) => one.chain.name === chain) : undefined
    if (listed === undefined) throw notFound('Not Found')
    if (listed !== venueState) advanceVenue(listed)
    return pairRows(listed, nowMs)
  })
}

/** Rates, APY and performance, on both services. */
function addHistory(venueState: VenueState, kit: RouteKit): void {
  for (const [service, refusal, form] of [
    ['api', fieldRefusal, 'application'],
    ['oracle', oracleRefusal, 'oracle'],
  ] as const) {
    const add = (path: string, handler: RouteHandler): void =>
      service === 'api' ? kit.api('GET', path, handler) : kit.oracle(path, handler)
    add('/rates', ({ query, nowMs }) => rates(venueState, query, nowMs, refusal))
    add('/apy', ({ query, nowMs }) => apys(venueState, query, nowMs, refusal))
    add('/performance/annualized', ({ query, nowMs }) =>
      performanceAnnualized(venueState, query, nowMs, form, refusal),
    )
    add('/performance/snapshots', ({ query, nowMs }) =>
      performanceSnapshots(venueState, query, nowMs, form, refusal),
    )
  }
}

/** Stats: computed on one chain, forwarded by the first family elsewhere, redirected by the second. */
function addStats(venueState: VenueState, kit: RouteKit): void {
  const sources = () => {
    const worlds = kit.neighbours().map((one) => one.venueState)
    return statsSources(venueState, worlds.includes(venueState) ? worlds : [venueState, ...worlds])
  }
  const serve = (
    path: string,
    make: (input: RouteInput, sources: readonly StatsSource[]) => Json | Promise<Json>,
  ): void => {
    const answer: RouteHandler = async (input) => {
      if (venueState.dataFaults.stats === 'unavailable') throw unserved()
      if (venueState.chain.name === STATS_CHAIN) {
        for (const { venueState: other } of kit.neighbours()) if (other !== venueState) advanceVenue(other)
        const read = sources()
        await readThroughDays(read, Math.floor(input.nowMs / 1000))
        return make(input, read)
      }
      const home = kit.neighbours().find((one) => one.venueState.chain.name === STATS_CHAIN)
      const base = home?.paths.api[input.family]
      if (home === undefined || base === undefined) throw unserved()
      const { origin, search } = new URL(input.url)
      const address = `${origin}${base}${path}${search}`
      if (input.family === 0) return home.fetch(new Request(address))
      return redirect(address)
    }
    kit.api('GET', path, (input) => {
      if (venueState.dataFaults.stats !== 'moved') return answer(input)
      const { origin, pathname, search } = new URL(input.url)
      return redirect(`${origin}${pathname.slice(0, -path.length)}${MOVED}${path}${search}`)
    })
    kit.api('GET', MOVED + path, (input) => {
      if (venueState.dataFaults.stats !== 'moved') throw notFound('Not Found')
      return answer(input)
    })
  }
  serve('/stats/summary', ({ query, nowMs }, sources) => statsSummary(venueState, sources, query, nowMs))
  serve('/stats/timeseries', ({ query, nowMs }, sources) =>
    statsTimeseries(venueState, sources, query, nowMs),
  )
  serve('/stats/sources', ({ nowMs }, sources) => statsSourceList(venueState, sources, nowMs))
}
