/**
 * Sources of the stats: one for each network and version. A chain whose venue also runs here is read from its books. The others are seeded histories
 * that move with time (docs/reference/api-coverage.md A8 and A9).
 */
import { chainNames } from '../../protocol/chains/index.ts'
import { yieldToEventLoop } from '../http/yieldToEventLoop.ts'
import { interestInTokens, mid, slotValue } from '../math/marketState.ts'
import { bell, hashText, unit } from '../math/random.ts'
import { addFlow, type Flow, noFlow, shareOf } from '../pools/flow.ts'
import { flowBetween, ledgerOf } from '../pools/ledger.ts'
import { seededUsers } from '../pools/seededHistory.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'

/** Networks of the stats: the chains, and one that is none of ours. */
export const statsNetworks = [...chainNames, 'solana'] as const
/** Versions of the protocol. */
export const statsVersions = ['v1', 'v2'] as const

/** One network. */
export type StatsNetwork = (typeof statsNetworks)[number]
/** One version. */
export type StatsVersion = (typeof statsVersions)[number]

/** Figures of a day or a span; null = the source cannot provide it, never zero. USD with 30 decimals. */
export interface StatsFigures {
  readonly volumePerps: bigint | null
  readonly volumeSwaps: bigint | null
  readonly feesTrading: bigint | null
  readonly feesSwap: bigint | null
  readonly revenueProtocol: bigint | null
  readonly revenueLp: bigint | null
  readonly tradesPerps: number | null
  readonly tradesSwaps: number | null
  readonly users: number | null
}

/** A source of stats. */
export interface StatsSource {
  readonly network: StatsNetwork
  readonly version: StatsVersion
  /** First day it knows, days since 1970. */
  readonly firstDay: number
  /** One day; the running day up to now. */
  day(day: number, nowSeconds: number): StatsFigures
  /** The last 24 hours. */
  lastDay(nowSeconds: number): StatsFigures
  /** All days up to now. */
  total(nowSeconds: number): StatsFigures
  /** Open positions in index tokens at mid price. */
  openInterestUsd(nowSeconds: number): bigint
  tvlUsd(nowSeconds: number): bigint
}

const DAY = 86_400
/** Days of history before the venue began. */
const HISTORY_DAYS = 400
/** Days whose sums are kept. */
const MEMO_DAYS = 4000

function figuresOf(flow: Flow, users: number): StatsFigures {
  const fees = flow.feesTradingUsd + flow.feesSwapUsd
  return {
    volumePerps: flow.volumePerpsUsd,
    volumeSwaps: flow.volumeSwapsUsd,
    feesTrading: flow.feesTradingUsd,
    feesSwap: flow.feesSwapUsd,
    revenueProtocol: fees - flow.feesForPoolUsd,
    revenueLp: flow.feesForPoolUsd,
    tradesPerps: flow.tradesPerps,
    tradesSwaps: flow.tradesSwaps,
    users,
  }
}

const worldSources = new WeakMap<VenueState, StatsSource>()

/** The source of a venue: its own books. */
export function venueSource(venueState: VenueState): StatsSource {
  let source = worldSources.get(venueState)
  if (source === undefined) {
    source = sourceOfBooks(venueState, venueState.chain.name)
    worldSources.set(venueState, source)
  }
  return source
}

function sourceOfBooks(venueState: VenueState, network: StatsNetwork): StatsSource {
  const ledger = ledgerOf(venueState)
  const firstDay = Math.floor(ledger.firstHour / 24) - HISTORY_DAYS
  const memo = new Map<number, Flow>()
  const dayFlow = (day: number): Flow => {
    const known = memo.get(day)
    if (known !== undefined) return known
    const sum = noFlow()
    for (const books of ledger.byMarket.values())
      addFlow(sum, flowBetween(venueState, books, day * 24, day * 24 + 24))
    // A day that is over no longer changes: its hours are sealed before anything is answered.
    if ((day + 1) * 24 <= ledger.runningHour && memo.size < MEMO_DAYS) memo.set(day, sum)
    return sum
  }
  const usersOf = (day: number, trades: number): number => {
    const { users, firstHour } = ledger
    const before = day * 24 < firstHour ? seededUsers(venueState.seed, day, trades) : 0
    return before + (day === users.day ? users.today.size : (users.byDay.get(day) ?? 0))
  }
  const pastTrades = (day: number): number => {
    let trades = 0
    for (const books of ledger.byMarket.values()) {
      const flow = flowBetween(venueState, books, day * 24, Math.min(day * 24 + 24, ledger.firstHour))
      trades += flow.tradesPerps
    }
    return trades
  }
  const totals = { throughDay: firstDay, flow: noFlow() }
  return {
    network,
    version: 'v2',
    firstDay,
    day: (day) => {
      const flow = dayFlow(day)
      const isFirst = day === Math.floor(ledger.firstHour / 24)
      return figuresOf(flow, usersOf(day, isFirst ? pastTrades(day) : flow.tradesPerps))
    },
    lastDay: (nowSeconds) => {
      const hour = Math.floor(nowSeconds / 3600)
      const sum = noFlow()
      for (const books of ledger.byMarket.values())
        addFlow(sum, flowBetween(venueState, books, hour - 23, hour + 1))
      return figuresOf(sum, usersOf(ledger.users.day, sum.tradesPerps))
    },
    total: (nowSeconds) => {
      const today = Math.floor(nowSeconds / DAY)
      while (totals.throughDay < today) {
        addFlow(totals.flow, dayFlow(totals.throughDay))
        totals.throughDay += 1
      }
      const sum = noFlow()
      addFlow(sum, totals.flow)
      addFlow(sum, dayFlow(today))
      // Wallets of the past, each counted once, and those that traded here.
      const before = Math.round(HISTORY_DAYS * 90 * (0.8 + 0.4 * unit(venueState.seed, 77)))
      return figuresOf(sum, before + ledger.users.ever.size)
    },
    openInterestUsd: (nowSeconds) => {
      let sum = 0n
      for (const market of venueState.markets) {
        if (market.settings.isSpotOnly) continue
        const price = mid(marketPrices(venueState, market, nowSeconds).index)
        for (const side of ['long', 'short'] as const) {
          sum += interestInTokens(market.settings, market.state, side) * price
        }
      }
      return sum
    },
    tvlUsd: (nowSeconds) => {
      let sum = 0n
      for (const market of venueState.markets) {
        const prices = marketPrices(venueState, market, nowSeconds)
        sum += slotValue(market.settings, market.state.pool, 0) * mid(prices.long)
        sum += slotValue(market.settings, market.state.pool, 1) * mid(prices.short)
      }
      return sum
    },
  }
}

/** Sizes of a seeded source; USD with 30 decimals. */
interface SeededSize {
  readonly dailyVolumeUsd: bigint
  readonly tvlUsd: bigint
  /** Solana has no swaps. */
  readonly hasSwaps: boolean
}

const DOLLAR = 10n ** 30n
/** Mean size of a trade of a seeded source, USD with 30 decimals. */
const MEAN_SEEDED_TRADE_USD = 8200n * DOLLAR

const seededSizes: Readonly<Record<string, SeededSize>> = {
  'arbitrum:v1': { dailyVolumeUsd: 350_000n * DOLLAR, tvlUsd: 9_000_000n * DOLLAR, hasSwaps: true },
  'arbitrum:v2': { dailyVolumeUsd: 210_000_000n * DOLLAR, tvlUsd: 380_000_000n * DOLLAR, hasSwaps: true },
  'avalanche:v1': { dailyVolumeUsd: 60_000n * DOLLAR, tvlUsd: 2_000_000n * DOLLAR, hasSwaps: true },
  'avalanche:v2': { dailyVolumeUsd: 14_000_000n * DOLLAR, tvlUsd: 33_000_000n * DOLLAR, hasSwaps: true },
  'megaeth:v2': { dailyVolumeUsd: 6_000_000n * DOLLAR, tvlUsd: 9_000_000n * DOLLAR, hasSwaps: true },
  'solana:v2': { dailyVolumeUsd: 22_000_000n * DOLLAR, tvlUsd: 18_000_000n * DOLLAR, hasSwaps: false },
}

/** A source whose chain has no venue here: a seeded history, growing second by second. */
function seededSource(venueState: VenueState, network: StatsNetwork, version: StatsVersion): StatsSource {
  const size = seededSizes[`${network}:${version}`] ?? { dailyVolumeUsd: 0n, tvlUsd: 0n, hasSwaps: true }
  const stream = hashText(`${venueState.seed}:${network}:${version}:stats`)
  const firstDay = Math.floor(venueState.epochSeconds / DAY) - HISTORY_DAYS
  const level = (day: number): number =>
    Math.exp(0.5 * bell(stream, Math.floor(day / 5)) + 0.4 * bell(stream ^ 0x11, day))
  const span = (day: number, part: number): StatsFigures => {
    const volume = shareOf(size.dailyVolumeUsd, level(day) * part)
    const swaps = size.hasSwaps ? shareOf(volume, 0.06) : 0n
    const fees = shareOf(volume, 0.00058)
    const swapFees = shareOf(swaps, 0.0006)
    const trades = Number(volume / MEAN_SEEDED_TRADE_USD)
    return {
      volumePerps: volume,
      volumeSwaps: size.hasSwaps ? swaps : null,
      feesTrading: fees,
      feesSwap: size.hasSwaps ? swapFees : null,
      revenueProtocol: shareOf(fees, 0.37),
      revenueLp: shareOf(fees, 0.63) + swapFees,
      tradesPerps: trades,
      tradesSwaps: size.hasSwaps ? Math.floor(trades / 9) : null,
      users: Math.floor(Math.sqrt(part) * (trades * 0.2 + 3)),
    }
  }
  const partOf = (day: number, nowSeconds: number): number =>
    Math.min(1, Math.max(0, (nowSeconds - day * DAY) / DAY))
  const totals = { throughDay: firstDay, sum: undefined as StatsFigures | undefined }
  return {
    network,
    version,
    firstDay,
    day: (day, nowSeconds) => span(day, partOf(day, nowSeconds)),
    lastDay: (nowSeconds) => {
      const today = Math.floor(nowSeconds / DAY)
      const part = partOf(today, nowSeconds)
      return addFigures(span(today, part), span(today - 1, 1 - part))
    },
    total: (nowSeconds) => {
      const today = Math.floor(nowSeconds / DAY)
      while (totals.throughDay < today) {
        const day = span(totals.throughDay, 1)
        totals.sum = totals.sum === undefined ? day : addFigures(totals.sum, day)
        totals.throughDay += 1
      }
      const running = span(today, partOf(today, nowSeconds))
      const sum = totals.sum === undefined ? running : addFigures(totals.sum, running)
      // Wallets come back: those ever seen are fewer than the days' sum.
      return { ...sum, users: sum.users === null ? null : Math.floor(sum.users / 6) }
    },
    openInterestUsd: (nowSeconds) =>
      shareOf(
        size.dailyVolumeUsd,
        0.3 * level(Math.floor(nowSeconds / DAY)) * (1 + 0.02 * bell(stream, Math.floor(nowSeconds / 60))),
      ),
    tvlUsd: (nowSeconds) =>
      shareOf(size.tvlUsd, 1 + 0.05 * bell(stream ^ 0x22, Math.floor(nowSeconds / 3600))),
  }
}

function addFigures(one: StatsFigures, other: StatsFigures): StatsFigures {
  const usd = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a + b)
  const count = (a: number | null, b: number | null): number | null =>
    a === null || b === null ? null : a + b
  return {
    volumePerps: usd(one.volumePerps, other.volumePerps),
    volumeSwaps: usd(one.volumeSwaps, other.volumeSwaps),
    feesTrading: usd(one.feesTrading, other.feesTrading),
    feesSwap: usd(one.feesSwap, other.feesSwap),
    revenueProtocol: usd(one.revenueProtocol, other.revenueProtocol),
    revenueLp: usd(one.revenueLp, other.revenueLp),
    tradesPerps: count(one.tradesPerps, other.tradesPerps),
    tradesSwaps: count(one.tradesSwaps, other.tradesSwaps),
    users: count(one.users, other.users),
  }
}

const memo = new WeakMap<
  VenueState,
  { readonly of: readonly VenueState[]; readonly sources: readonly StatsSource[] }
>()

/** All configured sources, in a fixed order; `worlds` are those that run in this process. */
export function statsSources(venueState: VenueState, worlds: readonly VenueState[]): readonly StatsSource[] {
  const known = memo.get(venueState)
  if (
    known !== undefined &&
    known.of.length === worlds.length &&
    known.of.every((one, i) => one === worlds[i])
  ) {
    return known.sources
  }
  const sources = statsNetworks.flatMap((network) =>
    statsVersions.flatMap((version): StatsSource[] => {
      const own = version === 'v2' ? worlds.find((one) => one.chain.name === network) : undefined
      if (own !== undefined) return [venueSource(own)]
      return Object.hasOwn(seededSizes, `${network}:${version}`)
        ? [seededSource(venueState, network, version)]
        : []
    }),
  )
  memo.set(venueState, { of: [...worlds], sources })
  return sources
}

const readThrough = new WeakSet<StatsSource>()
/** Days that are summed before others are served: a few milliseconds. */
const DAYS_A_BREATH = 8

/** Reads every day of the sources once, in pieces: later their sums are at hand. */
export async function readThroughDays(sources: readonly StatsSource[], nowSeconds: number): Promise<void> {
  for (const source of sources) {
    if (readThrough.has(source)) continue
    for (let day = source.firstDay; day * DAY <= nowSeconds; day += 1) {
      source.day(day, nowSeconds)
      if (day % DAYS_A_BREATH === 0) await yieldToEventLoop()
    }
    readThrough.add(source)
  }
}
