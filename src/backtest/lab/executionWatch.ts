/**
 * Has the daemon look at its orders in the second in which the venue executes one, as an endpoint does that pushes its blocks: a backtest's daemon reads
 * the account at its turns alone, and would hear of an exit minutes later than a live one.
 */

import type { WallClock } from '../../base/clock.ts'
import { quietUntil } from '../../paper/keeper/quietSpan.ts'
import type { Venue } from '../../paper/server/venue.ts'
import type { Scheduler } from './scheduler.ts'

/** Longest span that is looked ahead over, seconds. */
const AHEAD_SECONDS = 600

/** A watch for executions. */
export interface ExecutionWatch {
  /** Looks ahead anew: orders or positions changed, or time passed otherwise than by what was to come. */
  arm(): void
}

/** Makes one; it calls `executed` in the second in which anything executed. */
export function createExecutionWatch(parts: {
  readonly scheduler: Scheduler
  readonly venue: Venue
  readonly clock: WallClock
  readonly executed: () => void
}): ExecutionWatch {
  const { scheduler, venue, clock, executed } = parts
  const { venueState } = venue
  let cancel = (): void => undefined
  let { trade } = venueState.counters

  function look(): void {
    venue.advance()
    if (venueState.counters.trade !== trade) {
      trade = venueState.counters.trade
      executed()
    }
    arm()
  }

  function arm(): void {
    cancel()
    if (venueState.orders.size + venueState.positions.size === 0) return
    // An execution came between two looks, by the work of somebody's request: it is heard of in its own second, not after what is quiet from there on.
    if (venueState.counters.trade !== trade) {
      cancel = scheduler.after(0, look)
      return
    }
    const nowMs = clock.now()
    const second = Math.floor(nowMs / 1000)
    const quietSecond = quietUntil(venueState, second, second + AHEAD_SECONDS)
    cancel = scheduler.after((quietSecond + 1) * 1000 - nowMs, look)
  }

  return { arm }
}
