/** Skips the quiet turns of a run: clock and venue advance, while the daemon stands still like a suspended process. */
import type { Clock } from '../../base/clock.ts'
import type { Trader } from '../../daemon/trader.ts'
import type { Event } from '../../domain/event.ts'
import type { Journal } from '../../journal/journal.ts'
import type { Prices } from '../../paper/catalog/prices.ts'
import type { Venue } from '../../paper/server/venue.ts'
import type { Address } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import type { ExecutionWatch } from '../lab/executionWatch.ts'
import type { Scheduler } from '../lab/scheduler.ts'
import { type AccountLosses, createLossWatch } from './lossWatch.ts'
import { createQuickWorth } from './quickWorth.ts'
import { createQuietTurns, type QuietInstance } from './quietTurns.ts'

/** Dependencies of a quiet life. */
export interface QuietLifeParts {
  readonly scheduler: Scheduler
  readonly venue: Venue
  readonly clock: Clock
  readonly journal: Journal
  readonly executions: ExecutionWatch
  readonly trader: Trader
  readonly account: Address
  /** Prices at the beginnings of candles. */
  readonly prices: Prices
  /** Lengths of the candles that prices follow, seconds. */
  readonly priceSeconds: readonly number[]
  readonly instances: readonly QuietInstance[]
  readonly losses: AccountLosses
  /** The highest worth of the account so far, USD. */
  readonly highestUsd: Usd
}

/** The seconds of a run at which its equity is noted, Unix seconds. */
export interface EquityPoints {
  /** The first of them at or after a second. */
  readonly nextFrom: (second: number) => number
  readonly note: (second: number) => void
}

/** Quiet turns of a segment. */
export interface QuietLife {
  readonly listen: (event: Event) => void
  /**
   * Passes from a second, at which all is settled, over the quiet turns after it, and gives the second up to which it came, Unix seconds. The points of
   * equity on the way are noted, and `passed` is called with the number of turns of instances.
   */
  passFrom(second: number, endSecond: number, points: EquityPoints, passed: (turns: number) => void): number
  /** The next second at which all instances have a turn, Unix seconds: from there on turns may pass. */
  nextTurn(second: number): number
}

/** Makes one for a segment that begins now. */
export function createQuietLife(parts: QuietLifeParts): QuietLife {
  const { scheduler, venue, clock, journal, instances, account } = parts
  const { venueState } = venue
  const worth = createQuickWorth(venueState, account)
  const losses = createLossWatch(parts.losses, parts.highestUsd, worth.at)
  const lengths = instances.map(({ turnSeconds }) => turnSeconds)
  const [gridSeconds, stepSeconds] = [lengths.reduce(leastCommon, 1), lengths.reduce(greatestCommon, 0)]
  const turns = createQuietTurns(
    {
      ...{
        venueState,
        prices: parts.prices,
        priceSeconds: parts.priceSeconds,
        instances,
        ...{ gridSeconds, stepSeconds },
        losses,
      },
      hasTasks: () => [...(journal.account().tasks?.values() ?? [])].some(({ end }) => end === undefined),
      labels: () => parts.trader.orders.open().map(({ label }) => label),
      holds: (strategy) =>
        journal
          .books()
          .partsOf(strategy)
          .some(({ sizeUsd }) => sizeUsd > 0n),
    },
    clock.now(),
  )

  let heardTrades = venueState.counters.trade

  /** An order that executed in this very second has no record yet: the daemon hears of it a second later, and takes its turns until that has settled. */
  function hearExecutions(): void {
    if (venueState.counters.trade === heardTrades) return
    heardTrades = venueState.counters.trade
    turns.moved((venueState.trades.at(-1)?.timestamp ?? 0) * 1000)
  }

  function pass(fromSecond: number, toSecond: number): void {
    const { trade } = venueState.counters
    scheduler.pass((toSecond - fromSecond) * 1000)
    venue.advance()
    if (venueState.counters.trade !== trade)
      throw new TypeError(`a turn was passed over at which an order executed, before ${toSecond}`)
  }

  return {
    listen(event) {
      // A denial leaves no record, and perpd tries its own exits again at a later turn.
      if (event.type === 'journal.committed' || event.type === 'decision.denied') turns.moved(clock.now())
    },
    passFrom(from, endSecond, points, passed) {
      let second = from
      worth.moved()
      losses.looked(second)
      hearExecutions()
      const mayPass = turns.ahead()
      while (second % gridSeconds === 0 && second + 2 * gridSeconds <= endSecond && mayPass(second)) {
        const nextSecond = second + gridSeconds
        for (let at = second; at < nextSecond; ) {
          const nextPoint = points.nextFrom(at + 1)
          const stop = Math.min(nextSecond, nextPoint, at + STEP_SECONDS)
          pass(at, stop)
          if (stop === nextPoint) points.note(stop)
          at = stop
        }
        second = nextSecond
        passed(lengths.reduce((sum, turnSeconds) => sum + gridSeconds / turnSeconds, 0))
      }
      if (second > from) parts.executions.arm()
      return second
    },
    nextTurn: (second) => Math.floor(second / gridSeconds + 1) * gridSeconds,
  }
}

/** Longest time that the venue is advanced over at once, seconds: it looks at each of them. */
const STEP_SECONDS = 3_600

function greatestCommon(one: number, other: number): number {
  return other === 0 ? one : greatestCommon(other, one % other)
}

function leastCommon(one: number, other: number): number {
  return (one * other) / greatestCommon(one, other)
}
