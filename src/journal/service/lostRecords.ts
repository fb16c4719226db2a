/** The records that close what lost records may have signed, and that keep new orders back until no lost signature can land. */
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import type { IntentClosed } from '../../domain/records.ts'
import type { Journal } from '../journal.ts'

/**
 * Notes that a replaced server may have lost the newest records, whoever wrote them, and goes on: what was not signed as far as is known is closed, and
 * nothing is added to a position until no lost signature can land. Without it another machine would sign once more what a lost record had signed.
 * `nowMs` is Unix ms, `liveMs` the longest time in which a signature may land. Throws what the journal throws.
 */
export async function notePossibleLoss(
  journal: Journal,
  { nowMs, liveMs }: { readonly nowMs: number; readonly liveMs: number },
): Promise<void> {
  const lastFound = journal.summary().records
  const unsigned = journal.openIntents().filter(isUnsigned)
  await Promise.all([
    journal.appendAccount({
      v: RECORD_VERSION,
      atMs: nowMs,
      intentId: ACCOUNT_ID,
      kind: 'loss.possible',
      lastFound,
      quietUntilMs: nowMs + liveMs,
    }),
    ...unsigned.map((state) =>
      journal.append(
        closingOf(state, nowMs, {
          code: 'JOURNAL_LOSS_POSSIBLE',
          level: 'local',
          reason:
            'the server of the journal was replaced, and a record that was lost with it may have signed it',
        }),
      ),
    ),
  ])
}

/** Tells whether an intent was not signed as far as the records say. */
export function isUnsigned(state: IntentState): boolean {
  const phase = lastAttempt(state)?.phase
  return phase === undefined || phase === 'PREPARING' || phase === 'NOT_SENT'
}

/** The record that closes an intent at `atMs` (Unix ms) because a lost record may have signed it. */
export function closingOf(
  { intent: { intentId } }: IntentState,
  atMs: number,
  {
    code,
    level,
    reason,
  }: { readonly code: string; readonly level: 'operator' | 'local'; readonly reason: string },
): IntentClosed {
  return {
    v: RECORD_VERSION,
    atMs,
    intentId,
    kind: 'intent.closed',
    closing: {
      ...{ outcome: 'EXPIRED', code, reason },
      evidence: { level, atMs, statement: reason },
    },
  }
}
