/** Rates and performance of the past, on both services (docs/reference/api-coverage.md GET /rates). */

import type { Json, JsonBytes } from '../http/http.ts'
import { listBytes, yieldToEventLoop } from '../http/yieldToEventLoop.ts'
import { dollarsOf } from '../pools/flow.ts'
import { jitVaults } from '../pools/jitPools.ts'
import { flowBetween, ledgerOf, type MarketLedger, ratesAt, sampleAt } from '../pools/ledger.ts'
import { booksOf, periodHours, periodOf, type Refusal, windowOf } from '../pools/periods.ts'
import { priceRatio } from '../pools/seededHistory.ts'
import type { VenueState } from '../state/venueState.ts'

/** Hourly snapshots reach back this far, then there is one a day, then one a week. */
const HOURLY_DAYS = 7
const DAILY_DAYS = 90
/** Most looks at one market's history in one answer. */
const MAX_LOOKS = 800
const DAY_HOURS = 24

const rateFields = [
  ['fundingRateLong', 'fundingLong'],
  ['fundingRateShort', 'fundingShort'],
  ['borrowingRateLong', 'borrowingLong'],
  ['borrowingRateShort', 'borrowingShort'],
] as const

/** `/rates`: hourly snapshots, or means over `averageBy`; rates per hour, 30 decimals. Throws the refusal of the service. */
export async function rates(
  venueState: VenueState,
  query: URLSearchParams,
  nowMs: number,
  refusal: Refusal,
): Promise<JsonBytes> {
  const period = periodOf(query, 'period', '7d', refusal) ?? '7d'
  const averageBy = periodOf(query, 'averageBy', undefined, refusal, Object.keys(periodHours).slice(0, -1))
  return listBytes(booksOf(venueState, query, 'address', refusal), (books) => {
    const { fromHour, toHour } = windowOf(books, period, Math.floor(nowMs / 1000))
    const bucket = averageBy === undefined ? 0 : (periodHours[averageBy] ?? DAY_HOURS)
    return {
      marketAddress: books.market.catalog.marketToken,
      ratesSnapshots:
        bucket === 0
          ? snapshots(venueState, books, fromHour, toHour)
          : means(venueState, books, fromHour, toHour, bucket),
    }
  })
}

function snapshots(venueState: VenueState, books: MarketLedger, fromHour: number, toHour: number): Json[] {
  const rows: Json[] = []
  let hour = toHour
  while (hour > fromHour) {
    rows.push(rateRow(venueState, books, [hour], hour))
    const age = toHour - hour
    hour -= age < HOURLY_DAYS * DAY_HOURS ? 1 : age < DAILY_DAYS * DAY_HOURS ? DAY_HOURS : 7 * DAY_HOURS
  }
  return rows.reverse()
}

function means(
  venueState: VenueState,
  books: MarketLedger,
  fromHour: number,
  toHour: number,
  bucket: number,
): Json[] {
  const rows: Json[] = []
  const step = Math.max(1, Math.ceil((toHour - fromHour) / MAX_LOOKS))
  for (let end = toHour; end > fromHour; end -= bucket) {
    const hours: number[] = []
    for (let hour = end; hour > Math.max(fromHour, end - bucket); hour -= step) hours.push(hour)
    rows.unshift(rateRow(venueState, books, hours, end))
  }
  return rows
}

/** Mean of the rates at some hours; net = funding less borrowing. */
function rateRow(venueState: VenueState, books: MarketLedger, hours: readonly number[], hour: number): Json {
  const sums = [0n, 0n, 0n, 0n] as [bigint, bigint, bigint, bigint]
  for (const at of hours) {
    const rates = ratesAt(venueState, books, at)
    for (const [i, [, name]] of rateFields.entries()) sums[i] = (sums[i] ?? 0n) + rates[name]
  }
  const count = BigInt(hours.length)
  const [fundingLong, fundingShort, borrowingLong, borrowingShort] = sums.map(
    (sum) => sum / count,
  ) as typeof sums
  return {
    timestamp: hour * 3600,
    netRateLong: (fundingLong - borrowingLong).toString(),
    netRateShort: (fundingShort - borrowingShort).toString(),
    fundingRateLong: fundingLong.toString(),
    fundingRateShort: fundingShort.toString(),
    borrowingRateLong: borrowingLong.toString(),
    borrowingRateShort: borrowingShort.toString(),
  }
}

/** Performance of a pool between two hours, against holding its tokens; ratios, 1 = the same. */
interface Performance {
  readonly longToken: number
  readonly shortToken: number
  /** Against half of each token in a pool without fees, which trades along the price. */
  readonly uniswapV2: number
}

const unchanged: Performance = { longToken: 1, shortToken: 1, uniswapV2: 1 }

/** Returns the growth of a pool share in a step: its tokens at new prices, plus fees earned, less traders' gains. */
function stepOf(venueState: VenueState, books: MarketLedger, fromHour: number, toHour: number): Performance {
  const { market } = books
  const ratio = (token: string): number =>
    priceRatio(venueState, token, toHour) / priceRatio(venueState, token, fromHour)
  const long = ratio(market.longToken.address)
  const short = ratio(market.shortToken.address)
  const start = sampleAt(venueState, books, fromHour)
  const end = sampleAt(venueState, books, toHour)
  const startLong = dollarsOf(start.poolLongUsd)
  const startUsd = startLong + dollarsOf(start.poolShortUsd)
  const poolUsd = (startUsd + dollarsOf(end.poolLongUsd + end.poolShortUsd)) / 2
  if (startUsd === 0 || poolUsd === 0) return unchanged
  const flow = flowBetween(venueState, books, fromHour, toHour)
  const paid = dollarsOf(
    flow.realizedLongUsd +
      flow.realizedShortUsd +
      (end.unrealizedLongUsd - start.unrealizedLongUsd) +
      (end.unrealizedShortUsd - start.unrealizedShortUsd),
  )
  const shareLong = startLong / startUsd
  const basket = shareLong * long + (1 - shareLong) * short
  const share = basket * (1 + (dollarsOf(flow.feesForPoolUsd) - paid) / poolUsd)
  return { longToken: share / long, shortToken: share / short, uniswapV2: share / Math.sqrt(long * short) }
}

/** Where a performance answer is served: the two services name the figures differently. */
export type PerformanceForm = 'application' | 'oracle'

/** One pool or vault with its change since the start, point by point. */
interface PerformancePath {
  readonly address: string
  readonly entity: 'Market' | 'Glv'
  readonly fromHour: number
  readonly points: readonly (Performance & { readonly hour: number })[]
}

/** Most points of one history of performance. */
const PERFORMANCE_POINTS = 30

/** Paths of markets by period, of one hour: a path ends with the last full hour, so it holds until the next. */
interface Paths {
  readonly hour: number
  readonly byPeriod: Map<string, Map<MarketLedger, PerformancePath>>
}

const pathsByWorld = new WeakMap<VenueState, Paths>()

/** Paths made so far of a period that ends at this hour. */
function madePaths(
  venueState: VenueState,
  period: string,
  nowSeconds: number,
): Map<MarketLedger, PerformancePath> {
  const hour = Math.floor(nowSeconds / 3600)
  let paths = pathsByWorld.get(venueState)
  if (paths === undefined || paths.hour !== hour) {
    paths = { hour, byPeriod: new Map() }
    pathsByWorld.set(venueState, paths)
  }
  let made = paths.byPeriod.get(period)
  if (made === undefined) {
    made = new Map()
    paths.byPeriod.set(period, made)
  }
  return made
}

/** Paths of the pools and vaults that the query names; all without an address. A vault is the mean of its markets. */
async function pathsOf(
  venueState: VenueState,
  query: URLSearchParams,
  period: string,
  nowMs: number,
  refusal: Refusal,
): Promise<readonly PerformancePath[]> {
  const nowSeconds = Math.floor(nowMs / 1000)
  const named = booksOf(venueState, query, 'address', refusal)
  const wanted = new Set(query.getAll('address').map((address) => address.toLowerCase()))
  const vaults = jitVaults(venueState).filter(({ glv }) => wanted.size === 0 || wanted.has(glv.toLowerCase()))
  const { byMarket } = ledgerOf(venueState)
  const made = madePaths(venueState, period, nowSeconds)
  const pathOf = (books: MarketLedger): PerformancePath => {
    const known = made.get(books)
    if (known !== undefined) return known
    const { fromHour, toHour } = windowOf(books, period, nowSeconds)
    const step = Math.max(1, Math.ceil((toHour - fromHour) / DAY_HOURS / PERFORMANCE_POINTS)) * DAY_HOURS
    const hours: number[] = []
    for (let hour = toHour; hour > fromHour; hour -= step) hours.unshift(hour)
    let last = unchanged
    let at = fromHour
    const points = hours.map((hour) => {
      const one = stepOf(venueState, books, at, hour)
      at = hour
      last = {
        longToken: last.longToken * one.longToken,
        shortToken: last.shortToken * one.shortToken,
        uniswapV2: last.uniswapV2 * one.uniswapV2,
      }
      return { hour, ...last }
    })
    const path: PerformancePath = {
      address: books.market.catalog.marketToken,
      entity: 'Market',
      fromHour,
      points,
    }
    made.set(books, path)
    return path
  }
  for (const books of [
    ...named,
    ...vaults.flatMap(({ markets }) => markets.flatMap(({ key }) => byMarket.get(key) ?? [])),
  ]) {
    if (made.has(books)) continue
    pathOf(books)
    await yieldToEventLoop()
  }
  const vaultPath = (vault: (typeof vaults)[number]): PerformancePath => {
    const parts = vault.markets.flatMap((market) => {
      const books = byMarket.get(market.key)
      return books === undefined ? [] : [pathOf(books)]
    })
    // The oldest member sets the points; a younger one counts from its listing.
    const longest = parts.reduce((one, other) => (other.fromHour < one.fromHour ? other : one))
    const points = longest.points.map(({ hour }) => {
      const there = parts.map((part) => part.points.findLast((point) => point.hour <= hour) ?? unchanged)
      const mean = (name: keyof Performance): number =>
        there.reduce((sum, one) => sum + one[name], 0) / there.length
      return {
        hour,
        longToken: mean('longToken'),
        shortToken: mean('shortToken'),
        uniswapV2: mean('uniswapV2'),
      }
    })
    return { address: vault.glv, entity: 'Glv', fromHour: longest.fromHour, points }
  }
  const paths = named.map(pathOf)
  for (const vault of vaults) {
    paths.push(vaultPath(vault))
    await yieldToEventLoop()
  }
  return paths
}

const performancePeriods = Object.keys(periodHours).filter((period) => period !== '1d')

/** A ratio as the change it is, decimal text. */
function changeText(ratio: number): string {
  return (ratio - 1).toFixed(8)
}

/** `/performance/annualized`: change a year against holding. `1d` is refused. Throws the refusal of the service. */
export async function performanceAnnualized(
  venueState: VenueState,
  query: URLSearchParams,
  nowMs: number,
  form: PerformanceForm,
  refusal: Refusal,
): Promise<Json> {
  const period = periodOf(query, 'period', '90d', refusal, performancePeriods) ?? '90d'
  const paths = await pathsOf(venueState, query, period, nowMs, refusal)
  return paths.map(({ address, entity, fromHour, points }) => {
    const last = points.at(-1)
    const years = Math.max(1, (last?.hour ?? fromHour) - fromHour) / (365 * DAY_HOURS)
    const yearly = (name: keyof Performance): string =>
      changeText(Math.max(0, last?.[name] ?? 1) ** (1 / years))
    return {
      address,
      entity,
      ...(form === 'application'
        ? { performance: yearly('uniswapV2') }
        : {
            longTokenPerformance: yearly('longToken'),
            shortTokenPerformance: yearly('shortToken'),
            uniswapV2Performance: yearly('uniswapV2'),
          }),
    }
  })
}

/** `/performance/snapshots`: change since the start of the period, point by point. Throws the refusal of the service. */
export async function performanceSnapshots(
  venueState: VenueState,
  query: URLSearchParams,
  nowMs: number,
  form: PerformanceForm,
  refusal: Refusal,
): Promise<Json> {
  const period = periodOf(query, 'period', '90d', refusal, performancePeriods) ?? '90d'
  const paths = await pathsOf(venueState, query, period, nowMs, refusal)
  return paths.map(({ address, entity, points }) => ({
    address,
    entity,
    snapshots: points.map((point) =>
      form === 'application'
        ? { snapshotTimestamp: point.hour * 3600, performance: changeText(point.uniswapV2) }
        : { snapshotTimestamp: String(point.hour * 3600), uniswapV2Performance: changeText(point.uniswapV2) },
    ),
  }))
}
