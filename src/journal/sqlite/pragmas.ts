/** Making a sqlite connection fit to be a journal: ours, and durable. */
import { DatabaseSync } from 'node:sqlite'
import { BALLAST_BYTES, WAL_RESERVED_BYTES } from '../ballast.ts'
import { corruptFault, journalFault, newerFault } from '../journalFaults.ts'
import { APPLICATION_ID, plantedProblem, readMarks, readNumber, SCHEMA_VERSION } from './sqliteSchema.ts'

/** Size the WAL file is cut back to once it was copied, bytes: what it took on a full disk stays its own. */
const WAL_KEPT_BYTES = WAL_RESERVED_BYTES + BALLAST_BYTES
/** Longest wait of sqlite for a foreign lock, ms. Our own readers never hold one against the writer. */
const BUSY_TIMEOUT_MS = 250
/** Pages kept in memory for reading alone, KiB. */
const READING_CACHE_KIB = 2 * 1024
/** Pages kept in memory, KiB: enough that indexes over a long history are not read from disk for each record. */
const CACHE_KIB = 32 * 1024

/** Opens a connection for writing, as yet without the settings of `configure`. Throws what sqlite throws. */
export function connect(path: string): DatabaseSync {
  return new DatabaseSync(path, {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: false,
    allowExtension: false,
    defensive: true,
  })
}

/** Refuses a database that is another program's, a newer perpd's, or one with a stranger's trigger, before anything is changed in it. */
export function refuseForeign(db: DatabaseSync, path: string): void {
  const marks = readMarks(db)
  if (marks.applicationId === 0 && marks.version === 0 && marks.objects === 0) return
  if (marks.applicationId !== APPLICATION_ID) {
    throw journalFault(
      'JOURNAL_FOREIGN',
      path,
      'The journal path is a database of another program.',
      'Nothing was changed in it. Set the journal path to another file.',
      { facts: { applicationId: marks.applicationId } },
    )
  }
  if (marks.version > SCHEMA_VERSION) {
    throw newerFault(path, { version: marks.version, readable: SCHEMA_VERSION })
  }
  const planted = plantedProblem(db)
  if (planted !== undefined) throw corruptFault(path, { reason: planted })
}

/**
 * Sets WAL and full durability, reads both back, and limits the size.
 *
 * @throws JournalFaultError JOURNAL_NOT_DURABLE when sqlite does not take the settings.
 */
export function configure(db: DatabaseSync, path: string, maxBytes: number | undefined): void {
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  // No function runs by what the file itself defines.
  db.exec('PRAGMA trusted_schema = OFF')
  db.exec('PRAGMA fullfsync = ON')
  db.exec('PRAGMA wal_autocheckpoint = 0')
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
  db.exec(`PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`)
  if (maxBytes !== undefined) {
    const pages = Math.max(1, Math.floor(maxBytes / readNumber(db, 'PRAGMA page_size')))
    db.exec(`PRAGMA max_page_count = ${pages}`)
  }
  const mode = String(Object.values(db.prepare('PRAGMA journal_mode').get() ?? {})[0])
  const synchronous = readNumber(db, 'PRAGMA synchronous')
  if (mode !== 'wal' || synchronous !== 2) {
    throw journalFault(
      'JOURNAL_NOT_DURABLE',
      path,
      'The journal cannot be made durable here.',
      'perpd does not run without a durable journal. Put it on a local disk that allows sqlite WAL files.',
      { facts: { journalMode: mode, synchronous } },
    )
  }
}

/** Has a connection that opened the journal only read from now on: another thread writes, and has the pages in memory. */
export function leaveToThread(db: DatabaseSync): void {
  db.exec('PRAGMA query_only = ON')
  db.exec(`PRAGMA cache_size = -${READING_CACHE_KIB}`)
  db.exec('PRAGMA shrink_memory')
}
