/** One way to open a journal, whatever keeps it. A new backend adds one line to each function. */
import type { Journal, JournalReader } from '../journal.ts'
import { journalFault } from '../journalFaults.ts'
import { createMemoryJournal } from '../memory.ts'
import { openSqliteReader } from '../sqlite/journalReader.ts'
import { createSqliteJournal, type SqliteJournalOptions } from '../sqlite/openSqlite.ts'

const schemes: readonly string[] = ['sqlite', 'memory']

/** Whether a location names a journal that `openJournal` can open: a plain path or a scheme it knows. */
export function isJournalLocation(location: string): boolean {
  return schemes.includes(split(location).scheme)
}

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
  const { scheme, rest } = split(location)
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
  const { scheme, rest } = split(location)
  if (scheme === 'sqlite') return openSqliteReader(rest)
  throw unknownScheme(location, 'a path or sqlite:<path>; a journal in memory cannot be read from outside')
}

function split(location: string): { readonly scheme: string; readonly rest: string } {
  const found = /^([a-z][a-z0-9+]+):(.*)$/.exec(location)
  return found ? { scheme: found[1] ?? '', rest: found[2] ?? '' } : { scheme: 'sqlite', rest: location }
}

function unknownScheme(location: string, known: string): Error {
  return journalFault(
    'JOURNAL_SCHEME_UNKNOWN',
    location,
    'No journal is kept at such a place.',
    `Nothing was opened. The journal may be ${known}.`,
  )
}
