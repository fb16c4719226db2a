/** Rates and performance of the past, on both services (wire: reads, 7; oracle, 3.9 to 3.12). */
import { dollarsOf } from './flow.ts'
import type { Json } from './http.ts'
import { jitVaults } from './jit.ts'
import { flowBetween, ledgerOf, type MarketLedger, sampleAt } from './ledger.ts'
import { priceRatio } from './past.ts'
import { booksOf, periodHours, periodOf, type Refusal, windowOf } from './periods.ts'
import type { World } from './world.ts'
import { meanPoolUsd } from './yield.ts'

/** Hourly snapshots reach back this far; further back there is one a day. */
const HOURLY_DAYS = 31
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
export function rates(world: World, query: URLSearchParams, nowMs: number, refusal: Refusal): Json {
  const period = periodOf(query, 'period', '7d', refusal) ?? '7d'
  const averageBy = periodOf(query, 'averageBy', undefined, refusal, Object.keys(periodHours).slice(0, -1))
  return booksOf(world, query, 'address', refusal).map((books) => {
    const { fromHour, toHour } = windowOf(books, period, Math.floor(nowMs / 1000))
    const bucket = averageBy === undefined ? 0 : (periodHours[averageBy] ?? DAY_HOURS)
    return {
      marketAddress: books.market.catalog.marketToken,
      ratesSnapshots:
        bucket === 0
          ? snapshots(world, books, fromHour, toHour)
          : means(world, books, fromHour, toHour, bucket),
    }
  })
}

function snapshots(world: World, books: MarketLedger, fromHour: number, toHour: number): Json[] {
  const rows: Json[] = []
  const hourlyFrom = toHour - HOURLY_DAYS * DAY_HOURS
  let hour = fromHour + 1
  while (hour <= toHour) {
    rows.push(rateRow(world, books, [hour], hour))
    if (hour >= hourlyFrom) hour += 1
    else hour = Math.min(hourlyFrom, hour + DAY_HOURS)
  }
  return rows
}

function means(world: World, books: MarketLedger, fromHour: number, toHour: number, bucket: number): Json[] {
  const rows: Json[] = []
  const step = Math.max(1, Math.ceil((toHour - fromHour) / MAX_LOOKS))
  for (let end = toHour; end > fromHour; end -= bucket) {
    const hours: number[] = []
    for (let hour = end; hour > Math.max(fromHour, end - bucket); hour -= step) hours.push(hour)
    rows.unshift(rateRow(world, books, hours, end))
  }
  return rows
}

/** Mean of the rates at some hours; net = funding less borrowing. */
function rateRow(world: World, books: MarketLedger, hours: readonly number[], hour: number): Json {
  const sums = [0n, 0n, 0n, 0n] as [bigint, bigint, bigint, bigint]
  for (const at of hours) {
    const sample = sampleAt(world, books, at)
    for (const [i, [, name]] of rateFields.entries()) sums[i] = (sums[i] ?? 0n) + sample[name]
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

/** How a pool did from one hour to another against holding its tokens; ratios, 1 = the same. */
interface Performance {
  readonly longToken: number
  readonly shortToken: number
  /** Against half of each token in a pool without fees, which trades along the price. */
  readonly uniswapV2: number
}

/** What a share of the pool became: its tokens at new prices, with fees earned and traders' gains paid. */
function performanceOf(world: World, books: MarketLedger, fromHour: number, toHour: number): Performance {
  const { market } = books
  const ratio = (token: string): number =>
    priceRatio(world, token, toHour) / priceRatio(world, token, fromHour)
  const long = ratio(market.longToken.address)
  const short = ratio(market.shortToken.address)
  const start = sampleAt(world, books, fromHour)
  const end = sampleAt(world, books, toHour)
  const startLong = dollarsOf(start.poolLongUsd)
  const startUsd = startLong + dollarsOf(start.poolShortUsd)
  const poolUsd = meanPoolUsd(world, books, fromHour, toHour)
  if (startUsd === 0 || poolUsd === 0) return { longToken: 1, shortToken: 1, uniswapV2: 1 }
  const flow = flowBetween(world, books, fromHour, toHour)
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

interface Entity {
  readonly address: string
  readonly entity: 'Market' | 'Glv'
  readonly parts: readonly MarketLedger[]
}

/** Pools and vaults that the query names; all without an address. */
function entitiesOf(world: World, query: URLSearchParams, refusal: Refusal): Entity[] {
  const vaults = jitVaults(world).map(
    (vault): Entity => ({
      address: vault.glv,
      entity: 'Glv',
      parts: vault.markets.flatMap((market) => ledgerOf(world).byMarket.get(market.key) ?? []),
    }),
  )
  const markets = booksOf(world, query, 'address', refusal).map(
    (books): Entity => ({ address: books.market.catalog.marketToken, entity: 'Market', parts: [books] }),
  )
  const wanted = new Set(query.getAll('address').map((address) => address.toLowerCase()))
  return [
    ...markets,
    ...vaults.filter(({ address }) => wanted.size === 0 || wanted.has(address.toLowerCase())),
  ]
}

/** Performance of a vault is the mean of its markets'. */
function performanceOfAll(
  world: World,
  parts: readonly MarketLedger[],
  fromHour: number,
  toHour: number,
): Performance {
  const all = parts.map((books) =>
    performanceOf(world, books, Math.min(toHour, Math.max(fromHour, books.past.listedHour)), toHour),
  )
  const mean = (name: keyof Performance): number =>
    all.reduce((sum, one) => sum + one[name], 0) / Math.max(1, all.length)
  return { longToken: mean('longToken'), shortToken: mean('shortToken'), uniswapV2: mean('uniswapV2') }
}

const performancePeriods = Object.keys(periodHours).filter((period) => period !== '1d')

function spanOf(
  entity: Entity,
  period: string,
  nowMs: number,
): { readonly fromHour: number; readonly toHour: number } {
  const spans = entity.parts.map((books) => windowOf(books, period, Math.floor(nowMs / 1000)))
  const toHour = Math.floor(nowMs / 3_600_000)
  return { fromHour: Math.min(toHour, ...spans.map((span) => span.fromHour)), toHour }
}

/** A ratio as the change it is, decimal text. */
function changeText(ratio: number): string {
  return (ratio - 1).toFixed(8)
}

/** `/performance/annualized`: change a year against holding. `1d` is refused. Throws the refusal of the service. */
export function performanceAnnualized(
  world: World,
  query: URLSearchParams,
  nowMs: number,
  form: PerformanceForm,
  refusal: Refusal,
): Json {
  const period = periodOf(query, 'period', '90d', refusal, performancePeriods) ?? '90d'
  return entitiesOf(world, query, refusal).map((one) => {
    const { fromHour, toHour } = spanOf(one, period, nowMs)
    const years = Math.max(1, toHour - fromHour) / (365 * DAY_HOURS)
    const figures = performanceOfAll(world, one.parts, fromHour, toHour)
    const yearly = (ratio: number): string => changeText(Math.max(0, ratio) ** (1 / years))
    return {
      address: one.address,
      entity: one.entity,
      ...(form === 'application'
        ? { performance: yearly(figures.uniswapV2) }
        : {
            longTokenPerformance: yearly(figures.longToken),
            shortTokenPerformance: yearly(figures.shortToken),
            uniswapV2Performance: yearly(figures.uniswapV2),
          }),
    }
  })
}

/** Most points of one history of performance. */
const PERFORMANCE_POINTS = 30

/** `/performance/snapshots`: change since the start of the period, point by point. Throws the refusal of the service. */
export function performanceSnapshots(
  world: World,
  query: URLSearchParams,
  nowMs: number,
  form: PerformanceForm,
  refusal: Refusal,
): Json {
  const period = periodOf(query, 'period', '90d', refusal, performancePeriods) ?? '90d'
  return entitiesOf(world, query, refusal).map((one) => {
    const { fromHour, toHour } = spanOf(one, period, nowMs)
    const days = Math.max(1, Math.ceil((toHour - fromHour) / DAY_HOURS / PERFORMANCE_POINTS))
    const points: Json[] = []
    for (let hour = toHour; hour > fromHour; hour -= days * DAY_HOURS) {
      const figure = changeText(performanceOfAll(world, one.parts, fromHour, hour).uniswapV2)
      points.unshift(
        form === 'application'
          ? { snapshotTimestamp: hour * 3600, performance: figure }
          : { snapshotTimestamp: String(hour * 3600), uniswapV2Performance: figure },
      )
    }
    return { address: one.address, entity: one.entity, snapshots: points }
  })
}
