/**
 * The way out when a journal lost records and no newer copy is left: an operator goes on with what there is.
 *
 * What was lost may hold signatures that can still land, and orders that did. So nothing new is made until the longest
 * deadline that may have been signed before this moment is over; open intents that were not signed as far as the journal
 * knows are closed, because the lost records may have signed them; and signed ones are followed to their proof as ever.
 * What came of lost records shows on the account, and reconciliation reports it.
 */
import type { Loss } from '../sqlite/highWaterMark.ts'
import { type LossTimes, type NotedLoss, noteLoss } from './lostRecords.ts'
import { type JournalOptions, openByRules } from './open.ts'

/** Person who accepts a loss; `liveMs` is the longest deadline that is ever signed, with a margin for clocks. */
export interface LossAcceptance extends LossTimes {
  readonly by: string
}

/** The loss that was accepted. */
export interface AcceptedLoss extends Loss, NotedLoss {}

/**
 * Accepts the loss, or gives undefined when nothing is lost. All its records are one commit; the mark follows it, so that a
 * crash between them leaves the journal refused, and the command is given again.
 *
 * @throws JournalFaultError as `createSqliteJournal`, but for JOURNAL_ROLLED_BACK.
 */
export async function acceptLoss(
  options: JournalOptions,
  { by, ...times }: LossAcceptance,
): Promise<AcceptedLoss | undefined> {
  const { journal, loss } = await openByRules(options, { acceptLoss: true })
  try {
    if (loss === undefined) return undefined
    return { ...loss, ...(await noteLoss(journal, { kind: 'loss.accepted', by, ...loss }, times)) }
  } finally {
    await journal.close()
  }
}
