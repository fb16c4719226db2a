/** One way to open a journal, whatever keeps it. A new backend adds one line to each function. */
import { createJournal } from '../groupCommit.ts'
import type { Journal, JournalFaultError, JournalReader } from '../journal.ts'
import { journalFault } from '../journalFaults.ts'
import { createMemoryJournal } from '../memory.ts'
import type { PostgresJournal } from '../postgres/postgresPlace.ts'
import { openSqliteReader } from '../sqlite/journalReader.ts'
import {
  createSqliteJournal,
  type OpenedJournal,
  type OpeningRules,
  openSqliteJournal,
  type SqliteJournalOptions,
} from '../sqlite/openSqlite.ts'
import { splitLocation } from './journalLocation.ts'
import { noteLoss } from './lostRecords.ts'

/** Options of opening a journal, wherever it is. */
export interface JournalOptions extends SqliteJournalOptions {
  /** The database that keeps it; absent: the file. */
  readonly postgres?: PostgresJournal
  /** Given: a database that another one writes is waited for, and not refused. Called at each look with what opening would have thrown. */
  readonly waiting?: (fault: JournalFaultError) => void
  /** Given: ends an attempt to open a database before its right is taken; opening rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Given: told when the right to a database is asked for, and no other holder is waited for any more; reading comes next. */
  readonly taking?: () => void
}

/**
 * Opens the journal for writing, wherever it is, by other rules than a daemon's, and tells what it found. A server that was replaced since the newest
 * record, and may lack some, is noted first (`noteLoss`).
 *
 * @throws JournalFaultError as the backend does.
 */
export async function openByRules(options: JournalOptions, rules: OpeningRules): Promise<OpenedJournal> {
  const { postgres } = options
  if (postgres === undefined) return openSqliteJournal(options, rules)
  const { openPostgresStore } = await import('../postgres/openPostgres.ts')
  const { store, ledger, snapshotSeq, maintenance, ...found } = await openPostgresStore(
    { ...options, postgres },
    rules,
  )
  const soon = (commit: () => void): void => {
    setImmediate(commit)
  }
  const journal = createJournal({ store, ledger, snapshotSeq, maintenance, soon })
  if (found.mayMissRecords !== true || rules.acceptLoss === true || rules.compact === true)
    return { ...found, journal }
  try {
    const lost = { kind: 'loss.possible', lastFound: journal.summary().records } as const
    await noteLoss(journal, lost, { nowMs: options.clockNow(), liveMs: postgres.signatureLivesMs })
    return { ...found, journal }
  } catch (error) {
    await journal.close()
    throw error
  }
}

/**
 * Opens the journal that `location` names: a plain path or `sqlite:<path>` for a file, `memory:` for one that ends with
 * the process. With `options.postgres` the database keeps it, and `location` names this machine's own files.
 *
 * @throws JournalFaultError JOURNAL_SCHEME_UNKNOWN for any other scheme, and as the backend does.
 */
export async function openJournal(location: string, options: Omit<JournalOptions, 'path'>): Promise<Journal> {
  const { scheme, rest } = splitLocation(location)
  if (options.postgres !== undefined && scheme === 'sqlite')
    return (await openByRules({ ...options, path: rest }, {})).journal
  if (scheme === 'sqlite') return createSqliteJournal({ ...options, path: rest })
  if (scheme === 'memory') return createMemoryJournal()
  throw unknownScheme(location, 'a path, sqlite:<path>, or memory:')
}

/**
 * Opens the journal that `location` names for reading only, beside a running or a dead daemon.
 *
 * @throws JournalFaultError JOURNAL_SCHEME_UNKNOWN unless it is a file, and as `openSqliteReader` does.
 */
export async function openJournalReader(
  location: string,
  postgres?: PostgresJournal,
): Promise<JournalReader> {
  if (postgres !== undefined) {
    const { openPostgresReader } = await import('../postgres/openPostgres.ts')
    return openPostgresReader(postgres)
  }
  const { scheme, rest } = splitLocation(location)
  if (scheme === 'sqlite') return openSqliteReader(rest)
  throw unknownScheme(location, 'a path or sqlite:<path>; a journal in memory cannot be read from outside')
}

function unknownScheme(location: string, known: string): Error {
  return journalFault(
    'JOURNAL_SCHEME_UNKNOWN',
    location,
    'The journal cannot be at such a place.',
    `Nothing was opened. The journal may be ${known}.`,
  )
}
