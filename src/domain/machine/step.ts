/**
 * The order machine (docs/orders.md, "The promises"): it turns an event into the record to write and the effects to run next.
 *
 * `step` is pure: no I/O, clock or randomness. The order manager commits the one record that a step gives, folds it into the state, runs the effects,
 * and feeds their results back as events. A record always precedes the effect it permits. Only a committed `attempt.armed` leads to a submit, and no
 * event leads from an armed attempt to a second submit.
 *
 * ACCEPTED    an admitted intent (J1). `begin` writes J2 and asks for a prepare, unless the intent has expired.
 * PREPARING   nothing was signed, or no signature left. Anything may be abandoned: a refusal, a payload mismatch or the expiry
 *             closes the intent; silence repeats the prepare, and so does a crash.
 * ARMED       J3 is durable: the digest may land from here on, whatever else is believed. Found at start-up it counts as
 *             sent, and J4 `unanswered` says so.
 * ACKED, UNRESOLVED  sent; they differ only in the operator's view. A venue that gives up an accepted order turns the
 *             first into the second. Only evidence ends them (`evidence.ts`).
 * LANDED      the orders exist (J5); each child is followed to its end (J5), then the intent closes (J7).
 * DEAD, VOID_CONSUMED  J6; the intent closes. A new order only ever comes from a new decision on a fresh snapshot.
 * NOT_SENT    the one send provably did not happen; the intent closes as never having left this machine.
 */
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { sameHex } from '../../protocol/address.ts'
import { RECORD_VERSION } from '../accountRecords/recordVersion.ts'
import {
  type ArmedFacts,
  type Attempt,
  hasEnded,
  type Intent,
  type IntentState,
  isProvisional,
  lastAttempt,
  type SendFacts,
} from '../order/intent.ts'
import type { WarnedFacts } from '../order/warnedFacts.ts'
import type { JournalRecord } from '../records.ts'
import { close, conclude, expire, local, type Step, stamp } from './conclude.ts'
import { endOf, landingOf, lossOf, unlandingOf } from './evidence.ts'
import { type EvidenceRules, gaveUpStatuses, type Landing, type Observation } from './observation.ts'

/** Input of the machine. `nowMs` is the wall clock, for stamps and for the intent's own expiry only. */
export type MachineEvent =
  | { readonly type: 'accept'; readonly nowMs: number; readonly intent: Intent }
  | { readonly type: 'begin'; readonly nowMs: number; readonly host: string }
  | { readonly type: 'prepare.unreachable'; readonly nowMs: number; readonly reason: string }
  /** Refused by the venue, by the verifier, or by the signer: nothing left the house. */
  | {
      readonly type: 'refused'
      readonly nowMs: number
      readonly code: string
      readonly reason: string
      readonly facts?: Readonly<Record<string, string | number | boolean>>
    }
  /** The venue warned when it prepared; nothing is signed before this is durable. */
  | { readonly type: 'warned'; readonly nowMs: number; readonly warned: WarnedFacts }
  | { readonly type: 'signed'; readonly nowMs: number; readonly armed: ArmedFacts }
  | { readonly type: 'sent'; readonly nowMs: number; readonly send: SendFacts }
  | { readonly type: 'recovered'; readonly nowMs: number }
  /** An operator says how an order ended that no evidence closes. */
  | {
      readonly type: 'resolved'
      readonly nowMs: number
      readonly as: 'dead' | 'executed' | 'cancelled'
      readonly by: string
    }
  | { readonly type: 'observed'; readonly nowMs: number; readonly observation: Observation }

const nothing: Step = { effects: [], again: false }

/**
 * The step that an event makes. Throws BaseError MACHINE_MISUSED for an event that cannot happen in the state.
 *
 * @param setBackMs how far the wall clock was set back since the intent was accepted
 */
export function step(
  state: IntentState | undefined,
  event: MachineEvent,
  rules: EvidenceRules,
  setBackMs = 0,
): Step {
  if (event.type === 'accept') {
    if (state !== undefined) throw misused(event, state)
    const record: JournalRecord = {
      v: RECORD_VERSION,
      kind: 'intent.accepted',
      atMs: event.nowMs,
      intentId: event.intent.intentId,
      intent: event.intent,
    }
    return { record, effects: [{ type: 'begin' }], again: false }
  }
  if (state === undefined) throw misused(event, state)
  // A late answer for an intent that is over changes nothing.
  if (state.closing !== undefined) return nothing
  const attempt = lastAttempt(state)
  switch (event.type) {
    case 'begin':
      return begin(state, attempt, event, setBackMs)
    case 'prepare.unreachable':
      if (attempt?.phase !== 'PREPARING') throw misused(event, state)
      if (isExpired(state, event.nowMs, setBackMs))
        return expire(state, event.nowMs, `the host did not answer prepare: ${event.reason}`)
      return { effects: [{ type: 'prepare', attempt: attempt.n, again: true }], again: false }
    case 'refused':
      if (attempt?.phase !== 'PREPARING') throw misused(event, state)
      return close(state, event.nowMs, {
        outcome: 'REFUSED_LOCAL',
        code: event.code,
        reason: event.reason,
        evidence: local(event.nowMs, 'no signature left the process: the journal holds no armed attempt'),
        ...defined({ facts: event.facts }),
      })
    case 'warned':
      if (attempt?.phase !== 'PREPARING') throw misused(event, state)
      return {
        record: {
          ...stamp(state, event.nowMs),
          kind: 'attempt.warned',
          attempt: attempt.n,
          warned: event.warned,
        },
        effects: [],
        again: false,
      }
    case 'signed':
      if (attempt?.phase !== 'PREPARING') throw misused(event, state)
      if (isExpired(state, event.nowMs, setBackMs))
        return expire(state, event.nowMs, 'the intent expired before it was armed')
      return {
        record: {
          ...stamp(state, event.nowMs),
          kind: 'attempt.armed',
          attempt: attempt.n,
          armed: event.armed,
        },
        effects: [{ type: 'submit', attempt: attempt.n }],
        again: false,
      }
    case 'sent':
      if (attempt?.phase === 'NOT_SENT') return conclude(state, attempt, event.nowMs) ?? nothing
      if (attempt?.armed === undefined || attempt.send !== undefined) throw misused(event, state)
      // The chain can show its fate before the submit is answered: the answer then comes late and adds nothing.
      if (attempt.phase !== 'ARMED')
        return { effects: [{ type: 'follow', attempt: attempt.n }], again: false }
      return {
        record: { ...stamp(state, event.nowMs), kind: 'send.result', attempt: attempt.n, send: event.send },
        effects: event.send.result === 'not-sent' ? [] : [{ type: 'follow', attempt: attempt.n }],
        again: event.send.result === 'not-sent',
      }
    case 'recovered':
      return recover(state, attempt, event.nowMs, setBackMs)
    case 'observed':
      return observe(state, attempt, event.observation, event.nowMs, rules)
    case 'resolved':
      return close(state, event.nowMs, {
        outcome: ({ dead: 'DEAD', executed: 'EXECUTED', cancelled: 'CANCELLED' } as const)[event.as],
        code: 'RESOLVED_BY_OPERATOR',
        reason: `${event.by} says it is ${event.as}`,
        evidence: { level: 'operator', atMs: event.nowMs, statement: `${event.by} says it is ${event.as}` },
      })
  }
}

/** Judges whether nothing new is signed for an intent. Its time runs on where the clock was set back: nothing of yesterday is signed today. */
function isExpired({ intent }: IntentState, nowMs: number, setBackMs: number): boolean {
  return nowMs + setBackMs >= intent.expiresAtMs
}

function begin(
  state: IntentState,
  attempt: Attempt | undefined,
  { nowMs, host }: Extract<MachineEvent, { type: 'begin' }>,
  setBackMs: number,
): Step {
  if (attempt !== undefined) throw misused({ type: 'begin' }, state)
  if (isExpired(state, nowMs, setBackMs))
    return expire(state, nowMs, 'the intent expired before it was prepared')
  return {
    record: { ...stamp(state, nowMs), kind: 'attempt.preparing', attempt: 1, lane: state.intent.lane, host },
    effects: [{ type: 'prepare', attempt: 1, again: false }],
    again: false,
  }
}

function recover(state: IntentState, attempt: Attempt | undefined, nowMs: number, setBackMs: number): Step {
  if (attempt === undefined) return { effects: [{ type: 'begin' }], again: false }
  switch (attempt.phase) {
    case 'PREPARING':
      if (isExpired(state, nowMs, setBackMs))
        return expire(state, nowMs, 'the intent expired while perpd was down')
      return { effects: [{ type: 'prepare', attempt: attempt.n, again: false }], again: false }
    case 'ARMED':
      return {
        record: {
          ...stamp(state, nowMs),
          kind: 'send.result',
          attempt: attempt.n,
          send: { result: 'unanswered', message: 'perpd found it armed at the start, so it counts as sent' },
        },
        effects: [{ type: 'follow', attempt: attempt.n }],
        again: false,
      }
    case 'ACKED':
    case 'UNRESOLVED':
      return { effects: [{ type: 'follow', attempt: attempt.n }], again: false }
    case 'LANDED':
    case 'DEAD':
    case 'VOID_CONSUMED':
    case 'NOT_SENT':
      return (
        conclude(state, attempt, nowMs) ?? { effects: [{ type: 'follow', attempt: attempt.n }], again: false }
      )
  }
}

function observe(
  state: IntentState,
  attempt: Attempt | undefined,
  observation: Observation,
  nowMs: number,
  rules: EvidenceRules,
): Step {
  if (attempt?.armed === undefined) return nothing
  const done = conclude(state, attempt, nowMs)
  if (done !== undefined) return done
  const landing = landingOf(state, attempt, observation, rules)
  if (attempt.phase === 'LANDED') {
    const record =
      landedStep(state, attempt, landing, observation, nowMs, rules) ??
      childStep(state, attempt, observation, nowMs, rules)
    return record === undefined ? nothing : { record, effects: [], again: true }
  }
  if (landing !== undefined) {
    return {
      record: { ...stamp(state, nowMs), kind: 'landed', attempt: attempt.n, ...landing },
      effects: [],
      again: true,
    }
  }
  const loss = lossOf(state, attempt, observation, rules)
  if (loss === undefined) {
    const record = doubtStep(state, attempt, observation, nowMs)
    return record === undefined ? nothing : { record, effects: [], again: false }
  }
  const { kind, ...facts } = loss
  return {
    record: { ...stamp(state, nowMs), kind: `attempt.${kind}`, attempt: attempt.n, ...facts },
    effects: [],
    again: true,
  }
}

/** The venue took the order and says now that it gave it up: that proves nothing, and the order is unknown from here on. */
function doubtStep(
  state: IntentState,
  attempt: Attempt,
  { answer, atMs }: Observation,
  nowMs: number,
): JournalRecord | undefined {
  if (attempt.phase !== 'ACKED') return undefined
  if (answer.kind !== 'status' || !gaveUpStatuses.has(answer.status)) return undefined
  const { host, status, error, txHash } = answer
  return {
    ...stamp(state, nowMs),
    kind: 'attempt.doubted',
    attempt: attempt.n,
    evidence: {
      level: 'api',
      atMs,
      statement: `${host} says ${status}${error === undefined ? '' : `: ${error}`}`,
      host,
      status,
      ...defined({ transactionHashes: txHash === undefined ? undefined : [txHash] }),
    },
  }
}

/** Judges a landing that may still be taken back: a look shows that it is final now, or that it is gone. */
function landedStep(
  state: IntentState,
  attempt: Attempt,
  landing: Landing | undefined,
  observation: Observation,
  nowMs: number,
  rules: EvidenceRules,
): JournalRecord | undefined {
  if (!isProvisional(attempt.evidence)) return undefined
  const base = { ...stamp(state, nowMs), attempt: attempt.n }
  const gone = unlandingOf(attempt, landing, observation, rules)
  if (gone !== undefined) return { ...base, kind: 'attempt.unlanded', evidence: gone }
  if (landing === undefined || isProvisional(landing.evidence)) return undefined
  const isSame =
    landing.orderKeys.length === attempt.children.length &&
    landing.orderKeys.every((orderKey, index) => sameHex(orderKey, attempt.children[index]?.orderKey ?? '0x'))
  return isSame ? { ...base, kind: 'landed', ...landing } : undefined
}

/** The first created order that a look shows somewhere else than the journal does. */
function childStep(
  state: IntentState,
  attempt: Attempt,
  observation: Observation,
  nowMs: number,
  rules: EvidenceRules,
): JournalRecord | undefined {
  for (const child of attempt.children) {
    if (hasEnded(child) && !isProvisional(child.evidence)) continue
    const end = endOf(state, child, observation, rules)
    if (end === undefined) continue
    const base = {
      ...stamp(state, nowMs),
      attempt: attempt.n,
      child: child.index,
      orderKey: child.orderKey,
      evidence: end.evidence,
    }
    switch (end.kind) {
      case 'executed':
      case 'cancelled': {
        const phase = end.kind === 'executed' ? 'EXECUTED' : 'CANCELLED'
        if (hasEnded(child)) {
          const isOther =
            child.phase !== phase ||
            !sameHex(child.evidence?.block?.hash ?? '0x', end.evidence.block?.hash ?? '0x')
          if (isOther) return { ...base, kind: 'child.reopened' }
          if (isProvisional(end.evidence)) continue
        }
        if (end.kind === 'executed') return { ...base, kind: 'child.executed', settlement: end.settlement }
        const { cancelReason, settlement } = end
        const figures = defined({ settlement })
        return { ...base, kind: 'child.cancelled', cancelReason, ...figures }
      }
      case 'reopened':
        return { ...base, kind: 'child.reopened' }
      case 'frozen':
        if (child.phase === 'FROZEN') continue
        return { ...base, kind: 'child.frozen', cancelReason: end.cancelReason }
    }
  }
  return undefined
}

function misused(event: { readonly type: string }, state: IntentState | undefined): BaseError {
  return new BaseError(`The order machine received "${event.type}" in a state that does not allow it.`, {
    code: 'MACHINE_MISUSED',
    facts: {
      intentId: state?.intent.intentId,
      phase: state === undefined ? 'none' : (lastAttempt(state)?.phase ?? 'ACCEPTED'),
    },
    details: 'This is a bug in perpd. It stopped before it acted on the event.',
  })
}
