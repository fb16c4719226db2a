/** What a writer starts from: a good snapshot and what came after it, or all records from the first. */
import type { DatabaseSync } from 'node:sqlite'
import { type IntentState, isOpen } from '../../domain/order/intent.ts'
import { corruptFault } from '../journalFaults.ts'
import { createIndexCheck, liveDigestOf } from './indexes.ts'
import { readSnapshot } from './journalSnapshot.ts'
import { type Folded, genesis, replay } from './replay.ts'
import { pageProblems, readNumber } from './sqliteSchema.ts'
import { createRowWriter } from './writes.ts'

/** The folds at the newest record, and how they were made. */
export interface Recovery extends Folded {
  /** Record from which the replay went on: that of the snapshot, or 0. */
  readonly replayedFrom: number
}

/**
 * Reads what a writer needs. Without a good snapshot every record is read, and every table that follows from them is held
 * against them, and sums that differ are made anew; with one, what came after it, and the tables of open intents.
 *
 * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER.
 */
export function recover(
  db: DatabaseSync,
  path: string,
  hashAt: (seq: number) => string | undefined,
  mayUseSnapshot: boolean,
): Recovery {
  const found = mayUseSnapshot ? readSnapshot(db, hashAt) : undefined
  if (found?.kind !== 'good') {
    // What is repaired on a damaged page damages what else is there.
    const [wrong] = pageProblems(db, 1)
    if (wrong !== undefined) throw corruptFault(path, { reason: wrong.replaceAll('\n', ' ') })
    const check = createIndexCheck(db)
    const folded = replay(db, path, genesis, check.listen)
    const { tables, sums } = check.problems(folded.open)
    const [problem] = tables
    if (problem !== undefined) throw corruptFault(path, { reason: problem })
    if (sums.length > 0) rebuildSums(db, path)
    return { ...folded, replayedFrom: 0 }
  }
  const folded = replay(db, path, found.folded)
  checkOpenRows(db, path, folded.open)
  return { ...folded, replayedFrom: found.folded.tail.seq }
}

/** Fills `ending` and `closed_fill` from the records of closed intents, inside the caller's transaction. */
export function fillSums(db: DatabaseSync, path: string): void {
  const { addClosed } = createRowWriter(db)
  replay(db, path, genesis, (_seq, _record, state) => {
    if (state !== undefined && !isOpen(state)) addClosed(state)
  })
}

/** The records are the truth; what another release computed from them, or damage changed, is computed again. */
function rebuildSums(db: DatabaseSync, path: string): void {
  db.exec('BEGIN IMMEDIATE')
  db.exec('DELETE FROM ending')
  db.exec('DELETE FROM closed_fill')
  fillSums(db, path)
  db.exec('COMMIT')
}

function checkOpenRows(db: DatabaseSync, path: string, open: ReadonlyMap<string, IntentState>): void {
  const intent = db.prepare('SELECT open FROM intent WHERE intent_id = ?')
  const live = db.prepare('SELECT digest FROM live_attempt WHERE intent_id = ?')
  for (const [intentId, state] of open) {
    if (intent.get(intentId)?.open !== 1) {
      throw corruptFault(path, {
        intentId,
        reason: 'the intent is listed as closed but not closed by its records',
      })
    }
    if (live.get(intentId)?.digest !== liveDigestOf(state)) {
      throw corruptFault(path, { intentId, reason: 'the live digest is not the one its records tell of' })
    }
  }
  const listed = readNumber(db, 'SELECT count(*) FROM intent WHERE open = 1')
  if (listed !== open.size) {
    throw corruptFault(path, { reason: `${listed} intents are listed as open; the records say ${open.size}` })
  }
}
