/**
 * The way out when a journal lost records and no newer copy is left: an operator goes on with what there is.
 *
 * What was lost may hold signatures that can still land, and orders that did. So nothing new is made until the longest
 * deadline that may have been signed before this moment is over; open intents that were not signed as far as the journal
 * knows are closed, because the lost records may have signed them; and signed ones are followed to their proof as ever.
 * What came of lost records shows on the account, and reconciliation reports it.
 */
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import type { Loss } from '../sqlite/highWaterMark.ts'
import { closingOf, isUnsigned } from './lostRecords.ts'
import { type JournalOptions, openByRules } from './open.ts'

/** Person who accepts a loss, and the longest life of a lost signature. */
export interface LossAcceptance {
  readonly by: string
  /** Wall clock, Unix ms. */
  readonly nowMs: number
  /** The longest deadline that is ever signed, with a margin for clocks, ms. */
  readonly liveMs: number
}

/** The loss that was accepted. */
export interface AcceptedLoss extends Loss {
  /** Ids of the intents that were closed for it. */
  readonly closed: readonly string[]
  /** Unix ms before which nothing new is made. */
  readonly quietUntilMs: number
}

/**
 * Accepts the loss, or gives undefined when nothing is lost. All its records are one commit; the mark follows it, so that a
 * crash between them leaves the journal refused, and the command is given again.
 *
 * @throws JournalFaultError as `createSqliteJournal`, but for JOURNAL_ROLLED_BACK.
 */
export async function acceptLoss(
  options: JournalOptions,
  { by, nowMs, liveMs }: LossAcceptance,
): Promise<AcceptedLoss | undefined> {
  const { journal, loss } = await openByRules(options, { acceptLoss: true })
  try {
    if (loss === undefined) return undefined
    const quietUntilMs = nowMs + liveMs
    const unsigned = journal.openIntents().filter(isUnsigned)
    await Promise.all([
      journal.appendAccount({
        v: RECORD_VERSION,
        atMs: nowMs,
        intentId: ACCOUNT_ID,
        kind: 'loss.accepted',
        by,
        ...loss,
        quietUntilMs,
      }),
      ...unsigned.map((state) =>
        journal.append(
          closingOf(state, nowMs, {
            code: 'JOURNAL_LOSS_ACCEPTED',
            level: 'operator',
            reason: `later records, now lost, may have signed it; ${by} accepted the loss`,
          }),
        ),
      ),
    ])
    return { ...loss, closed: unsigned.map(({ intent }) => intent.intentId), quietUntilMs }
  } finally {
    await journal.close()
  }
}
