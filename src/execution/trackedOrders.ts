/**
 * The open intents of this process, each with the facts that only this process knows, and recent fills that ended them. After a restart only the
 * journal's states are believed.
 */
import { defined } from '../base/defined.ts'
import { cancelAskedBy } from '../domain/order/cancelAsked.ts'
import { type IntentState, type Label, labelOf, lastAttempt } from '../domain/order/intent.ts'
import { type UnprovenMessage, unprovenMessageOf } from '../domain/order/withheld.ts'
import type { StoredRecord } from '../domain/records.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import type { MadeAttempt } from './makeAttempt.ts'
import type { OpenOrders, OrderHints } from './openOrders.ts'
import { editedIn, legsIn } from './track/emitFills.ts'
import type { Signed } from './verify/sign.ts'

/** Time for which fills are remembered, because lists lag behind. */
const landedMemoryMs = 120_000

/** An attempt that was begun before it is recorded. */
interface AttemptAhead {
  readonly made: Promise<MadeAttempt | undefined>
  /** Lets it be signed: J1 and J2 are durable. Without this it goes no further than the host's answer. */
  readonly release: () => void
}

/** An intent with the facts that only this process knows of it. */
export interface TrackedOrder {
  readonly intentId: string
  /** Set by `TrackedOrders.moved` alone. */
  state: IntentState | undefined
  label: Label | undefined
  /** The venue's last word on the newest attempt; an observation. Both set by `TrackedOrders.heard` alone. */
  observedStatus: string | undefined
  observedReason: string | undefined
  /** Monotonic ms of the acceptance; 0 after a restart. */
  acceptedMs: number
  /** Its first attempt, whose host is asked while J1 and J2 are being written. */
  ahead: AttemptAhead | undefined
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
export interface TrackedOrders extends OpenOrders {
  /** Open intents by their ids, oldest first. */
  readonly byId: ReadonlyMap<string, TrackedOrder>
  /** The newest messages among these whose fate is open, by intent: asked for by each new order, which looks at no more than them. */
  readonly unproven: ReadonlyMap<string, UnprovenMessage>
  /** Takes an intent in; one without a state is accepted now. */
  register(intentId: string, state: IntentState | undefined): TrackedOrder
  /** Takes the state that a record made. */
  moved(tracked: TrackedOrder, state: IntentState): void
  /** Takes the venue's last word; an undefined status leaves the one before. */
  heard(tracked: TrackedOrder, status: string | undefined, reason: string | undefined): void
  /** Takes one out that was never accepted. */
  drop(intentId: string): void
  /** Removes a closed intent; its possible fills are remembered for a while. */
  forget(tracked: TrackedOrder, state: IntentState): void
  /** Tells whether no other intent has these orders, written or about to be: two looks of one moment may see one order for two. */
  claim(intentId: string, orderKeys: readonly Hex[]): boolean
  /** Tells of a new label, if it is one. */
  relabel(tracked: TrackedOrder, reason: string): void
  /** Remembers intents that closed before this process began. */
  remember(closed: readonly IntentState[]): void
  /** Passes hints on to a follower of these orders; those that came before are lost. */
  hintTo(follower: OrderHints): void
}

/** Queues work of one intent behind its present work. */
export function inTurn<T>(tracked: TrackedOrder, work: () => Promise<T>): Promise<T> {
  const next = tracked.tail.then(work)
  tracked.tail = next.catch(() => undefined)
  return next
}

/** Makes it empty; the context reports labels and times. */
export function createTrackedOrders(context: ExecutionContext): TrackedOrders {
  const trackedOrders = new Map<string, TrackedOrder>()
  const unproven = new Map<string, UnprovenMessage>()
  /** Open intents by the orders that they landed with, and these orders by intent. */
  const claimed = new Map<string, string>()
  const claims = new Map<string, ReadonlySet<string>>()
  /** By intent, oldest first. */
  const landed = new Map<string, Landed>()
  const followers: OrderHints[] = []
  /** The open intents as they are listed, until one of them changes: hundreds of turns a second read them. */
  let listed: ReturnType<OpenOrders['open']> | undefined
  /** The landed ones as they are listed, until one comes or goes. */
  let listedLanded: readonly IntentState[] | undefined

  function judgeFate(intentId: string, state: IntentState): void {
    const message = unprovenMessageOf(state)
    if (message === undefined) unproven.delete(intentId)
    else unproven.set(intentId, message)
  }

  function dropLanded(nowMs: number): void {
    for (const [intentId, { closedMs }] of landed) {
      if (closedMs >= nowMs - landedMemoryMs) return
      landed.delete(intentId)
      listedLanded = undefined
    }
  }

  /** Yields all followed and recently landed intents: read to the end only where somebody looks for one of them. */
  function* stories(): Generator<IntentState> {
    for (const { state } of trackedOrders.values()) if (state !== undefined) yield state
    for (const { state } of landed.values()) yield state
  }

  return {
    byId: trackedOrders,
    unproven,
    register(intentId, state) {
      const tracked: TrackedOrder = {
        intentId,
        state,
        label: state === undefined ? undefined : labelOf(state),
        observedStatus: undefined,
        observedReason: undefined,
        acceptedMs: state === undefined ? context.clock.monotonicMs() : 0,
        ahead: undefined,
        signed: undefined,
        armedRecord: undefined,
        following: false,
        tail: Promise.resolve(),
      }
      trackedOrders.set(intentId, tracked)
      listed = undefined
      if (state !== undefined) judgeFate(intentId, state)
      return tracked
    },
    moved(tracked, state) {
      tracked.state = state
      listed = undefined
      judgeFate(tracked.intentId, state)
    },
    heard(tracked, status, reason) {
      tracked.observedStatus = status ?? tracked.observedStatus
      tracked.observedReason = reason
      listed = undefined
    },
    drop(intentId) {
      trackedOrders.delete(intentId)
      listed = undefined
      unproven.delete(intentId)
    },
    forget(tracked, state) {
      const { intentId } = tracked
      tracked.signed = undefined
      trackedOrders.delete(intentId)
      listed = undefined
      unproven.delete(intentId)
      for (const key of claims.get(intentId) ?? []) claimed.delete(key)
      claims.delete(intentId)
      if (!mayHaveFilled(state)) return
      const closedMs = context.clock.monotonicMs()
      dropLanded(closedMs)
      landed.delete(intentId)
      landed.set(intentId, { state, closedMs })
      listedLanded = undefined
    },
    claim(intentId, orderKeys) {
      const keys = orderKeys.map(hexKey)
      const isAnothers = (key: string) =>
        (claimed.get(key) ?? intentId) !== intentId || context.journal.explains(key, intentId)
      if (keys.some(isAnothers)) return false
      for (const key of keys) claimed.set(key, intentId)
      claims.set(intentId, new Set([...(claims.get(intentId) ?? []), ...keys]))
      return true
    },
    relabel(tracked, reason) {
      if (tracked.state === undefined) return
      const to = labelOf(tracked.state)
      if (to === tracked.label) return
      const from = tracked.label
      tracked.label = to
      listed = undefined
      const { state } = tracked
      const askedBy = cancelAskedBy(state, stories())
      const asked = defined({ askedBy })
      const legs = defined({ legs: to === 'executed' ? legsIn(context, state) : undefined })
      const more = { ...asked, ...legs, ...editedIn(context, state) }
      context.emit({ type: 'order.moved', intent: state.intent, from, to, reason, state, ...more })
    },
    remember(closed) {
      const fills = closed.filter(mayHaveFilled).map((state): Landed => {
        const agoMs = Math.max(0, context.clock.now() - (state.closedAtMs ?? 0))
        return { state, closedMs: context.clock.monotonicMs() - agoMs }
      })
      landed.clear()
      listedLanded = undefined
      for (const fill of fills.sort((one, other) => one.closedMs - other.closedMs))
        landed.set(fill.state.intent.intentId, fill)
    },
    hintTo: (follower) => void followers.push(follower),
    pollSoon(intentId) {
      for (const follower of followers) follower.pollSoon(intentId)
    },
    sawOrders(list) {
      for (const follower of followers) follower.sawOrders(list)
    },
    open() {
      listed ??= [...trackedOrders.values()].flatMap(({ state, label, observedStatus }) =>
        state === undefined || label === undefined ? [] : [{ state, label, ...defined({ observedStatus }) }],
      )
      return listed
    },
    recentlyLanded() {
      listedLanded ??= [...landed.values()].map(({ state }) => state)
      return listedLanded
    },
    closedAgoMs(intentId) {
      const found = landed.get(intentId)
      return found === undefined ? Number.POSITIVE_INFINITY : context.clock.monotonicMs() - found.closedMs
    },
  }
}

/** Tells whether a closed intent may have moved a position: it landed, or an operator states that it was executed. */
function mayHaveFilled(state: IntentState): boolean {
  return lastAttempt(state)?.phase === 'LANDED' || state.closing?.outcome === 'EXECUTED'
}
