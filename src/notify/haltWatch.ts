/**
 * Holds on trading that end with their cause, as `stale-data` over a bad line: told when one begins, and when it was over for a minute, so
 * that one that comes and goes is one story. What an operator or the next day lifts is told at once, and so is what is stricter than was told.
 */
import { defined } from '../base/defined.ts'
import type { TradingScope } from '../domain/accountRecords/tradingState.ts'
import type { Event } from '../domain/event.ts'
import { stricter, type TradingState } from '../domain/limits/limits.ts'
import type { Notice } from './notice.ts'
import { noticeOf } from './noticeOf.ts'

type HoldEvent = Extract<Event, { type: 'trading.state' }>

/** A hold that was told and whose end was not. */
interface Told {
  /** The strictest state that was told of it. */
  state: TradingState
  /** Its end, and when it came, monotonic ms; absent while it lasts. */
  over?: { readonly event: HoldEvent; readonly atMs: number } | undefined
}

/** Time that a halt must be over before its end is notified, ms. */
const CALM_MS = 60_000

/** Watch over the events of halts. */
export interface HaltWatch {
  /** Takes each event in its order, with its monotonic ms; gives what is to be told of it, and of holds that have stayed away. */
  take(event: Event, nowMs: number): readonly Notice[]
  /** The ends that wait, to be told now: nothing comes after. */
  rest(): readonly Notice[]
}

/** A watch that knows of no hold. */
export function createHaltWatch(): HaltWatch {
  const told = new Map<string, Told>()
  /** The newest word on each scope. */
  const newest = new Map<TradingScope, HoldEvent>()

  function endsUntil(untilMs: number): readonly Notice[] {
    const due = [...told].filter(([, { over }]) => over !== undefined && over.atMs <= untilMs)
    return due.flatMap(([key, { over }]) => {
      told.delete(key)
      return over === undefined ? [] : (noticeOf(endNow(over.event)) ?? [])
    })
  }

  /** An end with the state that its scope is in by now. */
  function endNow(event: HoldEvent): HoldEvent {
    const now = newest.get(event.scope) ?? event
    if (now === event) return event
    const { releasedBy: _, ...rest } = event
    const still = now.state === 'active' ? '' : '; another halt remains'
    return {
      ...rest,
      state: now.state,
      ...defined({ releasedBy: now.releasedBy }),
      reason: `the halt by ${event.cause} has ended${still}`,
    }
  }

  /** Tells whether an event of a passing halt is notified now. */
  function isToldNow(event: HoldEvent, atMs: number): boolean {
    const key = `${event.scope} ${event.cause}`
    const known = told.get(key)
    if (event.isReleased === true) {
      told.set(key, { state: known?.state ?? event.state, over: { event, atMs } })
      return false
    }
    const isBack = known?.over !== undefined && stricter(known.state, event.state) === known.state
    told.set(key, { state: isBack ? known.state : event.state })
    return !isBack
  }

  return {
    take(event, nowMs) {
      const ends = told.size === 0 ? [] : endsUntil(nowMs - CALM_MS)
      if (event.type !== 'trading.state') return [...ends, ...asList(noticeOf(event))]
      newest.set(event.scope, event)
      const isTold = event.isPassing !== true || isToldNow(event, nowMs)
      return isTold ? [...ends, ...asList(noticeOf(event))] : ends
    },
    rest: () => endsUntil(Number.POSITIVE_INFINITY),
  }
}

function asList(notice: Notice | undefined): readonly Notice[] {
  return notice === undefined ? [] : [notice]
}
