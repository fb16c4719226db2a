/** Checks a record before it is written, so that a journal never holds a history that cannot be replayed. */
import { applyRecord } from '../domain/machine/fold.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { AttemptArmed, JournalRecord } from '../domain/records.ts'
import { hexKey } from '../protocol/address.ts'
import { DuplicateDecisionError, JournalFaultError } from './journal.ts'

/** Facts about earlier records. */
export interface AdmissionView {
  /** The intent's state; undefined when it was never accepted, or closed long ago. */
  state(intentId: string): IntentState | undefined
  hasDecision(strategy: string, decisionKey: string): boolean
  /** The intent that armed this digest, if any. */
  digestOwner(router: string, digest: string): string | undefined
}

/** Admits the records of one commit, each after those before it. */
export interface Admission {
  /** The state that the record makes. Throws as `admitRecord`; what was refused is as if it had not come. */
  admit(record: JournalRecord): IntentState
}

/** An admission of one commit over what is durable. */
export function createAdmission(durable: AdmissionView): Admission {
  const states = new Map<string, IntentState>()
  const decisions = new Set<string>()
  const digests = new Map<string, string>()
  const view: AdmissionView = {
    state: (intentId) => states.get(intentId) ?? durable.state(intentId),
    hasDecision: (strategy, decisionKey) =>
      decisions.has(JSON.stringify([strategy, decisionKey])) || durable.hasDecision(strategy, decisionKey),
    digestOwner: (router, digest) =>
      digests.get(`${hexKey(router)} ${hexKey(digest)}`) ?? durable.digestOwner(router, digest),
  }
  return {
    admit(record) {
      const state = admitRecord(view, record)
      states.set(record.intentId, state)
      if (record.kind === 'intent.accepted') {
        decisions.add(JSON.stringify([record.intent.strategy, record.intent.decisionKey]))
      }
      if (record.kind === 'attempt.armed') {
        const { router, digest } = record.armed
        digests.set(`${hexKey(router)} ${hexKey(digest)}`, record.intentId)
      }
      return state
    },
  }
}

/**
 * The state that the record makes, when it may be written.
 *
 * @throws DuplicateDecisionError when an `intent.accepted` repeats a decision.
 * @throws JournalFaultError JOURNAL_DIGEST_REUSED when an `attempt.armed` brings a digest that was armed before.
 * @throws BaseError JOURNAL_OUT_OF_ORDER when the record cannot follow the intent's story.
 */
export function admitRecord(view: AdmissionView, record: JournalRecord): IntentState {
  if (record.kind === 'intent.accepted') {
    const { strategy, decisionKey } = record.intent
    if (view.hasDecision(strategy, decisionKey)) throw new DuplicateDecisionError(strategy, decisionKey)
  }
  if (record.kind === 'attempt.armed') refuseReusedDigest(view, record)
  return applyRecord(view.state(record.intentId), record)
}

function refuseReusedDigest(view: AdmissionView, record: AttemptArmed): void {
  const { router, digest } = record.armed
  const owner = view.digestOwner(router, digest)
  if (owner === undefined) return
  throw new JournalFaultError('This digest was armed before; perpd does not arm it twice.', {
    code: 'JOURNAL_DIGEST_REUSED',
    facts: { router, digest, armedBy: owner, intentId: record.intentId, attempt: record.attempt },
    details:
      'Nothing was written or sent: two orders cannot share one digest. This is a bug in perpd; report it.',
  })
}
