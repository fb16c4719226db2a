/**
 * Follows intents where no chain endpoint is configured: only hosts are queried.
 *
 * An intent whose fate is open is queried separately, every `statusPollMs`, and more seldom the longer it takes, up to `statusPollMaxMs`. One that
 * only rests is not, while the account's list of orders shows all its orders (`ordersList.ts`): one read of the list covers all of them. It is
 * queried separately at once when an order of it leaves the list or changes in it. It is queried as often as before while no list shows it, and every
 * `restingPollMs` whatever the list shows. The list alone proves nothing: the look does.
 */
import { type IntentState, isOpen, lastAttempt } from '../../domain/order/intent.ts'
import { hexKey } from '../../protocol/address.ts'
import { accountOf, type ExecutionContext } from '../context/executionContext.ts'
import type { Follower, FollowOptions } from './follower.ts'
import { observe, readTrades } from './observe.ts'
import { createOrdersList } from './ordersList.ts'
import { createPace, type Pace } from './paces.ts'
import { restingKeys } from './restingOrders.ts'
import { createSharedTrades } from './sharedTrades.ts'

/** Interval at which repeated statements may bring the next list forward, ms: no sooner than this after the last time. */
const HURRY_AGAIN_MS = 30_000

/** Makes the follower. */
export function apiFollower(
  context: ExecutionContext,
  { lanes, open, heard, observed, signal }: FollowOptions,
): Follower {
  const { clock } = context
  const paces = new Map<string, Pace>()
  let hurriedMs = Number.NEGATIVE_INFINITY
  const list = createOrdersList(context, {
    account: accountOf(context),
    watched: () => new Set(restingStates().flatMap(restingKeys).map(hexKey)),
    onChange: () => restingStates().forEach(judge),
    signal,
  })
  const trades = createSharedTrades(context, restingStates, (state) => readTrades(context, state, {}))
  const stateOf = (intentId: string) => open().get(intentId)?.state

  function restingStates(): readonly IntentState[] {
    return [...open().values()].flatMap(({ state }) =>
      state !== undefined && restingKeys(state).length > 0 ? [state] : [],
    )
  }

  /** Compares resting orders with the newest list. */
  function judge(state: IntentState): void {
    const hasLeft = paces.get(state.intent.intentId)?.judge(state, list.shown)
    // An order that left the list may end together with others, or another takes its place.
    if (hasLeft === true) hurry()
  }

  function hurry(): void {
    hurriedMs = clock.monotonicMs()
    list.hurry()
  }

  async function poll(intentId: string): Promise<void> {
    const state = stateOf(intentId)
    if (state === undefined || lastAttempt(state)?.armed === undefined) return
    const observation = await observe(context, lanes, state, { trades, sawOrders: list.saw })
    if (signal.aborted || !open().has(intentId)) return
    heard(intentId, observation.answer)
    await observed(intentId, observation)
  }

  signal.addEventListener(
    'abort',
    () => {
      for (const pace of paces.values()) pace.wakeUp()
    },
    { once: true },
  )
  return {
    async follow(intentId) {
      const pace = createPace(context)
      paces.set(intentId, pace)
      try {
        while (!signal.aborted && open().has(intentId)) {
          const waitMs = pace.dueInMs(stateOf(intentId))
          if (waitMs > 0) {
            await pace.wait(waitMs)
            continue
          }
          await poll(intentId)
          pace.asked()
        }
      } finally {
        paces.delete(intentId)
      }
    },
    markActive(intentId) {
      const state = stateOf(intentId)
      // A closed intent is no longer queried, and its pause, which may be minutes, ends with it.
      if (state !== undefined && !isOpen(state)) paces.get(intentId)?.wakeUp()
      if (state === undefined || restingKeys(state).length === 0) return
      judge(state)
      hurry()
    },
    pollSoon(intentId) {
      const state = stateOf(intentId)
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
