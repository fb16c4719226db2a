/** Reads basic facts of a journal file, with or without a running daemon; it folds and checks nothing. */
import { statSync } from 'node:fs'
import { openFault } from '../journalFaults.ts'
import { openForReading } from './journalReader.ts'
import { createRowReader } from './sqliteRows.ts'
import { readMarks, SCHEMA_VERSION } from './sqliteSchema.ts'

/** A journal at a glance. */
export interface JournalGlance {
  /** Schema version of the file, and the newest that this perpd reads. */
  readonly version: number
  readonly readable: number
  readonly records: number
  readonly openIntents: number
  readonly bytes: number
  /** When its newest record was written by the clock of that moment, Unix ms; undefined without one. */
  readonly newestAtMs: number | undefined
  /** The last writer that opened it; undefined when there was none. */
  readonly lease: { readonly holder: string; readonly epoch: number; readonly openedAtMs: number } | undefined
}

/**
 * Looks at the journal at `path`.
 *
 * @throws JournalFaultError when there is none, or none that could be read.
 */
export function lookAtJournal(path: string): JournalGlance {
  const db = openForReading(path)
  try {
    const { version } = readMarks(db)
    const { records, openIntents } = createRowReader(db, path).summary()
    const held = db.prepare('SELECT epoch, holder, opened_at_ms FROM lease WHERE only = 1').get()
    const newest = db.prepare('SELECT at_ms FROM record ORDER BY seq DESC LIMIT 1').get()
    return {
      version,
      readable: SCHEMA_VERSION,
      records,
      openIntents,
      newestAtMs: newest === undefined ? undefined : Number(newest.at_ms),
      bytes: statSync(path).size,
      lease:
        held === undefined
          ? undefined
          : { holder: String(held.holder), epoch: Number(held.epoch), openedAtMs: Number(held.opened_at_ms) },
    }
  } catch (cause) {
    throw openFault(path, cause)
  } finally {
    db.close()
  }
}
