/**
 * The order manager around the pure machine: it commits the record that a step gives, folds it into the live state, runs the
 * effects, and feeds their results back as events. Start-up and steady state are this one path.
 *
 * Order of things: events of one intent are taken one at a time, in order; events of different intents run side by side,
 * and their records share commits. Effects run after the commit that permits them and never before.
 *
 * What is not in the journal is not believed after a restart: signatures in memory, the venue's last word, timers.
 */

import { BaseError } from '../base/errors.ts'
import type { Effect } from '../domain/machine/conclude.ts'
import { applyRecord } from '../domain/machine/fold.ts'
import type { HostAnswer } from '../domain/machine/observation.ts'
import { type MachineEvent, step } from '../domain/machine/step.ts'
import { cancelAskedBy } from '../domain/order/cancelAsked.ts'
import {
  type Intent,
  type IntentState,
  isOpen,
  isUnresolved,
  type Label,
  labelOf,
  lastAttempt,
} from '../domain/order/intent.ts'
import type { WarnedFacts } from '../domain/order/warnedFacts.ts'
import type { JournalRecord, StoredRecord } from '../domain/records.ts'
import { DuplicateDecisionError } from '../journal/journal.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import { armedBy } from './lanes/armed.ts'
import type { Lanes } from './lanes/lane.ts'
import { shippedLanes } from './lanes/shippedLanes.ts'
import { timed } from './lanes/timed.ts'
import { makeAttempt } from './makeAttempt.ts'
import { inOneCommit, throwFirst } from './oneCommit.ts'
import { submit } from './submit.ts'
import { emitFills } from './track/emitFills.ts'
import { createFollower } from './track/follow.ts'
import type { Signed } from './verify/sign.ts'

/** How long fills are remembered for lists that lag behind. */
const landedMemoryMs = 120_000

/** An intent with what only this process knows of it. */
interface TrackedOrder {
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

/** The running machine over all open intents. */
export interface OrderManager {
  /**
   * J1: resolves when the acceptance is durable; the rest of the road goes on by itself. False when the same decision was
   * accepted before: nothing happened. `beside` writes what must be durable in the same commit;
   * of a decision that is known already it is not begun.
   */
  accept(intent: Intent, beside?: () => Promise<void>): Promise<boolean>
  /**
   * Shows what the journal left open, from before the venue is reached, and remembers its newest fills. Nothing is asked or
   * sent yet.
   */
  restore(open: readonly IntentState[], closed: readonly IntentState[]): void
  /** Takes up what was adopted; resolves when each was looked at once. */
  recover(): Promise<void>
  /** Open intents as they are now, oldest first. */
  open(): readonly { readonly state: IntentState; readonly label: Label; readonly observedStatus?: string }[]
  /** Intents that closed after a landing in the last minutes: fills that a position list may not show yet. */
  recentlyLanded(): readonly IntentState[]
  /** Something moved an order of an open intent: the chain is looked at soon. */
  pollSoon(intentId: string): void
  /**
   * How long ago one of those closed, ms: by the monotonic clock, because the wall clock may be set back or forth in
   * between. Infinity for any other intent.
   */
  closedAgoMs(intentId: string): number
  /**
   * An operator's word for an order that no evidence closes. False when there is no such open order, or it was never
   * signed and ends by itself.
   */
  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled', by: string): Promise<boolean>
  /** Resolves when the intent's newest attempt was answered by its one send, or was seen to land, or when it closed. */
  settled(intentId: string): Promise<void>
  /**
   * No effect begins after this; what is in the air is left to the next start. Resolves when what was being written is
   * written, so that the journal may be closed.
   */
  stop(): Promise<void>
}

/** Makes the order manager over these lanes. Faults of the journal and mistakes of ours go to `context.fatal`. */
export function createOrderManager(context: ExecutionContext, lanes: Lanes = shippedLanes): OrderManager {
  const trackedOrders = new Map<string, TrackedOrder>()
  const stopping = new AbortController()
  const waiters = new Map<string, (() => void)[]>()
  /** Open intents by the orders that they landed with. */
  const claimed = new Map<string, string>()
  let nextHost = 0
  let landed: readonly Landed[] = []
  let isPolling = false
  const follower = createFollower(context, {
    lanes,
    open: () => trackedOrders,
    heard(intentId, answer) {
      const tracked = trackedOrders.get(intentId)
      if (tracked !== undefined) note(tracked, answer)
    },
    async observed(intentId, observation) {
      const tracked = trackedOrders.get(intentId)
      if (tracked === undefined || stopping.signal.aborted) return
      await feed(intentId, tracked, { type: 'observed', nowMs: context.clock.now(), observation })
    },
    signal: stopping.signal,
  })

  function chooseHost(): string {
    const { api } = context.api.hosts
    const usable = api.filter((host) => !context.api.isCoolingDown(host))
    const hosts = usable.length > 0 ? usable : api
    const host = hosts[nextHost % hosts.length]
    nextHost += 1
    if (host === undefined) throw new TypeError('no application host is configured')
    return host
  }

  /** Queues work of one intent behind what it already does. */
  function enqueue<T>(tracked: TrackedOrder, work: () => Promise<T>): Promise<T> {
    const next = tracked.tail.then(work)
    tracked.tail = next.catch(() => undefined)
    return next
  }

  function feed(intentId: string, tracked: TrackedOrder, event: MachineEvent): Promise<void> {
    return enqueue(tracked, () => take(intentId, tracked, event))
  }

  /** Feeds an event from an effect: nobody waits for it, so what fails is fatal here. */
  function dispatch(intentId: string, tracked: TrackedOrder, event: MachineEvent): void {
    // After a stop the journal may be closed. What is not written now is found again at the next start.
    if (stopping.signal.aborted) return
    feed(intentId, tracked, event).catch((error: unknown) => {
      if (!stopping.signal.aborted) context.fatal(error)
    })
  }

  async function take(intentId: string, tracked: TrackedOrder, event: MachineEvent): Promise<void> {
    for (;;) {
      const { record, effects, again } = step(tracked.state, event, context.rules)
      if (record !== undefined) {
        // What was seen when another's landing was not yet written is judged anew by the next look.
        if (record.kind === 'landed' && !claim(intentId, record.orderKeys)) return
        const startedMs = context.clock.monotonicMs()
        const stored = await write(record)
        if (stored === undefined) return take(intentId, tracked, digestReused(event.nowMs))
        committed(intentId, tracked, stored, startedMs)
      }
      for (const effect of effects) run(intentId, tracked, effect)
      if (!again) return
    }
  }

  /** Whether the orders are no other intent's, written or about to be: two looks of one moment may see one order for two. */
  function claim(intentId: string, orderKeys: readonly Hex[]): boolean {
    const keys = orderKeys.map(hexKey)
    const isAnothers = (key: string) =>
      (claimed.get(key) ?? intentId) !== intentId || context.journal.explains(key, intentId)
    if (keys.some(isAnothers)) return false
    for (const key of keys) claimed.set(key, intentId)
    return true
  }

  /**
   * Takes an admitted intent in and begins its first attempt, in one commit: nothing happens between J1 and J2, so an order
   * waits for one write of the disk less. A crash keeps both or neither.
   */
  async function takeNew(
    intentId: string,
    tracked: TrackedOrder,
    event: MachineEvent,
    beside: () => Promise<void>,
  ): Promise<void> {
    const first = step(tracked.state, event, context.rules)
    if (first.record === undefined) throw new TypeError('accept: no record')
    const begin: MachineEvent = { type: 'begin', nowMs: event.nowMs, host: chooseHost() }
    const second = step(applyRecord(tracked.state, first.record), begin, context.rules)
    if (second.record === undefined) throw new TypeError('begin: no record')
    const startedMs = context.clock.monotonicMs()
    const { record: acceptance } = first
    const { record: beginning } = second
    const [accepted, begun, besides] = await inOneCommit(
      () => context.journal.append(acceptance),
      () => context.journal.append(beginning),
      beside,
    )
    if (accepted.status === 'rejected') throw accepted.reason
    committed(intentId, tracked, accepted.value, startedMs)
    if (begun.status === 'rejected') throw begun.reason
    committed(intentId, tracked, begun.value, startedMs)
    if (besides.status === 'rejected') throw besides.reason
    for (const effect of second.effects) run(intentId, tracked, effect)
  }

  /** Folds what is durable now into the live state, and tells of it. */
  function committed(intentId: string, tracked: TrackedOrder, stored: StoredRecord, startedMs: number): void {
    const { record } = stored
    const before = tracked.state
    const state = applyRecord(before, record)
    tracked.state = state
    if (record.kind === 'attempt.armed') tracked.armedRecord = stored
    if (record.kind === 'landed') context.fees?.learn(state)
    const commitMs = context.clock.monotonicMs() - startedMs
    context.emit({ type: 'journal.committed', record, state, commitMs })
    if (record.kind === 'intent.accepted' || record.kind === 'attempt.armed') {
      const name = record.kind === 'attempt.armed' ? 'arm' : 'accept'
      context.emit({ type: 'order.timing', intentId, step: name, durationMs: commitMs })
    }
    emitFills(context, before, state, record)
    relabel(tracked, reasonOfRecord(state))
    if (tracked.following) follower.markActive(intentId)
    if (record.kind === 'send.result' || record.kind === 'landed' || !isOpen(state)) wake(intentId)
    if (!isOpen(state)) forget(intentId, tracked, state)
  }

  /**
   * Writes a record; undefined when its digest was armed before. Two equal orders of one second can have one digest at the
   * venue (contract `BaseGelatoRelayRouter`, `digests`), and a host can repeat an old payload: neither may be sent,
   * neither is ours.
   */
  async function write(record: JournalRecord): Promise<StoredRecord | undefined> {
    try {
      return await context.journal.append(record)
    } catch (error) {
      const isReused = error instanceof BaseError && error.code === 'JOURNAL_DIGEST_REUSED'
      if (record.kind === 'attempt.armed' && isReused) return undefined
      throw error
    }
  }

  function digestReused(nowMs: number): MachineEvent {
    const reason = 'the venue proposed a message that was armed before; it was not sent again'
    return { type: 'refused', nowMs, code: 'DIGEST_REUSED', reason }
  }

  function relabel(tracked: TrackedOrder, reason: string): void {
    if (tracked.state === undefined) return
    const to = labelOf(tracked.state, tracked.observedStatus)
    if (to === tracked.label) return
    const from = tracked.label
    tracked.label = to
    const { state } = tracked
    const others = [...trackedOrders.values()].flatMap((each) => each.state ?? [])
    const askedBy = cancelAskedBy(state, [...others, ...landed.map((each) => each.state)])
    const asked = askedBy === undefined ? {} : { askedBy }
    context.emit({ type: 'order.moved', intent: state.intent, from, to, reason, state, ...asked })
  }

  function forget(intentId: string, tracked: TrackedOrder, state: IntentState): void {
    tracked.signed = undefined
    trackedOrders.delete(intentId)
    for (const [key, owner] of claimed) if (owner === intentId) claimed.delete(key)
    if (!mayHaveFilled(state)) return
    const closedMs = context.clock.monotonicMs()
    landed = [...landed.filter((each) => each.closedMs >= closedMs - landedMemoryMs), { state, closedMs }]
  }

  function wake(intentId: string): void {
    for (const resolve of waiters.get(intentId) ?? []) resolve()
    waiters.delete(intentId)
  }

  /** Runs one effect beside the queue; its result comes back as an event. */
  function run(intentId: string, tracked: TrackedOrder, effect: Effect): void {
    if (stopping.signal.aborted) {
      // This process knows that no byte left, and says so while it can: found armed, the order would count as sent.
      if (effect.type === 'submit') saveUnsent(intentId, tracked)
      return
    }
    switch (effect.type) {
      case 'begin':
        dispatch(intentId, tracked, { type: 'begin', nowMs: context.clock.now(), host: chooseHost() })
        return
      case 'prepare':
        prepareAndSign(intentId, tracked, effect.again).catch(context.fatal)
        return
      case 'submit':
        send(intentId, tracked).catch(context.fatal)
        return
      case 'follow':
        follow(intentId, tracked).catch(context.fatal)
        return
    }
  }

  async function prepareAndSign(intentId: string, tracked: TrackedOrder, again: boolean): Promise<void> {
    const { state } = tracked
    const attempt = state === undefined ? undefined : lastAttempt(state)
    if (state === undefined || attempt === undefined) throw new TypeError('prepare: no attempt')
    if (again) await context.clock.sleep(context.settings.prepareRetryMs, stopping.signal)
    if (stopping.signal.aborted) return
    // Until it is armed an attempt may change host; a repeated prepare asks the next one.
    const host = again ? chooseHost() : attempt.host
    const made = await makeAttempt(context, lanes, state.intent, attempt.n, host, {
      shrinks: attempt.warned?.filter(({ action }) => action === 'shrink').length ?? 0,
      write: (warned) => writeWarned(intentId, tracked, warned),
    })
    if (made === undefined) return
    tracked.signed = made.signed
    dispatch(intentId, tracked, made.event)
  }

  /** Writes what an attempt was warned of before it goes on; false when perpd stops, and it must not. */
  async function writeWarned(intentId: string, tracked: TrackedOrder, warned: WarnedFacts): Promise<boolean> {
    if (stopping.signal.aborted) return false
    try {
      await feed(intentId, tracked, { type: 'warned', nowMs: context.clock.now(), warned })
    } catch (error) {
      if (!stopping.signal.aborted) throw error
    }
    return !stopping.signal.aborted
  }

  function saveUnsent(intentId: string, tracked: TrackedOrder): void {
    const send = { result: 'not-sent', message: 'perpd was stopping and did not send it' } as const
    feed(intentId, tracked, { type: 'sent', nowMs: context.clock.now(), send }).catch(context.fatal)
  }

  async function send(intentId: string, tracked: TrackedOrder): Promise<void> {
    const { signed, armedRecord } = tracked
    if (signed === undefined || armedRecord === undefined) throw new TypeError('submit: nothing is armed')
    // The right to send is used up here, before the first byte.
    tracked.signed = undefined
    tracked.armedRecord = undefined
    const atMs = context.clock.monotonicMs()
    const facts = await submit(context, lanes, armedBy(armedRecord, signed))
    timed(context, intentId, 'submit', atMs)
    if (tracked.acceptedMs > 0) timed(context, intentId, 'total', tracked.acceptedMs)
    dispatch(intentId, tracked, { type: 'sent', nowMs: context.clock.now(), send: facts })
  }

  /** Follows an intent until it closes. */
  async function follow(intentId: string, tracked: TrackedOrder): Promise<void> {
    if (tracked.following) return
    tracked.following = true
    if (!isPolling) {
      isPolling = true
      follower.run().catch((error: unknown) => {
        if (!stopping.signal.aborted) context.fatal(error)
      })
    }
    await follower.follow(intentId)
  }

  /** Reports the venue's word when it is a new one. */
  function note(tracked: TrackedOrder, answer: HostAnswer): void {
    if (tracked.state === undefined) return
    const status = answer.kind === 'status' ? answer.status : answer.kind
    const reason = answer.kind === 'status' ? answer.error : answer.reason
    if (status === tracked.observedStatus && reason === tracked.observedReason) return
    tracked.observedReason = reason
    // Silence is no word: the last one stands.
    if (answer.kind === 'status') tracked.observedStatus = status
    context.emit({
      type: 'order.observed',
      intent: tracked.state.intent,
      attempt: lastAttempt(tracked.state)?.n ?? 0,
      status,
      host: answer.host,
      ...(answer.kind !== 'status' && answer.traceId !== undefined ? { traceId: answer.traceId } : {}),
      ...(reason === undefined ? {} : { reason }),
    })
    relabel(tracked, `the host says ${status}`)
  }

  function register(intentId: string, state: IntentState | undefined): TrackedOrder {
    const tracked: TrackedOrder = {
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
  }

  return {
    async accept(intent, beside = async () => undefined) {
      if (trackedOrders.has(intent.intentId)) return false
      const tracked = register(intent.intentId, undefined)
      try {
        const event: MachineEvent = { type: 'accept', nowMs: context.clock.now(), intent }
        // A decision that was accepted before is refused alone: its story must not be gone on with.
        const isKnown = context.journal.hasDecision(intent.strategy, intent.decisionKey)
        const mayBegin = !isKnown && !stopping.signal.aborted
        await enqueue(tracked, async () => {
          if (mayBegin) return takeNew(intent.intentId, tracked, event, beside)
          if (isKnown) return take(intent.intentId, tracked, event)
          throwFirst(await inOneCommit(() => take(intent.intentId, tracked, event), beside))
        })
        return true
      } catch (error) {
        trackedOrders.delete(intent.intentId)
        if (error instanceof DuplicateDecisionError) return false
        context.fatal(error)
        throw error
      }
    },
    restore(open, closed) {
      for (const state of open) register(state.intent.intentId, state)
      landed = closed.filter(mayHaveFilled).map((state) => {
        const agoMs = Math.max(0, context.clock.now() - (state.closedAtMs ?? 0))
        return { state, closedMs: context.clock.monotonicMs() - agoMs }
      })
    },
    async recover() {
      await Promise.all(
        [...trackedOrders].map(([intentId, tracked]) =>
          feed(intentId, tracked, { type: 'recovered', nowMs: context.clock.now() }),
        ),
      )
      await follower.pollAll()
    },
    pollSoon: (intentId) => follower.markActive(intentId),
    open() {
      return [...trackedOrders.values()].flatMap(({ state, label, observedStatus }) =>
        state === undefined || label === undefined
          ? []
          : [{ state, label, ...(observedStatus === undefined ? {} : { observedStatus }) }],
      )
    },
    recentlyLanded() {
      return landed.map(({ state }) => state)
    },
    closedAgoMs(intentId) {
      const found = landed.find(({ state }) => state.intent.intentId === intentId)
      return found === undefined ? Number.POSITIVE_INFINITY : context.clock.monotonicMs() - found.closedMs
    },
    async resolve(intentId, as, by) {
      const tracked = trackedOrders.get(intentId)
      if (tracked === undefined) return false
      return await enqueue(tracked, async () => {
        const attempt = tracked.state === undefined ? undefined : lastAttempt(tracked.state)
        // Evidence may have closed it while the word waited its turn.
        if (tracked.state === undefined || !isOpen(tracked.state) || attempt === undefined) return false
        if (!isUnresolved(attempt) && attempt.phase !== 'LANDED') return false
        await take(intentId, tracked, { type: 'resolved', nowMs: context.clock.now(), as, by })
        return true
      })
    },
    settled(intentId) {
      const tracked = trackedOrders.get(intentId)
      if (tracked === undefined) return Promise.resolve()
      const attempt = tracked.state === undefined ? undefined : lastAttempt(tracked.state)
      if (attempt?.send !== undefined || attempt?.phase === 'LANDED') return Promise.resolve()
      return new Promise((resolve) => {
        waiters.set(intentId, [...(waiters.get(intentId) ?? []), resolve])
      })
    },
    async stop() {
      stopping.abort()
      // A record that is being written may bring one more behind it.
      const waited = new Set<Promise<unknown>>()
      for (;;) {
        const tails = [...trackedOrders.values()].map(({ tail }) => tail).filter((tail) => !waited.has(tail))
        if (tails.length === 0) return
        for (const tail of tails) waited.add(tail)
        await Promise.all(tails)
      }
    },
  }
}

/** Whether a closed intent may have moved a position: it landed, or an operator says that it was executed. */
function mayHaveFilled(state: IntentState): boolean {
  return lastAttempt(state)?.phase === 'LANDED' || state.closing?.outcome === 'EXECUTED'
}

/** One sentence for the newest thing that happened. */
function reasonOfRecord(state: IntentState): string {
  if (state.closing !== undefined) return state.closing.reason
  const attempt = lastAttempt(state)
  if (attempt === undefined) return 'accepted'
  switch (attempt.phase) {
    case 'PREPARING':
      return `asking ${attempt.host} to prepare`
    case 'ARMED':
      return 'signed and recorded, and sent once'
    case 'ACKED':
      return 'the venue accepted it'
    case 'UNRESOLVED':
      return `the submit was ${attempt.send?.result ?? 'unanswered'}: ${attempt.send?.message ?? 'no answer'}`
    default:
      return attempt.evidence?.statement ?? attempt.send?.message ?? ''
  }
}
