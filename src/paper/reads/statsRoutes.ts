/** Protocol-wide stats: summary, timeseries, sources (docs/reference/api-coverage.md A15 and A8). */
import { defined } from '../../base/defined.ts'
import { badFields, badRequest, type Json } from '../http/http.ts'
import { yieldToEventLoop } from '../http/yieldToEventLoop.ts'
import type { VenueState } from '../state/venueState.ts'
import { inScope, metaOf, PULL_SECONDS, type SourceState, sourceJson, stateOf } from './statsScope.ts'
import { type StatsFigures, type StatsSource, statsNetworks, statsVersions } from './statsSources.ts'

const DAY = 86_400
/** Interval of the synchronisation of days, seconds: until the first one after its end a day may still change. */
const DAILY_SYNC_SECONDS = 600

type Amount = bigint | number | null

/** Sum of what there is; null when no source can provide it. */
function sumOf(values: readonly Amount[]): Amount {
  const there = values.filter((value) => value !== null)
  if (there.length === 0) return null
  if (there.every((value) => typeof value === 'bigint')) {
    return there.reduce<bigint>((sum, value) => sum + (typeof value === 'bigint' ? value : 0n), 0n)
  }
  return there.reduce<number>((sum, value) => sum + Number(value), 0)
}

function amountJson(amount: Amount): Json {
  return typeof amount === 'bigint' ? amount.toString() : amount
}

type Pick = (state: SourceState) => Amount

interface Grouped {
  readonly byNetwork: Record<string, Json>
  readonly byVersion: Record<string, Json>
  readonly total: Json
}

/** A figure by network, by version and in all; each made by `shape` from the sources of its group. */
function grouped(states: readonly SourceState[], shape: (group: readonly SourceState[]) => Json): Grouped {
  const by = (keys: readonly string[], keyOf: (state: SourceState) => string): Record<string, Json> => {
    const rows: Record<string, Json> = {}
    for (const key of keys) {
      const group = states.filter((state) => keyOf(state) === key)
      if (group.length > 0) rows[key] = shape(group)
    }
    return rows
  }
  return {
    byNetwork: by(statsNetworks, ({ source }) => source.network),
    byVersion: by(statsVersions, ({ source }) => source.version),
    total: shape(states),
  }
}

function sumJson(group: readonly SourceState[], pick: Pick): Json {
  return amountJson(sumOf(group.map((state) => (state.health === 'missing' ? null : pick(state)))))
}

function add(one: bigint | null, other: bigint | null): bigint | null {
  return one === null && other === null ? null : (one ?? 0n) + (other ?? 0n)
}

/** Shapes of a group's row of the summary, by figures of a span of time. */
function shapesOf(from: ReadonlyMap<SourceState, StatsFigures>) {
  /** A figure over a group; a state without figures counts as unknown. */
  const sum = (group: readonly SourceState[], pick: (figures: StatsFigures) => Amount) =>
    sumJson(group, (state) => {
      const figures = from.get(state)
      return figures === undefined ? null : pick(figures)
    })
  const volume = (group: readonly SourceState[]): Json => ({
    perps: sum(group, (figures) => figures.volumePerps),
    swaps: sum(group, (figures) => figures.volumeSwaps),
    total: sum(group, (figures) => add(figures.volumePerps, figures.volumeSwaps)),
  })
  const fees = (group: readonly SourceState[]): Json => ({
    trading: sum(group, (figures) => figures.feesTrading),
    swap: sum(group, (figures) => figures.feesSwap),
    total: sum(group, (figures) => add(figures.feesTrading, figures.feesSwap)),
  })
  const revenue = (group: readonly SourceState[]): Json => ({
    protocol: sum(group, (figures) => figures.revenueProtocol),
    lp: sum(group, (figures) => figures.revenueLp),
  })
  const trades = (group: readonly SourceState[]): Json => ({
    perps: sum(group, (figures) => figures.tradesPerps),
    swaps: sum(group, (figures) => figures.tradesSwaps),
  })
  const users = (group: readonly SourceState[]): Json => sum(group, (figures) => figures.users)
  return { volume, fees, revenue, trades, users }
}

/** `/stats/summary`: each figure of a source once, with a breath after each. Rejects with HttpFailure 400. */
export async function statsSummary(
  venueState: VenueState,
  sources: readonly StatsSource[],
  query: URLSearchParams,
  nowMs: number,
): Promise<Json> {
  const nowSeconds = Math.floor(nowMs / 1000)
  const states = inScope(venueState, sources, query, nowSeconds)
  const valuedAt = Math.floor(nowSeconds / PULL_SECONDS) * PULL_SECONDS
  const figuresOf = async <T>(figure: (source: StatsSource) => T): Promise<ReadonlyMap<SourceState, T>> => {
    const figures = new Map<SourceState, T>()
    for (const state of states) {
      figures.set(state, figure(state.source))
      await yieldToEventLoop()
    }
    return figures
  }
  const whole = shapesOf(await figuresOf((source) => source.total(nowSeconds)))
  const lastDay = shapesOf(await figuresOf((source) => source.lastDay(nowSeconds)))
  const interests = await figuresOf((source) => source.openInterestUsd(nowSeconds))
  const values = await figuresOf((source) => source.tvlUsd(valuedAt))
  const openInterest = (group: readonly SourceState[]): Json =>
    sumJson(group, (state) => interests.get(state) ?? null)
  const tvl = (group: readonly SourceState[]): Json => sumJson(group, (state) => values.get(state) ?? null)
  const parts = {
    volume: grouped(states, whole.volume),
    fees: grouped(states, whole.fees),
    revenue: grouped(states, whole.revenue),
    users: grouped(states, whole.users),
    trades: grouped(states, whole.trades),
    volume24h: grouped(states, lastDay.volume),
    fees24h: grouped(states, lastDay.fees),
    openInterest: grouped(states, openInterest),
    tvl: grouped(states, tvl),
  }
  const split = ({ byNetwork, byVersion }: Grouped) => ({ byNetwork, byVersion })
  return {
    volume: split(parts.volume),
    fees: split(parts.fees),
    revenue: split(parts.revenue),
    users: { ...split(parts.users), distinctness: 'source' },
    trades: split(parts.trades),
    volume24h: split(parts.volume24h),
    fees24h: split(parts.fees24h),
    openInterest: split(parts.openInterest),
    tvl: { ...split(parts.tvl), valuedAt, poolsValuedAt: valuedAt },
    totals: {
      volume: parts.volume.total,
      fees: parts.fees.total,
      revenue: parts.revenue.total,
      users: parts.users.total,
      trades: parts.trades.total,
      volume24h: parts.volume24h.total,
      fees24h: parts.fees24h.total,
      openInterest: parts.openInterest.total,
      tvl: parts.tvl.total,
    },
    meta: metaOf(states),
  }
}

const metrics: Readonly<Record<string, (figures: StatsFigures) => Amount>> = {
  'volume.perps': (figures) => figures.volumePerps,
  'volume.swaps': (figures) => figures.volumeSwaps,
  'volume.total': (figures) => add(figures.volumePerps, figures.volumeSwaps),
  'fees.trading': (figures) => figures.feesTrading,
  'fees.swap': (figures) => figures.feesSwap,
  'fees.total': (figures) => add(figures.feesTrading, figures.feesSwap),
  'revenue.protocol': (figures) => figures.revenueProtocol,
  'revenue.lp': (figures) => figures.revenueLp,
  'trades.perps': (figures) => figures.tradesPerps,
  'trades.swaps': (figures) => figures.tradesSwaps,
  'users.active': (figures) => figures.users,
}

/** Whole seconds of the query, floored to the UTC day. Throws HttpFailure 400. */
function dayOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  // The bound of the times of trades is not one of stats.
  if (!/^\d{1,15}$/.test(text)) {
    throw badRequest(`Invalid ${name} timestamp: whole seconds expected`)
  }
  return Math.floor(Number(text) / DAY)
}

/** One of the allowed words. Throws HttpFailure 400 with the field map. */
function wordOf(query: URLSearchParams, name: string, allowed: readonly string[], standard?: string): string {
  const value = query.get(name) ?? standard
  if (value === undefined) throw badFields({ [name]: { message: `'${name}' is required` } })
  if (allowed.includes(value)) return value
  throw badFields({ [name]: { message: `'${name}' must be one of ${allowed.join(', ')}`, value } })
}

/** `/stats/timeseries`: a point a day. Throws HttpFailure 400. */
export function statsTimeseries(
  venueState: VenueState,
  sources: readonly StatsSource[],
  query: URLSearchParams,
  nowMs: number,
): Json {
  const nowSeconds = Math.floor(nowMs / 1000)
  const metric = wordOf(query, 'metric', Object.keys(metrics))
  const groupBy = wordOf(query, 'groupBy', ['network', 'version', 'none'], 'network')
  const fromDay = dayOf(query, 'from')
  const toDay = dayOf(query, 'to')
  const states = inScope(venueState, sources, query, nowSeconds)
  const figure = metrics[metric] ?? (() => null)
  const today = Math.floor(nowSeconds / DAY)
  const first = Math.max(fromDay ?? 0, Math.min(...states.map(({ source }) => source.firstDay)))
  const last = Math.min(toDay ?? today, today)
  const syncedSeconds = Math.floor(nowSeconds / DAILY_SYNC_SECONDS) * DAILY_SYNC_SECONDS
  const keyOf = ({ source }: SourceState): string =>
    groupBy === 'network' ? source.network : groupBy === 'version' ? source.version : 'total'
  const series = [...new Set(states.map(keyOf))].map((key) => {
    const group = states.filter((state) => keyOf(state) === key)
    const points: Json[] = []
    for (let day = first; day <= last; day += 1) {
      points.push({
        day: new Date(day * DAY * 1000).toISOString().slice(0, 10),
        value: sumJson(group, ({ source }) => figure(source.day(day, nowSeconds))),
        provisional: (day + 1) * DAY >= syncedSeconds,
      })
    }
    return { key, points }
  })
  return {
    metric,
    groupBy,
    ...defined({ distinctness: metric === 'users.active' ? 'source' : undefined }),
    series,
    meta: metaOf(states),
  }
}

/** `/stats/sources`. */
export function statsSourceList(
  venueState: VenueState,
  sources: readonly StatsSource[],
  nowMs: number,
): Json {
  const nowSeconds = Math.floor(nowMs / 1000)
  return { sources: sources.map((source) => sourceJson(stateOf(venueState, source, nowSeconds))) }
}
