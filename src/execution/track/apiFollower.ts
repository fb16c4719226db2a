/**
 * Follows intents where no chain endpoint is configured: hosts alone are asked.
 *
 * An intent whose fate is open is asked for by itself, every `statusPollMs` and the longer it takes the more seldom, up to
 * `statusPollMaxMs`. One that only rests is not, while the account's list of orders shows all its orders (`ordersList.ts`):
 * one read of the list stands for all of them. It is asked for by itself at once when an order of it leaves the list or is changed in it, as
 * often as before while no list shows it, and every `restingPollMs` whatever the list shows. What the list shows or lacks proves
 * nothing: the look does.
 */
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { hexKey } from '../../protocol/address.ts'
import { accountOf, type ExecutionContext } from '../context/executionContext.ts'
import type { Follower, FollowOptions } from './follower.ts'
import { observe, readTrades } from './observe.ts'
import { createOrdersList } from './ordersList.ts'
import { restingKeys } from './restingOrders.ts'
import { createSharedTrades } from './sharedTrades.ts'

const GROWTH = 1.25
/** An order is not asked for quickly again for the same reason before this, ms: two hosts may show different lists. */
const RENEW_AGAIN_MS = 60_000
/** What is said over and over brings the list forward no sooner than this after the last time, ms. */
const HURRY_AGAIN_MS = 30_000

/** When an intent is asked for next. */
interface Pace {
  /** End of the last look, or the beginning, monotonic ms. */
  polledMs: number
  /** Pause until the next, ms, while nobody else shows it. */
  waitMs: number
  /** When it was last made quick, monotonic ms. */
  renewedMs: number
  /** Whether the list shows all that is left of it. */
  isListed: boolean
  wake: AbortController
}

/** Makes the follower. */
export function apiFollower(
  context: ExecutionContext,
  { lanes, open, heard, observed, signal }: FollowOptions,
): Follower {
  const { clock, settings } = context
  const paces = new Map<string, Pace>()
  let hurriedMs = Number.NEGATIVE_INFINITY
  const list = createOrdersList(context, {
    account: accountOf(context),
    watched: () => new Set(restingStates().flatMap(restingKeys).map(hexKey)),
    onChange: judgeAll,
    signal,
  })
  const trades = createSharedTrades(context, restingStates, (state) => readTrades(context, state, {}))

  function restingStates(): readonly IntentState[] {
    return [...open().values()].flatMap(({ state }) =>
      state !== undefined && restingKeys(state).length > 0 ? [state] : [],
    )
  }

  function wakeUp(pace: Pace): void {
    pace.wake.abort()
    pace.wake = new AbortController()
  }

  /** Has it looked at now and quickly after that, unless that was done a short while ago. */
  function renew(pace: Pace): void {
    const nowMs = clock.monotonicMs()
    if (nowMs - pace.renewedMs < RENEW_AGAIN_MS) return
    pace.renewedMs = nowMs
    pace.waitMs = settings.statusPollMs
    pace.polledMs = Number.NEGATIVE_INFINITY
  }

  /** Holds what rests against the newest list. */
  function judge(intentId: string, state: IntentState): void {
    const pace = paces.get(intentId)
    const keys = restingKeys(state)
    if (pace === undefined || keys.length === 0) return
    const shown = keys.map((key) => list.shown(key))
    const isListed = shown.every((each) => each === 'listed' || each === 'changed')
    const hasMoved = shown.includes('changed') || (shown.includes('gone') && pace.isListed)
    if (!hasMoved && isListed === pace.isListed) return
    pace.isListed = isListed
    if (hasMoved) renew(pace)
    // What left the list ends beside others, or another takes its place.
    if (shown.includes('gone')) hurry()
    wakeUp(pace)
  }

  function judgeAll(): void {
    for (const state of restingStates()) judge(state.intent.intentId, state)
  }

  function hurry(): void {
    hurriedMs = clock.monotonicMs()
    list.hurry()
  }

  function nextMs(intentId: string, pace: Pace): number {
    const state = open().get(intentId)?.state
    const isQuiet = pace.isListed && state !== undefined && restingKeys(state).length > 0
    return pace.polledMs + (isQuiet ? Math.max(settings.restingPollMs, pace.waitMs) : pace.waitMs)
  }

  async function poll(intentId: string): Promise<void> {
    const state = open().get(intentId)?.state
    if (state === undefined || lastAttempt(state)?.armed === undefined) return
    const observation = await observe(context, lanes, state, { trades, sawOrders: list.saw })
    if (signal.aborted || !open().has(intentId)) return
    heard(intentId, observation.answer)
    await observed(intentId, observation)
  }

  signal.addEventListener('abort', () => paces.forEach(wakeUp), { once: true })
  return {
    async follow(intentId) {
      const pace: Pace = {
        polledMs: clock.monotonicMs(),
        waitMs: settings.statusPollMs,
        renewedMs: Number.NEGATIVE_INFINITY,
        isListed: false,
        wake: new AbortController(),
      }
      paces.set(intentId, pace)
      try {
        while (!signal.aborted && open().has(intentId)) {
          const waitMs = nextMs(intentId, pace) - clock.monotonicMs()
          if (waitMs > 0) {
            await clock.sleep(waitMs, pace.wake.signal)
            continue
          }
          await poll(intentId)
          pace.polledMs = clock.monotonicMs()
          pace.waitMs = Math.min(pace.waitMs * GROWTH, settings.statusPollMaxMs)
        }
      } finally {
        paces.delete(intentId)
      }
    },
    markActive(intentId) {
      const state = open().get(intentId)?.state
      if (state === undefined || restingKeys(state).length === 0) return
      judge(intentId, state)
      hurry()
    },
    pollSoon(intentId) {
      const state = open().get(intentId)?.state
      const isOften = clock.monotonicMs() - hurriedMs < HURRY_AGAIN_MS
      if (state !== undefined && restingKeys(state).length > 0 && !isOften) hurry()
    },
    sawOrders: list.saw,
    async pollAll() {
      await Promise.all([...open().keys()].map(poll))
    },
    run: () => list.run(),
  }
}
