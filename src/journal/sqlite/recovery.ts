/** Restores the state that a writer starts from: a good snapshot and the records after it, or all records from the first. */
import type { DatabaseSync } from 'node:sqlite'
import { corruptFault } from '../journalFaults.ts'
import { createLedger, type Ledger } from '../journalLedger.ts'
import type { Tail } from './hashChain.ts'
import { createIndexCheck } from './indexes.ts'
import { readSnapshot } from './journalSnapshot.ts'
import { genesis, type Listener } from './recordReplay.ts'
import { endingRowOf } from './recordRows.ts'
import { replay } from './replay.ts'
import { inOneView } from './sqliteRows.ts'
import { pageProblems, readNumber } from './sqliteSchema.ts'
import { createRowWriter } from './writes.ts'

/** The ledger at the newest record, and how it was made. */
export interface Recovery {
  readonly tail: Tail
  readonly ledger: Ledger
  /** Record from which the replay went on: that of the snapshot, or 0. */
  readonly replayedFrom: number
}

/**
 * Reads what a writer needs. Without a good snapshot every record is read, and every table that follows from them is held
 * against them, and endings that differ are made anew; with one, what came after it, and the rows of open intents.
 *
 * @param progress told how many records are read, of how many
 * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER.
 */
export function recover(
  db: DatabaseSync,
  path: string,
  hashAt: (seq: number) => string | undefined,
  mayUseSnapshot: boolean,
  progress?: (done: number, total: number) => void,
): Recovery {
  const { isEndingWrong, ...recovery } = inOneView(db, () => {
    const found = mayUseSnapshot ? readSnapshot(db, hashAt) : undefined
    const listen = progress === undefined ? undefined : listener(db, progress)
    if (found?.kind !== 'good') return recoverWhole(db, path, listen)
    const ledger = createLedger(found.state)
    const tail = replay(db, path, found.tail, ledger, listen === undefined ? {} : { listen })
    checkOpenRows(db, path, ledger)
    return { tail, ledger, replayedFrom: found.tail.seq, isEndingWrong: false }
  })
  if (isEndingWrong) rebuildEndings(db, path)
  return recovery
}

/** Tells how far the reading is. */
function listener(db: DatabaseSync, progress: (done: number, total: number) => void): Listener {
  const total = readNumber(db, 'SELECT coalesce(max(seq), 0) FROM record')
  return (seq) => progress(seq, total)
}

function recoverWhole(
  db: DatabaseSync,
  path: string,
  beside: Listener | undefined,
): Recovery & { readonly isEndingWrong: boolean } {
  // A repair on a damaged page would damage its other contents.
  const [wrong] = pageProblems(db, 1)
  if (wrong !== undefined) throw corruptFault(path, { reason: wrong.replaceAll('\n', ' ') })
  const check = createIndexCheck(db)
  const ledger = createLedger()
  const listen: Listener = (...told) => {
    check.listen(...told)
    beside?.(...told)
  }
  const tail = replay(db, path, genesis, ledger, { listen })
  const { tables, endings } = check.problems(ledger.openIntents())
  const [problem] = tables
  if (problem !== undefined) throw corruptFault(path, { reason: problem })
  return { tail, ledger, replayedFrom: 0, isEndingWrong: endings.length > 0 }
}

/** Fills `ending` from the records of closed intents, inside the caller's transaction. */
function fillEndings(db: DatabaseSync, path: string): void {
  const { addEnding } = createRowWriter(db)
  replay(db, path, genesis, createLedger(), {
    listen: (_seq, _record, state) => {
      const ending = state === undefined ? undefined : endingRowOf(state)
      if (ending !== undefined) addEnding(ending)
    },
  })
}

/** The records are the truth; what damage changed of the rest is computed again. */
function rebuildEndings(db: DatabaseSync, path: string): void {
  db.exec('BEGIN IMMEDIATE')
  db.exec('DELETE FROM ending')
  fillEndings(db, path)
  db.exec('COMMIT')
}

function checkOpenRows(db: DatabaseSync, path: string, ledger: Ledger): void {
  const intent = db.prepare('SELECT open FROM intent WHERE intent_id = ?')
  const open = ledger.openIntents()
  for (const {
    intent: { intentId },
  } of open) {
    if (intent.get(intentId)?.open !== 1) {
      throw corruptFault(path, {
        intentId,
        reason: 'the list shows the intent as closed, its records do not',
      })
    }
  }
  const listed = readNumber(db, 'SELECT count(*) FROM intent WHERE open = 1')
  if (listed !== open.length) {
    throw corruptFault(path, {
      reason: `${listed} intents are listed as open; the records say ${open.length}`,
    })
  }
}
