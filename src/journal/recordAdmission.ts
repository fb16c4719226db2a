/** What every backend checks before it writes a record, so that a journal never holds a story it could not tell again. */
import { applyRecord } from '../domain/machine/fold.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { AttemptArmed, JournalRecord } from '../domain/records.ts'
import { DuplicateDecisionError, JournalFaultError } from './journal.ts'

/** What a backend knows, records of the running commit included. */
export interface AdmissionView {
  /** The intent's state, open or closed; undefined when it was never accepted. */
  state(intentId: string): IntentState | undefined
  hasDecision(strategy: string, decisionKey: string): boolean
  /** The intent that armed this digest, if any. */
  digestOwner(router: string, digest: string): string | undefined
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
  throw new JournalFaultError('This digest was armed before; it is not armed twice.', {
    code: 'JOURNAL_DIGEST_REUSED',
    facts: { router, digest, armedBy: owner, intentId: record.intentId, attempt: record.attempt },
    details:
      'Nothing was written or sent: two orders cannot share one digest. This is a mistake of perpd; report it.',
  })
}
