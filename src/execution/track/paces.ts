/** Time of each intent's next query, where only hosts are queried: quick while its fate is open, seldom while a list shows that it rests. */

import type { IntentState } from '../../domain/order/intent.ts'
import type { Hex } from '../../protocol/address.ts'
import type { HasClock, HasSettings } from '../context/executionParts.ts'
import type { Shown } from './ordersList.ts'
import { restingKeys } from './restingOrders.ts'

const GROWTH = 1.25
/** An order is not asked for quickly again for the same reason before this, ms: two hosts may show different lists. */
const RENEW_AGAIN_MS = 60_000

/** Time of an intent's next query. */
export interface Pace {
  /** Resolves when its time may have come: it is to be queried when `dueInMs` says so. */
  wait(ms: number): Promise<void>
  /** Ms until it is due by its state of now; 0 or less: now. */
  dueInMs(state: IntentState | undefined): number
  /** Notes that it was queried. */
  asked(): void
  /** Compares resting orders with the newest list; true when one of them has just left the list. */
  judge(state: IntentState, shownOf: (orderKey: Hex) => Shown): boolean
  /** Ends the waiting. */
  wakeUp(): void
}

/** Why a wait is ended. Made once: an error made at each write of an order is dear. */
const woken = new Error('there is something to look at')

/** Makes one that begins now. */
export function createPace({ clock, settings }: HasClock & HasSettings): Pace {
  /** End of the last look, or the beginning, monotonic ms. */
  let askedMs = clock.monotonicMs()
  let pauseMs = settings.statusPollMs
  let renewedMs = Number.NEGATIVE_INFINITY
  /** True if the list shows all its remaining orders. */
  let isListed = false
  let wake = new AbortController()

  function wakeUp(): void {
    wake.abort(woken)
    wake = new AbortController()
  }

  /** Has it looked at now and quickly after that, unless that was done a short while ago. */
  function renew(): void {
    const nowMs = clock.monotonicMs()
    if (nowMs - renewedMs < RENEW_AGAIN_MS) return
    renewedMs = nowMs
    pauseMs = settings.statusPollMs
    askedMs = Number.NEGATIVE_INFINITY
  }

  return {
    wait: (ms) => clock.sleep(ms, wake.signal),
    dueInMs(state) {
      const isQuiet = isListed && state !== undefined && restingKeys(state).length > 0
      const untilMs = askedMs + (isQuiet ? Math.max(settings.restingPollMs, pauseMs) : pauseMs)
      return untilMs - clock.monotonicMs()
    },
    asked() {
      askedMs = clock.monotonicMs()
      pauseMs = Math.min(pauseMs * GROWTH, settings.statusPollMaxMs)
    },
    judge(state, shownOf) {
      const shown = restingKeys(state).map(shownOf)
      if (shown.length === 0) return false
      const wasListed = isListed
      isListed = shown.every((each) => each === 'listed' || each === 'changed')
      const hasLeft = wasListed && shown.includes('gone')
      const hasMoved = hasLeft || shown.includes('changed')
      if (hasMoved) renew()
      if (hasMoved || isListed !== wasListed) wakeUp()
      return hasLeft
    },
    wakeUp,
  }
}
