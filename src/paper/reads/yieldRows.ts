/** Yields of pools: fees, traders' PnL, APY (docs/reference/api-coverage.md A7, GET /apy and GET /yield/gm-pools). */

import { defined } from '../../base/defined.ts'
import type { Json, JsonBytes } from '../http/http.ts'
import { listBytes, yieldToEventLoop } from '../http/yieldToEventLoop.ts'
import { dollarsOf } from '../pools/flow.ts'
import { jitVaults } from '../pools/jitPools.ts'
import { flowBetween, ledgerOf, type MarketLedger, poolDollarsAt, sampleAt } from '../pools/ledger.ts'
import { booksOf, fieldRefusal, periodOf, type Refusal, windowOf } from '../pools/periods.ts'
import { namesMarket } from '../state/dataFaults.ts'
import type { VenueState } from '../state/venueState.ts'

/** Most samples that a mean over a window takes. */
const MEAN_SAMPLES = 96
const YEAR_HOURS = 24 * 365

/** Yield of a pool over a window; plain USD and fractions, null = not indexed. */
export interface PoolYield {
  readonly feeApy: number | null
  readonly tradersPnlUsd: number | null
  readonly tradersPnlApr: number | null
  readonly timeWeightedPoolValue: number | null
  readonly components: {
    readonly realizedPnlLongUsd: number | null
    readonly realizedPnlShortUsd: number | null
    /** Change of open PnL over the window: the four together are `tradersPnlUsd`. */
    readonly unrealizedPnlLongUsd: number | null
    readonly unrealizedPnlShortUsd: number | null
  }
}

const notIndexed: PoolYield = {
  feeApy: null,
  tradersPnlUsd: null,
  tradersPnlApr: null,
  timeWeightedPoolValue: null,
  components: {
    realizedPnlLongUsd: null,
    realizedPnlShortUsd: null,
    unrealizedPnlLongUsd: null,
    unrealizedPnlShortUsd: null,
  },
}

/** Mean value of a pool over hours, USD. */
function meanPoolUsd(venueState: VenueState, books: MarketLedger, fromHour: number, toHour: number): number {
  const step = Math.max(1, Math.ceil((toHour - fromHour) / MEAN_SAMPLES))
  let sum = 0
  let count = 0
  for (let hour = toHour; hour > fromHour; hour -= step) {
    const { long, short } = poolDollarsAt(venueState, books, hour)
    sum += long + short
    count += 1
  }
  return count === 0 ? 0 : sum / count
}

/** Yield of a pool between two hours. */
function poolYield(venueState: VenueState, books: MarketLedger, fromHour: number, toHour: number): PoolYield {
  const isUnknown = namesMarket(venueState.dataFaults.unindexedMarkets, books.market.key)
  if (isUnknown || toHour <= fromHour) return notIndexed
  const poolUsd = meanPoolUsd(venueState, books, fromHour, toHour)
  if (poolUsd === 0) return notIndexed
  const flow = flowBetween(venueState, books, fromHour, toHour)
  const years = (toHour - fromHour) / YEAR_HOURS
  const apr = dollarsOf(flow.feesForPoolUsd) / poolUsd / years
  const start = sampleAt(venueState, books, fromHour)
  const end = sampleAt(venueState, books, toHour)
  const components = {
    realizedPnlLongUsd: dollarsOf(flow.realizedLongUsd),
    realizedPnlShortUsd: dollarsOf(flow.realizedShortUsd),
    unrealizedPnlLongUsd: dollarsOf(end.unrealizedLongUsd - start.unrealizedLongUsd),
    unrealizedPnlShortUsd: dollarsOf(end.unrealizedShortUsd - start.unrealizedShortUsd),
  }
  const tradersPnlUsd =
    components.realizedPnlLongUsd +
    components.realizedPnlShortUsd +
    components.unrealizedPnlLongUsd +
    components.unrealizedPnlShortUsd
  return {
    feeApy: Math.expm1(365 * Math.log1p(apr / 365)),
    tradersPnlUsd,
    tradersPnlApr: tradersPnlUsd / poolUsd / years,
    timeWeightedPoolValue: poolUsd,
    components,
  }
}

/** `/yield/gm-pools`. Throws HttpFailure 400. */
export async function gmPools(
  venueState: VenueState,
  query: URLSearchParams,
  nowMs: number,
): Promise<JsonBytes> {
  const period = periodOf(query, 'period', '7d', fieldRefusal) ?? '7d'
  const include = query.get('includeComponents')
  if (include !== null && include !== 'true' && include !== 'false') {
    throw fieldRefusal('includeComponents', "'includeComponents' must be true or false", include)
  }
  const poolRow = (books: MarketLedger): Json => {
    const { fromHour, toHour } = windowOf(books, period, Math.floor(nowMs / 1000))
    const { components, ...row } = poolYield(venueState, books, fromHour, toHour)
    return {
      marketToken: books.market.catalog.marketToken,
      ...row,
      window: { period, startTimestamp: fromHour * 3600, endTimestamp: toHour * 3600 },
      ...defined({ components: include === 'true' ? components : undefined }),
    }
  }
  return listBytes(booksOf(venueState, query, 'pools', fieldRefusal), poolRow, '{"pools":', '}')
}

interface Apy {
  readonly apy: number
  readonly baseApy: number
  readonly bonusApr: number
}

/** Markets that share the weekly incentives. */
const INCENTIVISED = 4

/** `/apy` of both services: fee yield, and incentives on the deepest pools. Throws the refusal of the service. */
export async function apys(
  venueState: VenueState,
  query: URLSearchParams,
  nowMs: number,
  refusal: Refusal,
): Promise<Json> {
  const period = periodOf(query, 'period', '7d', refusal) ?? '7d'
  const { byMarket } = ledgerOf(venueState)
  const rows = new Map<string, Apy & { readonly poolUsd: number }>()
  const valued: { readonly books: MarketLedger; readonly poolUsd: number; readonly baseApy: number }[] = []
  for (const books of byMarket.values()) {
    const { fromHour, toHour } = windowOf(books, period, Math.floor(nowMs / 1000))
    const yields = poolYield(venueState, books, fromHour, toHour)
    valued.push({ books, poolUsd: yields.timeWeightedPoolValue ?? 0, baseApy: yields.feeApy ?? 0 })
    await yieldToEventLoop()
  }
  const deepest = new Set([...valued].sort((a, b) => b.poolUsd - a.poolUsd).slice(0, INCENTIVISED))
  for (const one of valued) {
    const yearlyUsd = deepest.has(one) ? (venueState.settings.weeklyIncentivesUsd * 52) / INCENTIVISED : 0
    const bonusApr = one.poolUsd === 0 ? 0 : yearlyUsd / one.poolUsd
    rows.set(one.books.market.key, {
      apy: one.baseApy + bonusApr,
      baseApy: one.baseApy,
      bonusApr,
      poolUsd: one.poolUsd,
    })
  }
  const markets: Record<string, Json> = {}
  for (const [key, { poolUsd: _poolUsd, ...row }] of rows) {
    markets[byMarket.get(key)?.market.catalog.marketToken ?? key] = row
  }
  const glvs: Record<string, Json> = {}
  for (const vault of jitVaults(venueState)) {
    const held = vault.markets.flatMap((market) => rows.get(market.key) ?? [])
    const total = held.reduce((sum, row) => sum + row.poolUsd, 0)
    const mean = (pick: (row: Apy) => number): number =>
      total === 0 ? 0 : held.reduce((sum, row) => sum + pick(row) * row.poolUsd, 0) / total
    const baseApy = mean((row) => row.baseApy)
    const bonusApr = mean((row) => row.bonusApr)
    glvs[vault.glv] = { apy: baseApy + bonusApr, baseApy, bonusApr }
  }
  return { markets, glvs }
}
