/** Closed trades: round trips of the books as commands, the control port, the console and reports show them. Pure. */
import { isoTime } from '../base/clock.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { Facts } from '../protocol/catalogue.ts'
import type { Direction } from '../protocol/market.ts'
import { tenTo, type Usd } from '../protocol/units.ts'
import { bookName } from './bookView.ts'
import { type RoundTrip, type TripAmounts, type TripSums, tripAmounts } from './roundTrips.ts'
import type { EndNote, NotedMarket, TradeReason } from './tradeNotes.ts'

/** One of them. USD has 30 decimals; prices are per whole index token. Null: not known. */
export interface ClosedTrade extends TripAmounts {
  /** Key of the order, or id of the discrepancy, that ended it, and the strategy, with a colon between them. */
  readonly id: string
  readonly strategy: string
  /** Full symbol. */
  readonly market: string
  readonly marketToken: Address
  readonly direction: Direction
  /** ISO 8601, UTC. */
  readonly openedAt: string
  readonly closedAt: string
  readonly durationSeconds: number
  /** The most that was held at once, USD. */
  readonly largestUsd: Usd
  readonly entryPrice: Usd | null
  readonly exitPrice: Usd | null
  readonly reason: TradeReason
  /** The reason in words: that of the decision, or the name of the exit; empty where nobody gave one. */
  readonly why: string
  /** Loss by the price alone at its first stop, of the largest size, USD; null: no stop, or one on the winning side. */
  readonly riskUsd: Usd | null
  /** PnL by that risk, rounded to hundredths. */
  readonly r: number | null
  /** Ids of the orders' intents; null: no order of ours. */
  readonly openedBy: string | null
  readonly closedBy: string | null
}

/** Facts of a round trip from outside of its postings. */
export interface TripFacts {
  readonly facts: Facts
  readonly noted: NotedMarket | undefined
  readonly end: EndNote
  /** USD per whole index token. */
  readonly firstStop: Usd | undefined
}

/** Returns a round trip as a row. */
export function closedTrade(trip: RoundTrip, { facts, noted, end, firstStop }: TripFacts): ClosedTrade {
  const market = facts.markets.get(hexKey(trip.marketToken))
  const decimals =
    (market === undefined ? undefined : facts.tokens.get(hexKey(market.indexToken))?.decimals) ??
    noted?.decimals
  const priceOf = (worthUsd: Usd): Usd | null =>
    decimals === undefined || trip.tokens <= 0n ? null : (worthUsd * tenTo(decimals)) / trip.tokens
  const isOthers = end.strategy !== undefined && end.strategy !== trip.strategy
  const entryPrice = priceOf(trip.entryUsd)
  const riskUsd = riskOf(trip, entryPrice, firstStop)
  return {
    id: `${trip.endedBy.id}:${bookName(trip.strategy)}`,
    strategy: bookName(trip.strategy),
    market: market?.symbol ?? noted?.symbol ?? trip.marketToken,
    marketToken: trip.marketToken,
    direction: trip.direction,
    openedAt: isoTime(trip.openedAtMs),
    closedAt: isoTime(trip.closedAtMs),
    durationSeconds: Math.max(0, Math.round((trip.closedAtMs - trip.openedAtMs) / 1_000)),
    largestUsd: trip.largestUsd,
    ...amountsOf(trip),
    entryPrice,
    exitPrice: priceOf(trip.exitUsd),
    reason: end.reason,
    why: isOthers ? `${end.strategy}: ${end.why}` : end.why,
    riskUsd,
    r: riskUsd === null ? null : Number((trip.pnlUsd * 100n) / riskUsd) / 100,
    openedBy: trip.openedBy.intentId ?? null,
    closedBy: trip.endedBy.intentId ?? null,
  }
}

function riskOf({ direction, largestUsd }: RoundTrip, entry: Usd | null, stop: Usd | undefined): Usd | null {
  if (entry === null || entry <= 0n || stop === undefined) return null
  const againstUsd = direction === 'long' ? entry - stop : stop - entry
  const riskUsd = (largestUsd * againstUsd) / entry
  return riskUsd > 0n ? riskUsd : null
}

/** Sums of closed trades, USD; `won` counts those that brought more than nothing. */
export interface TradeSums extends TripAmounts {
  readonly trades: number
  readonly won: number
}

function amountsOf(trip: TripAmounts): TripAmounts {
  return Object.fromEntries(tripAmounts.map((name) => [name, trip[name]])) as Record<keyof TripAmounts, Usd>
}

/** Adds up closed trades. */
export function tradeSums(trades: readonly ClosedTrade[]): TradeSums {
  const sum = { trades: 0, won: 0, ...Object.fromEntries(tripAmounts.map((name) => [name, 0n])) }
  const sums = sum as { -readonly [name in keyof TradeSums]: TradeSums[name] }
  for (const trade of trades) {
    sums.trades += 1
    if (trade.pnlUsd > 0n) sums.won += 1
    for (const name of tripAmounts) sums[name] += trade[name]
  }
  return sums
}

/** Sums of several strategies: closed trades, what is open, and what is in neither; their sum is the PnL of the books. USD, signed. */
export function sumsOfAll(sums: readonly TripSums[]): Omit<TripSums, 'strategy'> {
  const sumOf = (of: (sums: TripSums) => Usd): Usd => sums.reduce((sum, each) => sum + of(each), 0n)
  return {
    tripsUsd: sumOf(({ tripsUsd }) => tripsUsd),
    openUsd: sumOf(({ openUsd }) => openUsd),
    outsideUsd: sumOf(({ outsideUsd }) => outsideUsd),
  }
}
