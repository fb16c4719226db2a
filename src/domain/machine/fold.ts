/**
 * The fold: an intent's state is its records, one after the other, and nothing else. Live state and recovered state are made by this one function, so
 * they cannot differ.
 *
 * A record that does not fit the state is a mistake of ours or a damaged journal. It throws, because continuing would mean to trade on a story that
 * cannot have happened.
 */
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  type Attempt,
  type AttemptPhase,
  type Child,
  type ChildPhase,
  type Evidence,
  hasEnded,
  type Intent,
  type IntentState,
  isProvisional,
} from '../order/intent.ts'
import type { Shrunk } from '../order/warnedFacts.ts'
import type { JournalRecord } from '../records.ts'

function outOfOrder(record: JournalRecord, state: IntentState | undefined, why: string): BaseError {
  return new BaseError(`The records of the journal contradict each other: ${why}.`, {
    code: 'JOURNAL_OUT_OF_ORDER',
    facts: {
      intentId: record.intentId,
      record: record.kind,
      phase: state?.closing ? 'CLOSED' : (state?.attempts.at(-1)?.phase ?? (state ? 'ACCEPTED' : 'none')),
    },
    details: 'perpd stopped and sent nothing. Keep the journal file unchanged and report it.',
  })
}

/** Phases that a record may find the newest attempt in. */
const allowed: Readonly<Partial<Record<JournalRecord['kind'], readonly AttemptPhase[]>>> = {
  'attempt.warned': ['PREPARING'],
  'attempt.armed': ['PREPARING'],
  'send.result': ['ARMED'],
  'attempt.doubted': ['ACKED'],
  landed: ['ARMED', 'ACKED', 'UNRESOLVED', 'LANDED'],
  'attempt.unlanded': ['LANDED'],
  'child.executed': ['LANDED'],
  'child.cancelled': ['LANDED'],
  'child.frozen': ['LANDED'],
  'child.reopened': ['LANDED'],
  'attempt.dead': ['ARMED', 'ACKED', 'UNRESOLVED'],
  'attempt.void': ['ARMED', 'ACKED', 'UNRESOLVED'],
}

/** Tells whether nothing more can come of an attempt: only then may its intent close without an operator. */
function mayClose(attempt: Attempt): boolean {
  if (attempt.phase === 'LANDED') {
    return (
      !isProvisional(attempt.evidence) &&
      attempt.children.every((child) => hasEnded(child) && !isProvisional(child.evidence))
    )
  }
  return attempt.armed === undefined || ['DEAD', 'VOID_CONSUMED', 'NOT_SENT'].includes(attempt.phase)
}

const phaseOfSend = {
  accepted: 'ACKED',
  refused: 'UNRESOLVED',
  unanswered: 'UNRESOLVED',
  'not-sent': 'NOT_SENT',
} as const satisfies Record<string, AttemptPhase>

const phaseOfChild = {
  'child.executed': 'EXECUTED',
  'child.cancelled': 'CANCELLED',
  'child.frozen': 'FROZEN',
  'child.reopened': 'OPEN',
} as const satisfies Record<string, ChildPhase>

/** The state after one more record. Pure. Throws BaseError JOURNAL_OUT_OF_ORDER when the record cannot follow the state. */
export function applyRecord(state: IntentState | undefined, record: JournalRecord): IntentState {
  if (record.kind === 'intent.accepted') {
    if (state !== undefined) throw outOfOrder(record, state, 'an intent is accepted twice')
    return { intent: record.intent, attempts: [], updatedAtMs: record.atMs }
  }
  if (state === undefined)
    throw outOfOrder(record, state, 'the first record of an intent is not its acceptance')
  if (state.closing !== undefined)
    throw outOfOrder(record, state, 'a record follows the end of a closed intent')
  if (record.kind === 'intent.closed') {
    const last = state.attempts.at(-1)
    if (last !== undefined && !mayClose(last) && record.closing.evidence.level !== 'operator') {
      throw outOfOrder(record, state, 'an intent closes while its digest may still land')
    }
    return { ...state, closing: record.closing, closedAtMs: record.atMs, updatedAtMs: record.atMs }
  }
  if (record.kind === 'attempt.preparing') {
    const last = state.attempts.at(-1)
    if (last !== undefined && last.phase !== 'DEAD' && last.phase !== 'VOID_CONSUMED') {
      throw outOfOrder(record, state, 'a second attempt begins while the first may still land')
    }
    if (record.attempt !== state.attempts.length + 1) {
      throw outOfOrder(record, state, `attempt ${record.attempt} follows attempt ${state.attempts.length}`)
    }
    const attempt: Attempt = {
      n: record.attempt,
      lane: record.lane,
      host: record.host,
      phase: 'PREPARING',
      children: [],
    }
    return { ...state, attempts: [...state.attempts, attempt], updatedAtMs: record.atMs }
  }
  const current = state.attempts.at(-1)
  if (current === undefined || current.n !== record.attempt) {
    throw outOfOrder(record, state, `a record names attempt ${record.attempt}`)
  }
  if (!allowed[record.kind]?.includes(current.phase)) {
    throw outOfOrder(record, state, `${record.kind} cannot follow ${current.phase}`)
  }
  const moved = moveAttempt(state, current, record)
  const shrunk = record.kind === 'attempt.warned' ? record.warned.shrunk : undefined
  if (shrunk !== undefined && !isSmaller(shrunk, state.intent)) {
    throw outOfOrder(record, state, 'a shrunk order is not smaller')
  }
  return {
    ...state,
    intent: shrunk === undefined ? state.intent : { ...state.intent, ...shrunk },
    attempts: state.attempts.with(-1, moved),
    updatedAtMs: record.atMs,
  }
}

/** Only the size shrinks, and nothing of it grows. */
function isSmaller({ terms, reservationUsd }: Shrunk, intent: Intent): boolean {
  return (
    terms.sizeDeltaUsd < intent.terms.sizeDeltaUsd &&
    terms.collateralDelta <= intent.terms.collateralDelta &&
    reservationUsd <= intent.reservationUsd
  )
}

type AttemptRecord = Exclude<
  JournalRecord,
  { kind: 'intent.accepted' } | { kind: 'intent.closed' } | { kind: 'attempt.preparing' }
>

function moveAttempt(state: IntentState, current: Attempt, record: AttemptRecord): Attempt {
  switch (record.kind) {
    case 'attempt.warned':
      return { ...current, warned: [...(current.warned ?? []), record.warned] }
    case 'attempt.armed':
      return {
        ...current,
        phase: 'ARMED',
        host: record.armed.host,
        armed: record.armed,
        armedAtMs: record.atMs,
      }
    case 'send.result':
      return { ...current, phase: phaseOfSend[record.send.result], send: record.send, sentAtMs: record.atMs }
    case 'attempt.doubted':
      return { ...current, phase: 'UNRESOLVED', evidence: record.evidence }
    case 'landed':
      if (current.phase === 'LANDED') return confirmLanding(state, current, record)
      return {
        ...current,
        phase: 'LANDED',
        ...landingOf(record),
        children: record.orderKeys.map((orderKey, index): Child => {
          const role = record.roles[index]
          if (role === undefined) throw outOfOrder(record, state, `order ${orderKey} has no role`)
          return { index, orderKey, phase: 'OPEN', role }
        }),
      }
    case 'attempt.unlanded':
      if (!isProvisional(current.evidence)) throw outOfOrder(record, state, 'a final landing is taken back')
      return { ...withoutReturn(current), phase: 'UNRESOLVED', evidence: record.evidence, children: [] }
    case 'attempt.dead':
      return { ...current, phase: 'DEAD', evidence: record.evidence }
    case 'attempt.void':
      return { ...current, phase: 'VOID_CONSUMED', evidence: record.evidence }
    case 'child.executed':
    case 'child.cancelled':
    case 'child.frozen':
    case 'child.reopened': {
      const child = current.children[record.child]
      if (child === undefined || child.orderKey !== record.orderKey) {
        throw outOfOrder(record, state, `order ${record.orderKey} is not child ${record.child}`)
      }
      const phase = phaseOfChild[record.kind]
      const isRepeat = phase === child.phase || phase === 'OPEN'
      if (hasEnded(child) && !(isProvisional(child.evidence) && isRepeat)) {
        throw outOfOrder(record, state, `order ${record.orderKey} ended twice`)
      }
      const { index, orderKey, role } = child
      const moved: Child = {
        index,
        orderKey,
        phase,
        role,
        evidence: record.evidence,
        ...defined({ settlement: record.settlement, cancelReason: record.cancelReason }),
      }
      return { ...current, children: current.children.map((each) => (each === child ? moved : each)) }
    }
  }
}

/** A landing seen before is shown final: the same orders, in a block that stays. */
function confirmLanding(
  state: IntentState,
  current: Attempt,
  record: Extract<JournalRecord, { kind: 'landed' }>,
): Attempt {
  const isSame =
    record.orderKeys.length === current.children.length &&
    record.orderKeys.every((orderKey, index) => orderKey === current.children[index]?.orderKey)
  if (!isProvisional(current.evidence) || !isSame) throw outOfOrder(record, state, 'an attempt lands twice')
  return { ...withoutReturn(current), ...landingOf(record) }
}

/** The facts of a landing that its record shows. */
function landingOf({ evidence, feeReturnedUsd }: Extract<JournalRecord, { kind: 'landed' }>): {
  readonly evidence?: Evidence
  readonly feeReturnedUsd?: Usd
} {
  return { evidence, ...defined({ feeReturnedUsd }) }
}

/** An attempt without the figure of a landing that is taken back or shown anew. */
function withoutReturn({ feeReturnedUsd: _, ...attempt }: Attempt): Attempt {
  return attempt
}

/** The state after all records of one intent, or undefined when there are none. */
export function foldRecords(records: Iterable<JournalRecord>): IntentState | undefined {
  let state: IntentState | undefined
  for (const record of records) state = applyRecord(state, record)
  return state
}
