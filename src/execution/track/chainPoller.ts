/**
 * Looks at the chain for all open attempts together: a look costs the endpoints the same for one attempt as for a thousand. The most urgent attempt
 * decides when:
 *
 * - an attempt whose fate is unknown, or whose order is about to be executed, is looked at every `statusPollMs`, and more
 *   seldom the longer nothing happens, up to `statusPollMaxMs`; it is young again with every record of it, and when the
 *   chain's time passes its deadline
 * - an attempt that only rests is looked at every half minute, or every `statusPollMaxMs` where that is longer
 * - a pushed head brings the looks of the young forward
 */
import type { Clock } from '../../base/clock.ts'
import type { AttemptQuery, ChainReader } from '../../domain/machine/chainReader.ts'
import type { ChainView } from '../../domain/machine/chainView.ts'
import { type IntentState, isUnresolved, lastAttempt } from '../../domain/order/intent.ts'
import { isResting } from './restingOrders.ts'

/** Shortest pause between looks at orders that wait for their trigger, ms. */
const RESTING_MS = 30_000
/** Shortest time between two looks, ms: a fast chain pushes heads faster than anything of ours changes. */
const MIN_INTERVAL_MS = 200
/** Age beyond which an event no longer makes its attempt young, ms: heads alone bring no look forward then. */
const ACTIVE_MS = 20_000
/** The pause between looks is this part of the time since something happened. */
const INTERVAL_DIVISOR = 10

/** An open intent with the data that a look at it needs. */
export interface Watched {
  readonly intentId: string
  readonly state: IntentState
  /** Undefined while nothing of it is armed: there is nothing to look for. */
  readonly query: AttemptQuery | undefined
}

/** Dependencies of a chain poller. */
export interface ChainPollerOptions {
  readonly reader: ChainReader
  readonly clock: Clock
  readonly settings: { readonly statusPollMs: number; readonly statusPollMaxMs: number }
  /** The open intents of now. */
  readonly watched: () => readonly Watched[]
  /** Takes a look's view of an intent; resolves when it was judged. */
  readonly take: (intentId: string, view: ChainView) => Promise<void>
  readonly signal: AbortSignal
}

/** The one chain poller of an account. */
export interface ChainPoller {
  /** Something of an intent changed, or its host said something new: it is young again. */
  markActive(intentId: string): void
  /** Looks at everything once, now. */
  poll(): Promise<void>
  /** Looks until the signal ends it. Rejects with the errors of `take` or of our own mistakes. */
  run(): Promise<void>
}

interface Pace {
  /** Time from which nothing happened, monotonic ms. */
  activeSinceMs: number
  dueMs: number
  isPastDeadline: boolean
}

/** Makes the chain poller; nothing is looked at before `look` or `run`. */
export function createChainPoller(options: ChainPollerOptions): ChainPoller {
  const { reader, clock, settings, watched, take, signal } = options
  const paces = new Map<string, Pace>()
  let wakeSignal = new AbortController()
  let polledMs = Number.NEGATIVE_INFINITY

  function paceOf(intentId: string): Pace {
    let pace = paces.get(intentId)
    if (pace === undefined) {
      const nowMs = clock.monotonicMs()
      pace = { activeSinceMs: nowMs, dueMs: nowMs + settings.statusPollMs, isPastDeadline: false }
      paces.set(intentId, pace)
    }
    return pace
  }

  function renew(pace: Pace, dueMs: number): void {
    pace.activeSinceMs = clock.monotonicMs()
    pace.dueMs = Math.min(pace.dueMs, dueMs)
  }

  function intervalOf(state: IntentState, { activeSinceMs }: Pace, nowMs: number): number {
    if (isResting(state)) return Math.max(RESTING_MS, settings.statusPollMaxMs)
    const grown = (nowMs - activeSinceMs) / INTERVAL_DIVISOR
    return Math.max(settings.statusPollMs, Math.min(grown, settings.statusPollMaxMs))
  }

  /** Makes those young whose deadline the chain's time has passed. */
  function passDeadlines(chainSeconds: number, open: readonly Watched[]): void {
    for (const { intentId, state, query } of open) {
      const attempt = lastAttempt(state)
      if (query === undefined || attempt === undefined || !isUnresolved(attempt)) continue
      const pace = paceOf(intentId)
      if (pace.isPastDeadline || chainSeconds <= query.deadlineSeconds) continue
      pace.isPastDeadline = true
      renew(pace, clock.monotonicMs())
    }
  }

  /** Time until it is to be asked again what is due; undefined when a look is. */
  function pauseMs(): number | undefined {
    let nextMs = Number.POSITIVE_INFINITY
    for (const { intentId, query } of watched())
      if (query !== undefined) nextMs = Math.min(nextMs, paceOf(intentId).dueMs)
    const waitMs = Math.max(nextMs, polledMs + MIN_INTERVAL_MS) - clock.monotonicMs()
    // With nothing armed there is nothing to wait for but a touch.
    return waitMs > 0 ? Math.min(waitMs, RESTING_MS) : undefined
  }

  function wake(): void {
    // Without a reason one is made up, with a trace of the stack.
    wakeSignal.abort('something is new')
    wakeSignal = new AbortController()
  }

  async function poll(): Promise<void> {
    const open = watched().filter(({ query }) => query !== undefined)
    polledMs = clock.monotonicMs()
    const views = await reader.poll(open.flatMap(({ query }) => (query === undefined ? [] : [query])))
    if (signal.aborted) return
    const nowMs = clock.monotonicMs()
    for (const { intentId, state } of open) {
      const pace = paceOf(intentId)
      pace.dueMs = nowMs + intervalOf(state, pace, nowMs)
    }
    const times = views.flatMap(({ endpoints }) => endpoints.map(({ latest }) => latest.timestampSeconds))
    if (times.length > 0)
      passDeadlines(
        times.reduce((one, other) => Math.max(one, other)),
        open,
      )
    await Promise.all(
      open.map(({ intentId }, index) => {
        const view = views[index]
        return view === undefined ? Promise.resolve() : take(intentId, view)
      }),
    )
    const still = new Set(watched().map(({ intentId }) => intentId))
    for (const intentId of paces.keys()) if (!still.has(intentId)) paces.delete(intentId)
  }

  return {
    markActive(intentId) {
      renew(paceOf(intentId), clock.monotonicMs() + settings.statusPollMs)
      wake()
    },
    poll,
    async run() {
      const stop = reader.onHead?.((head) => {
        const open = watched()
        passDeadlines(head.timestampSeconds, open)
        const nowMs = clock.monotonicMs()
        for (const { intentId, state, query } of open) {
          if (query === undefined || isResting(state)) continue
          const pace = paceOf(intentId)
          if (nowMs - pace.activeSinceMs <= ACTIVE_MS) pace.dueMs = Math.min(pace.dueMs, nowMs)
        }
        wake()
      })
      signal.addEventListener('abort', wake, { once: true })
      try {
        while (!signal.aborted) {
          const waitMs = pauseMs()
          if (waitMs === undefined) await poll()
          else await clock.sleep(waitMs, wakeSignal.signal, pauseMs)
        }
      } finally {
        stop?.()
        signal.removeEventListener('abort', wake)
      }
    },
  }
}
