/** One way to open a journal, whatever keeps it. A new backend adds one line to each function. */
import type { Journal, JournalReader } from '../journal.ts'
import { journalFault } from '../journalFaults.ts'
import { createMemoryJournal } from '../memory.ts'
import { openSqliteReader } from '../sqlite/journalReader.ts'
import { createSqliteJournal, type SqliteJournalOptions } from '../sqlite/openSqlite.ts'
import { splitLocation } from './journalLocation.ts'

/**
 * Opens the journal that `location` names: a plain path or `sqlite:<path>` for a file, `memory:` for one that ends with
 * the process.
 *
 * @throws JournalFaultError JOURNAL_SCHEME_UNKNOWN for any other scheme, and as the backend does.
 */
export async function openJournal(
  location: string,
  options: Omit<SqliteJournalOptions, 'path'>,
): Promise<Journal> {
  const { scheme, rest } = splitLocation(location)
  if (scheme === 'sqlite') return createSqliteJournal({ ...options, path: rest })
  if (scheme === 'memory') return createMemoryJournal()
  throw unknownScheme(location, 'a path, sqlite:<path>, or memory:')
}

/**
 * Opens the journal that `location` names for reading only, beside a running or a dead daemon.
 *
 * @throws JournalFaultError JOURNAL_SCHEME_UNKNOWN unless it is a file, and as `openSqliteReader` does.
 */
export async function openJournalReader(location: string): Promise<JournalReader> {
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
