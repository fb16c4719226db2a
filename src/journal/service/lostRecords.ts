/** The records that close what lost records may have signed, and that keep new orders back until no lost signature can land. */
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import { lastAttempt } from '../../domain/order/intent.ts'
import type { Journal } from '../journal.ts'
import type { Loss } from '../sqlite/highWaterMark.ts'

/** A loss of records: one that an operator accepted, or one that a replaced server may have caused, with the last record that was found. */
type LostRecords =
  | ({ readonly kind: 'loss.accepted'; readonly by: string } & Loss)
  | { readonly kind: 'loss.possible'; readonly lastFound: number }

/** Time of the note, Unix ms, and the longest time in which a lost signature may land, ms. */
export interface LossTimes {
  readonly nowMs: number
  readonly liveMs: number
}

/** The result of a noted loss: ids of the intents that were closed for it, and the time before which nothing new is made, Unix ms. */
export interface NotedLoss {
  readonly closed: readonly string[]
  readonly quietUntilMs: number
}

/**
 * Notes a loss in one commit: intents that were not signed as far as is known are closed, because a lost record may have signed them, and nothing is
 * added to a position until no lost signature can land. Without it a machine would sign once more what a lost record had signed. Throws what the
 * journal throws.
 */
export async function noteLoss(
  journal: Journal,
  lost: LostRecords,
  { nowMs, liveMs }: LossTimes,
): Promise<NotedLoss> {
  const head = { v: RECORD_VERSION, atMs: nowMs } as const
  const quietUntilMs = nowMs + liveMs
  const { code, level, reason } = causeOf(lost)
  const evidence = { level, atMs: nowMs, statement: reason }
  const closed = journal
    .openIntents()
    .filter((state) => {
      const phase = lastAttempt(state)?.phase
      return phase === undefined || phase === 'PREPARING' || phase === 'NOT_SENT'
    })
    .map(({ intent }) => intent.intentId)
  await Promise.all([
    journal.appendAccount({ ...head, intentId: ACCOUNT_ID, ...lost, quietUntilMs }),
    ...closed.map((intentId) =>
      journal.append({
        ...{ ...head, intentId, kind: 'intent.closed' },
        closing: { outcome: 'EXPIRED', code, reason, evidence },
      }),
    ),
  ])
  return { closed, quietUntilMs }
}

function causeOf(lost: LostRecords) {
  return lost.kind === 'loss.accepted'
    ? ({
        code: 'JOURNAL_LOSS_ACCEPTED',
        level: 'operator',
        reason: `later records, now lost, may have signed it; ${lost.by} accepted the loss`,
      } as const)
    : ({
        code: 'JOURNAL_LOSS_POSSIBLE',
        level: 'local',
        reason:
          'the server of the journal was replaced, and a record that was lost with it may have signed it',
      } as const)
}
