/**
 * Events into the machine: each is stepped, its record is committed and folded, and the permitted effects begin after the commit. Events of one
 * intent come one at a time.
 */
import { BaseError } from '../base/errors.ts'
import type { AccountRecord } from '../domain/accountRecords/accountRecord.ts'
import type { Effect } from '../domain/machine/conclude.ts'
import { applyRecord } from '../domain/machine/fold.ts'
import { type MachineEvent, step } from '../domain/machine/step.ts'
import { type IntentState, isOpen, lastAttempt } from '../domain/order/intent.ts'
import type { JournalRecord, StoredRecord } from '../domain/records.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import { inOneCommit } from './oneCommit.ts'
import type { Effects } from './runEffects.ts'
import { emitFills } from './track/emitFills.ts'
import { inTurn, type TrackedOrder, type TrackedOrders } from './trackedOrders.ts'

/** Receivers of the results of taken events. */
export interface TakenTo {
  /** Begins an effect that a commit permits. */
  readonly run: (tracked: TrackedOrder, effect: Effect) => void
  /** Asks a host for the first attempt of an intent while its records are being written; the effect `prepare` goes on with the answer. */
  readonly askAhead: Effects['askAhead']
  /** Something was written of an intent that is followed. */
  readonly markActive: (intentId: string) => void
  /** An intent was answered by its one send, was seen to land, or closed. */
  readonly wake: (intentId: string) => void
  /** The host that a new attempt asks. */
  readonly chooseHost: () => string
}

/** Takes events. What its functions reject with is a fault of the journal or a mistake of ours. */
export interface EventTaker {
  /** Takes an event when those before it of its intent are taken. */
  feed(tracked: TrackedOrder, event: MachineEvent): Promise<void>
  /** Takes it now: to be called in the intent's turn. */
  take(tracked: TrackedOrder, event: MachineEvent): Promise<void>
  /**
   * Takes an admitted intent in and begins its first attempt, in one commit: nothing happens between J1 and J2, so an order
   * waits for one write of the disk less. A crash keeps both or neither.
   */
  takeNew(tracked: TrackedOrder, event: MachineEvent, beside: () => Promise<void>): Promise<void>
  /** The same of several intents and records of the account, all in one commit. */
  takeAllNew(news: readonly NewOrder[], beside: readonly AccountRecord[]): Promise<void>
}

/** An order that is taken in, with the event of its acceptance. */
export interface NewOrder {
  readonly tracked: TrackedOrder
  readonly event: MachineEvent
}

/** Makes the taker of these orders' events. */
export function createEventTaker(
  context: ExecutionContext,
  orders: TrackedOrders,
  { run, askAhead, markActive, wake, chooseHost }: TakenTo,
): EventTaker {
  async function take(tracked: TrackedOrder, event: MachineEvent): Promise<void> {
    for (;;) {
      context.journal.lookAt(context.clock)
      const setBackMs = context.journal.setBackSince(tracked.intentId)
      const { record, effects, again } = step(tracked.state, event, context.rules, setBackMs)
      if (record !== undefined) {
        // A landing seen before another order's landing was written is judged anew by the next look.
        if (record.kind === 'landed' && !orders.claim(tracked.intentId, record.orderKeys)) return
        const startedMs = context.clock.monotonicMs()
        const stored = await write(record)
        if (stored === undefined) return take(tracked, digestReused(event.nowMs))
        committed(tracked, stored, startedMs)
        // The guard's line was written together with J3. A stop that comes meanwhile still finds that nothing left; the send reports its fault.
        if (record.kind === 'attempt.armed') await tracked.signed?.recorded.catch(() => undefined)
      }
      for (const effect of effects) run(tracked, effect)
      if (!again) return
    }
  }

  /** Returns J1 and J2 of an intent, and the events after them. */
  function firstRecords({ tracked, event }: NewOrder) {
    const first = step(tracked.state, event, context.rules)
    if (first.record === undefined) throw new TypeError('accept: no record')
    const begin: MachineEvent = { type: 'begin', nowMs: event.nowMs, host: chooseHost() }
    const second = step(applyRecord(tracked.state, first.record), begin, context.rules)
    if (second.record === undefined) throw new TypeError('begin: no record')
    return { acceptance: first.record, beginning: second.record, effects: second.effects }
  }

  /** Asks a host beside the writing of an intent's first records, if they begin an attempt: to ask permits nothing and moves nothing. */
  function askBeside(tracked: TrackedOrder, acceptance: JournalRecord, beginning: JournalRecord): void {
    if (acceptance.kind !== 'intent.accepted' || beginning.kind !== 'attempt.preparing') return
    askAhead(tracked, acceptance.intent, { n: beginning.attempt, host: beginning.host })
  }

  async function takeAllNew(news: readonly NewOrder[], beside: readonly AccountRecord[]): Promise<void> {
    const begun = news.map((each) => ({ ...each, ...firstRecords(each) }))
    const startedMs = context.clock.monotonicMs()
    const records = begun.flatMap(({ acceptance, beginning }) => [acceptance, beginning])
    const written = context.journal.appendTogether([...records, ...beside])
    for (const { tracked, acceptance, beginning } of begun) askBeside(tracked, acceptance, beginning)
    const numbers = await written
    const stored = records.map((record, index) => ({ record, seq: numbers[index] ?? 0 }))
    for (const [index, { tracked }] of begun.entries()) {
      for (const each of stored.slice(2 * index, 2 * index + 2)) committed(tracked, each, startedMs)
    }
    for (const { tracked, effects } of begun) for (const effect of effects) run(tracked, effect)
  }

  async function takeNew(
    tracked: TrackedOrder,
    event: MachineEvent,
    beside: () => Promise<void>,
  ): Promise<void> {
    const { acceptance, beginning, effects } = firstRecords({ tracked, event })
    const startedMs = context.clock.monotonicMs()
    const written = inOneCommit(
      () => context.journal.append(acceptance),
      () => context.journal.append(beginning),
      beside,
    )
    askBeside(tracked, acceptance, beginning)
    const [accepted, begun, besides] = await written
    if (accepted.status === 'rejected') throw accepted.reason
    committed(tracked, accepted.value, startedMs)
    if (begun.status === 'rejected') throw begun.reason
    committed(tracked, begun.value, startedMs)
    if (besides.status === 'rejected') throw besides.reason
    for (const effect of effects) run(tracked, effect)
  }

  /** Folds the durable record into the live state, and reports it. */
  function committed(tracked: TrackedOrder, stored: StoredRecord, startedMs: number): void {
    const { intentId } = tracked
    const { record } = stored
    const before = tracked.state
    const state = applyRecord(before, record)
    orders.moved(tracked, state)
    if (record.kind === 'attempt.armed') tracked.armedRecord = stored
    if (record.kind === 'landed') context.fees?.learn(state)
    const commitMs = context.clock.monotonicMs() - startedMs
    context.emit({ type: 'journal.committed', record, state, commitMs })
    if (record.kind === 'intent.accepted' || record.kind === 'attempt.armed') {
      const name = record.kind === 'attempt.armed' ? 'arm' : 'accept'
      context.emit({ type: 'order.timing', intentId, step: name, durationMs: commitMs })
    }
    emitFills(context, before, state, record)
    orders.relabel(tracked, reasonOfRecord(state))
    if (tracked.following) markActive(intentId)
    if (record.kind === 'send.result' || record.kind === 'landed' || !isOpen(state)) wake(intentId)
    if (!isOpen(state)) orders.forget(tracked, state)
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

  return { feed: (tracked, event) => inTurn(tracked, () => take(tracked, event)), take, takeNew, takeAllNew }
}

function digestReused(nowMs: number): MachineEvent {
  const reason = 'the venue proposed a message that was armed before; perpd did not send it again'
  return { type: 'refused', nowMs, code: 'DIGEST_REUSED', reason }
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
      if (attempt.evidence !== undefined) return attempt.evidence.statement
      return `the submit was ${attempt.send?.result ?? 'unanswered'}: ${attempt.send?.message ?? 'no answer'}`
    default:
      return attempt.evidence?.statement ?? attempt.send?.message ?? ''
  }
}
