/**
 * The open intents of this process, each with what only this process knows of it, and the fills that ended them lately. Nothing
 * of it is believed after a restart but the states that the journal gives.
 */
import { cancelAskedBy } from '../domain/order/cancelAsked.ts'
import { type IntentState, type Label, labelOf, lastAttempt } from '../domain/order/intent.ts'
import type { StoredRecord } from '../domain/records.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import { editedIn, legsIn } from './track/emitFills.ts'
import type { Signed } from './verify/sign.ts'

/** How long fills are remembered for lists that lag behind. */
const landedMemoryMs = 120_000

/** An intent with what only this process knows of it. */
export interface TrackedOrder {
  readonly intentId: string
  state: IntentState | undefined
  label: Label | undefined
  /** The venue's last word on the newest attempt; an observation. */
  observedStatus: string | undefined
  observedReason: string | undefined
  /** Monotonic ms of the acceptance; 0 after a restart. */
  acceptedMs: number
  /** The signature that waits for its J3, and then for its one send. */
  signed: Signed | undefined
  armedRecord: StoredRecord | undefined
  following: boolean
  /** Tail of the queue of events. */
  tail: Promise<unknown>
}

/** A fill that lists may not show yet. */
interface Landed {
  readonly state: IntentState
  /** Monotonic. */
  readonly closedMs: number
}

/** The open intents and the newest fills. */
export interface TrackedOrders {
  /** Open intents by their ids, oldest first. */
  readonly byId: ReadonlyMap<string, TrackedOrder>
  /** Takes an intent in; one without a state is accepted now. */
  register(intentId: string, state: IntentState | undefined): TrackedOrder
  /** Takes one out that was never accepted. */
  drop(intentId: string): void
  /** Takes one out that closed; what may have filled is remembered for a while. */
  forget(tracked: TrackedOrder, state: IntentState): void
  /** Whether the orders are no other intent's, written or about to be: two looks of one moment may see one order for two. */
  claim(intentId: string, orderKeys: readonly Hex[]): boolean
  /** Tells of a new label, if it is one. */
  relabel(tracked: TrackedOrder, reason: string): void
  /** Remembers what closed before this process began. */
  remember(closed: readonly IntentState[]): void
  /** See `OrderManager`. */
  recentlyLanded(): readonly IntentState[]
  closedAgoMs(intentId: string): number
}

/** Queues work of one intent behind what it already does. */
export function inTurn<T>(tracked: TrackedOrder, work: () => Promise<T>): Promise<T> {
  const next = tracked.tail.then(work)
  tracked.tail = next.catch(() => undefined)
  return next
}

/** Makes it empty; labels and times are told and taken by the context. */
export function createTrackedOrders(context: ExecutionContext): TrackedOrders {
  const trackedOrders = new Map<string, TrackedOrder>()
  /** Open intents by the orders that they landed with. */
  const claimed = new Map<string, string>()
  let landed: readonly Landed[] = []

  /** All that is followed, and what landed lately: read to the end only where somebody looks for one of them. */
  function* stories(): Generator<IntentState> {
    for (const { state } of trackedOrders.values()) if (state !== undefined) yield state
    for (const { state } of landed) yield state
  }

  return {
    byId: trackedOrders,
    register(intentId, state) {
      const tracked: TrackedOrder = {
        intentId,
        state,
        label: state === undefined ? undefined : labelOf(state),
        observedStatus: undefined,
        observedReason: undefined,
        acceptedMs: state === undefined ? context.clock.monotonicMs() : 0,
        signed: undefined,
        armedRecord: undefined,
        following: false,
        tail: Promise.resolve(),
      }
      trackedOrders.set(intentId, tracked)
      return tracked
    },
    drop(intentId) {
      trackedOrders.delete(intentId)
    },
    forget(tracked, state) {
      const { intentId } = tracked
      tracked.signed = undefined
      trackedOrders.delete(intentId)
      for (const [key, owner] of claimed) if (owner === intentId) claimed.delete(key)
      if (!mayHaveFilled(state)) return
      const closedMs = context.clock.monotonicMs()
      landed = [...landed.filter((each) => each.closedMs >= closedMs - landedMemoryMs), { state, closedMs }]
    },
    claim(intentId, orderKeys) {
      const keys = orderKeys.map(hexKey)
      const isAnothers = (key: string) =>
        (claimed.get(key) ?? intentId) !== intentId || context.journal.explains(key, intentId)
      if (keys.some(isAnothers)) return false
      for (const key of keys) claimed.set(key, intentId)
      return true
    },
    relabel(tracked, reason) {
      if (tracked.state === undefined) return
      const to = labelOf(tracked.state)
      if (to === tracked.label) return
      const from = tracked.label
      tracked.label = to
      const { state } = tracked
      const askedBy = cancelAskedBy(state, stories())
      const asked = askedBy === undefined ? {} : { askedBy }
      const legs = to === 'executed' ? { legs: legsIn(context, state) } : {}
      const more = { ...asked, ...legs, ...editedIn(context, state) }
      context.emit({ type: 'order.moved', intent: state.intent, from, to, reason, state, ...more })
    },
    remember(closed) {
      landed = closed.filter(mayHaveFilled).map((state) => {
        const agoMs = Math.max(0, context.clock.now() - (state.closedAtMs ?? 0))
        return { state, closedMs: context.clock.monotonicMs() - agoMs }
      })
    },
    recentlyLanded() {
      return landed.map(({ state }) => state)
    },
    closedAgoMs(intentId) {
      const found = landed.find(({ state }) => state.intent.intentId === intentId)
      return found === undefined ? Number.POSITIVE_INFINITY : context.clock.monotonicMs() - found.closedMs
    },
  }
}

/** Whether a closed intent may have moved a position: it landed, or an operator says that it was executed. */
function mayHaveFilled(state: IntentState): boolean {
  return lastAttempt(state)?.phase === 'LANDED' || state.closing?.outcome === 'EXECUTED'
}
