/** Where the reads beside trading are served, on which host and with which cache window (application document, "Endpoints"). */
import { advanceWorld } from './advance.ts'
import { earningsAccount, gmUserEarnings, liquidityProviders } from './earnings.ts'
import { performanceAnnualized, performanceSnapshots, rates } from './historyRoutes.ts'
import { HttpFailure, type Json, notFound, stringify } from './http.ts'
import { jitHistory, jitInfo } from './jitRoutes.ts'
import { valuesStaleness } from './marketRows.ts'
import { boostApr, buyback, ohlcv, signedPrices, stakingPower, whitelists } from './otherReads.ts'
import { pairRows, solanaPairs } from './pairs.ts'
import { createAnswerCache, fieldRefusal, type Refusal } from './periods.ts'
import { statsSourceList, statsSummary, statsTimeseries } from './stats.ts'
import { statsSources } from './statsSources.ts'
import type { World } from './world.ts'
import { apys, gmPools } from './yield.ts'

/** What a read is asked. */
export interface ReadInput {
  readonly request: Request
  readonly query: URLSearchParams
  readonly nowMs: number
  /** Position of the application peer, 0 = the first family. */
  readonly family: number
  readonly param: (name: string) => string
}

/** What a read answers: JSON, text made before, or a whole answer. */
export type ReadHandler<T> = (input: ReadInput) => Json | T | Response | Promise<Json | T | Response>

/** A venue beside this one in the same process, this one included. */
export interface Neighbour {
  readonly world: World
  readonly paths: { readonly api: readonly string[] }
  fetch(request: Request): Promise<Response>
}

/** How the venue lets routes be added. `T` is its form of text made before. */
export interface ReadKit<T> {
  /** A route of both application peers under `/v1`. */
  api(path: string, handler: ReadHandler<T>): void
  /** A route of all oracle hosts. */
  oracle(path: string, handler: ReadHandler<T>): void
  /** A route at a path of its own below the venue's prefix, of a named host. */
  at(path: string, host: string, handler: ReadHandler<T>): void
  text(text: string): T
  readonly neighbours: () => readonly Neighbour[]
}

/** The chain whose deployment computes stats and the Solana feed (application document, "Stats", "Pair feeds"). */
export const STATS_CHAIN = 'arbitrum'
/** Chains with a public summary for exchange listings (application document, "Pair feeds"). */
export const listingChains: readonly string[] = ['arbitrum', 'avalanche']
/** Answers kept of each group of routes. */
const CACHED_ANSWERS = 64
const CACHED_ACCOUNTS = 1000

const oracleRefusal: Refusal = (_name, text) => new HttpFailure(400, { errors: [text] })
const unserved = (): HttpFailure => new HttpFailure(503, { message: 'Internal Server Error' })

/** Adds the routes. */
export function addReadRoutes<T>(world: World, kit: ReadKit<T>): void {
  const answers = createAnswerCache(CACHED_ANSWERS)
  const accounts = createAnswerCache(CACHED_ACCOUNTS)
  /** Text that stays the same for a while; the same question in another order of words is another one. */
  const kept = (name: string, { query, nowMs }: ReadInput, windowMs: number, make: () => Json): T =>
    kit.text(answers(`${name}?${query.toString()}`, nowMs, windowMs, () => stringify(make())))

  addHistory(world, kit)
  kit.api('/yield/gm-pools', (input) =>
    kept('gm-pools', input, 1_800_000, () => gmPools(world, input.query, input.nowMs)),
  )
  kit.api('/yield/gm-user-earnings', ({ query, nowMs }) => {
    const account = earningsAccount(query)
    return kit.text(accounts(account, nowMs, 2000, () => stringify(gmUserEarnings(world, query, nowMs))))
  })
  kit.api('/pairs', (input) => kept('pairs', input, 60_000, () => pairRows(world, input.nowMs)))
  kit.api('/pairs/solana', ({ nowMs }) => solanaPairs(world, nowMs, world.chain.name === STATS_CHAIN))
  kit.at('/solana/v1/pairs', 'solana', ({ nowMs }) =>
    solanaPairs(world, nowMs, world.chain.name === STATS_CHAIN),
  )
  kit.at('/pairs/api/:chain/pairs', 'pairs', (input) => {
    const chain = input.param('chain')
    const worlds = [world, ...kit.neighbours().map((one) => one.world)]
    const listed = listingChains.includes(chain) ? worlds.find((one) => one.chain.name === chain) : undefined
    if (listed === undefined) throw notFound('Not Found')
    return kept(`listing ${chain}`, input, 60_000, () => {
      if (listed !== world) advanceWorld(listed)
      return pairRows(listed, input.nowMs)
    })
  })
  kit.api('/prices/ohlcv', ({ query, nowMs }) => ohlcv(world, query, nowMs))
  kit.oracle('/signed_prices/latest', (input) =>
    kept('signed prices', input, 1000, () => signedPrices(world, input.nowMs)),
  )
  kit.api('/staking/power', ({ query, nowMs }) => stakingPower(world, query, nowMs))
  kit.api('/buyback/weekly-stats', (input) =>
    kept('buyback', input, 60_000, () => buyback(world, input.nowMs)),
  )
  kit.api('/jit/liquidity_info', (input) =>
    kept('jit v1', input, 1000, () => jitInfo(world, 'v1', input.nowMs)),
  )
  kit.at('/api/:host{[0-1]}/v2/jit/liquidity_info', 'api/:host', (input) =>
    kept('jit v2', input, 1000, () => jitInfo(world, 'v2', input.nowMs)),
  )
  kit.api('/jit/liquidity_history', ({ query, nowMs }) => jitHistory(world, query, nowMs))
  kit.api('/incentives/usdg/boost-apr', (input) =>
    kept('boost', input, 1_800_000, () => boostApr(world, input.nowMs)),
  )
  kit.api('/whitelists', (input) => kept('whitelists', input, 60_000, () => whitelists(world, input.query)))
  addStats(world, kit)
  kit.at('/__control/liquidity-providers', 'control', () =>
    [...liquidityProviders(world).values()].map(({ address, holdings }) => ({
      address,
      pools: holdings.map((holding) => ({
        marketToken: world.marketByKey.get(holding.marketKey)?.catalog.marketToken ?? holding.marketKey,
        sharePpm: holding.sharePpm,
        isHeld: holding.toHour === Number.POSITIVE_INFINITY,
      })),
    })),
  )
  kit.at('/__control/staleness', 'control', ({ nowMs }) => valuesStaleness(world, nowMs))
}

/** Rates, APY and performance, on both services. */
function addHistory<T>(world: World, kit: ReadKit<T>): void {
  const answers = createAnswerCache(CACHED_ANSWERS)
  /** History moves by the hour. */
  const hourly = (name: string, { query, nowMs }: ReadInput, make: () => Json): T => {
    const hour = Math.floor(nowMs / 3_600_000)
    return kit.text(answers(`${name}?${query.toString()}:${hour}`, nowMs, 60_000, () => stringify(make())))
  }
  for (const [service, refusal, form] of [
    ['api', fieldRefusal, 'application'],
    ['oracle', oracleRefusal, 'oracle'],
  ] as const) {
    const add = (path: string, make: (input: ReadInput) => Json): void =>
      kit[service](path, (input) => hourly(service + path, input, () => make(input)))
    add('/rates', ({ query, nowMs }) => rates(world, query, nowMs, refusal))
    add('/apy', ({ query, nowMs }) => apys(world, query, nowMs, refusal))
    add('/performance/annualized', ({ query, nowMs }) =>
      performanceAnnualized(world, query, nowMs, form, refusal),
    )
    add('/performance/snapshots', ({ query, nowMs }) =>
      performanceSnapshots(world, query, nowMs, form, refusal),
    )
  }
}

/** Stats: computed on one chain, forwarded by the first family elsewhere, redirected by the second. */
function addStats<T>(world: World, kit: ReadKit<T>): void {
  const answers = createAnswerCache(CACHED_ANSWERS)
  const serve = (path: string, make: (input: ReadInput) => Json): void =>
    kit.api(path, async (input) => {
      if (world.dataFaults.stats === 'unavailable') throw unserved()
      if (world.chain.name === STATS_CHAIN) {
        const { query, nowMs } = input
        return kit.text(
          answers(`${path}?${query.toString()}`, nowMs, 30_000, () => {
            for (const { world: other } of kit.neighbours()) if (other !== world) advanceWorld(other)
            return stringify(make(input))
          }),
        )
      }
      const home = kit.neighbours().find((one) => one.world.chain.name === STATS_CHAIN)
      const base = home?.paths.api[input.family]
      if (home === undefined || base === undefined) throw unserved()
      const { origin, search } = new URL(input.request.url)
      const address = `${origin}${base}${path}${search}`
      if (input.family === 0) return home.fetch(new Request(address))
      // The redirect has no CORS headers: browsers cannot follow it.
      return new Response(null, { status: 308, headers: { Location: address } })
    })
  const sources = () => {
    const worlds = kit.neighbours().map((one) => one.world)
    return statsSources(world, worlds.includes(world) ? worlds : [world, ...worlds])
  }
  serve('/stats/summary', ({ query, nowMs }) => statsSummary(world, sources(), query, nowMs))
  serve('/stats/timeseries', ({ query, nowMs }) => statsTimeseries(world, sources(), query, nowMs))
  serve('/stats/sources', ({ nowMs }) => statsSourceList(world, sources(), nowMs))
}
