/** Reading a sqlite journal from outside: beside a running daemon, after a clean stop, or after a crash. */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Books } from '../../books/books.ts'
import { keepsAll } from '../../books/booksState.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { JournalReader } from '../journal.ts'
import { isCantOpen, journalFault, openFault } from '../journalFaults.ts'
import { createLedger } from '../journalLedger.ts'
import { notAFile } from '../journalPath.ts'
import { createHistoryFold } from '../tradeHistory.ts'
import { readSnapshot } from './journalSnapshot.ts'
import { refuseForeign } from './pragmas.ts'
import { genesis } from './recordReplay.ts'
import { replay } from './replay.ts'
import { createRowReader, inOneView, type RowReader } from './sqliteRows.ts'
import { readMarks } from './sqliteSchema.ts'

/**
 * Opens a journal for reading only; nothing in it is changed, and a daemon may go on writing it.
 *
 * @throws JournalFaultError JOURNAL_MISSING when there is none yet; otherwise as `createSqliteJournal`, never JOURNAL_LOCKED.
 */
export function openSqliteReader(path: string): JournalReader {
  const db = openForReading(path)
  try {
    return readerOf(db, path, createRowReader(db, path))
  } catch (cause) {
    db.close()
    throw openFault(path, cause)
  }
}

/** A connection that reads the journal and changes nothing. Throws as `openSqliteReader`. */
export function openForReading(path: string): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) throw missingFault(path)
    if (!found.isFile()) throw notAFile(path, found.isDirectory())
    db = openReadOnly(path)
    refuseForeign(db, path)
    if (readMarks(db).version === 0) throw missingFault(path)
    return db
  } catch (cause) {
    if (db?.isOpen) db.close()
    throw openFault(path, cause)
  }
}

function readerOf(db: DatabaseSync, path: string, rows: RowReader): JournalReader {
  function view<T>(read: () => T): T {
    try {
      return inOneView(db, read)
    } catch (cause) {
      throw openFault(path, cause)
    }
  }
  return {
    summary: async () => view(() => rows.summary()),
    intents: async (query) => view(() => rows.intents(query)),
    records: async (intentId) => view(() => rows.records(intentId)),
    intent: async (intentId) => view(() => rows.intent(intentId)),
    account: async () => view(() => rows.account()),
    endingsSince: async (sinceMs) => view(() => rows.endingsSince(sinceMs)),
    books: async () =>
      view(() => {
        const found = readSnapshot(db, rows.hashAt)
        const isGood = found.kind === 'good'
        const ledger = createLedger(isGood ? found.state : undefined)
        replay(db, path, isGood ? found.tail : genesis, ledger)
        return ledger.books()
      }),
    tradingHistory: async () =>
      view(() => {
        const fold = createHistoryFold()
        replay(db, path, genesis, fold)
        return fold.read()
      }),
    history: async () =>
      view(() => {
        const books = new Books(undefined, keepsAll)
        const states = new Map<string, IntentState>()
        replay(db, path, genesis, createLedger(undefined, books), {
          listen: (_seq, record, state) => state && states.set(record.intentId, state),
        })
        // In the order of their first records, which is that of their numbers.
        return { intents: [...states.values()].reverse(), books }
      }),
    close: async () => {
      if (db.isOpen) db.close()
    },
  }
}

function openReadOnly(path: string): DatabaseSync {
  const options = { readOnly: true, timeout: 1000, enableForeignKeyConstraints: false } as const
  const db = new DatabaseSync(path, options)
  try {
    readMarks(db)
    return db
  } catch (cause) {
    db.close()
    if (!isCantOpen(cause) || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw cause
  }
  // Stopped cleanly, in a directory where this user may not make the WAL's companions: all is in the main file then.
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, options)
}

function missingFault(path: string): Error {
  return journalFault(
    'JOURNAL_MISSING',
    path,
    'This path has no journal yet.',
    'Nothing was changed. Check the journal path; perpd creates the journal at its first start.',
  )
}
