/** Describes faults of a journal file for the operator: the event, perpd's action, and the remedy. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { isReadOnlyMount, readOnlyRemedy } from '../base/readOnlyMount.ts'
import { isDiskFull } from './ballast.ts'
import { JournalFaultError } from './journal.ts'

/** Primary result codes of sqlite (sqlite.org/rescode.html) and errno names that we tell apart. */
const sqliteCodes = {
  perm: 3,
  busy: 5,
  readonly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADb: 26,
}
const notPermitted: ReadonlySet<string> = new Set(['EACCES', 'EPERM'])

/** The primary result code of an error from node:sqlite, or undefined for anything else. */
function sqliteCodeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

/** Tells whether sqlite reports that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCodeOf(error) === sqliteCodes.busy
}

/** Tells whether sqlite could not open the file, or one of its companions. */
export function isCantOpen(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === sqliteCodes.cantOpen || code === sqliteCodes.readonly
}

/** Makes a fault of the journal file at `path`. */
export function journalFault(
  code: string,
  path: string,
  sentence: string,
  details: string,
  more: { readonly facts?: Readonly<Record<string, string | number>>; readonly cause?: unknown } = {},
): JournalFaultError {
  return new JournalFaultError(sentence, {
    code,
    facts: { path, ...more.facts },
    details,
    ...defined({ cause: more.cause }),
  })
}

/**
 * Why a journal could not be opened or read, from what sqlite or the file system threw. Faults of ours pass unchanged.
 * Anything else is a mistake in our code and is thrown on as it is.
 */
export function openFault(path: string, cause: unknown): JournalFaultError {
  if (cause instanceof JournalFaultError) return cause
  const code = sqliteCodeOf(cause)
  if (code === undefined && !isSystemError(cause)) throw cause
  const facts = { reason: reasonOf(cause) }
  if (code === sqliteCodes.notADb) {
    return journalFault(
      'JOURNAL_NOT_SQLITE',
      path,
      'The journal file is not a sqlite file, or its first page is damaged.',
      'Nothing was changed. Set the journal path to another file, or restore this one from a backup.',
      { facts, cause },
    )
  }
  if (code === sqliteCodes.corrupt) return corruptFault(path, facts, cause)
  if (code === sqliteCodes.full) return writeFault(path, 0, cause)
  if (code !== sqliteCodes.busy && isReadOnlyMount(cause, path)) {
    return journalFault(
      'JOURNAL_READ_ONLY',
      path,
      'The journal is on a file system that is mounted read-only.',
      `Nothing was changed. ${readOnlyRemedy} in journal.path.`,
      { facts, cause },
    )
  }
  if (isNotPermitted(path, cause, code)) {
    return journalFault(
      'JOURNAL_NOT_PERMITTED',
      path,
      'This user cannot read and write the journal file.',
      'Nothing was changed. Give the file and its directory to the user that runs perpd (file mode 0600, directory 0700).',
      { facts: { reason: reasonOf(refusedUse(path) ?? cause) }, cause },
    )
  }
  if (code === sqliteCodes.busy) {
    return journalFault(
      'JOURNAL_BUSY',
      path,
      'Another program has locked the journal file.',
      'Nothing was changed. Close other programs that have the file open (a sqlite shell, a backup), then start again.',
      { facts, cause },
    )
  }
  return journalFault(
    'JOURNAL_NOT_OPENED',
    path,
    'The journal could not be opened.',
    'perpd does not run without its journal. Check the reason, and that the path is on a local disk with free space.',
    { facts, cause },
  )
}

function isSystemError(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause
}

/** Gives the system's refusal to read and write the file and its lock, or to make files beside them; undefined where all is allowed. */
function refusedUse(path: string): unknown {
  try {
    for (const file of [path, `${path}.lock`]) {
      if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK)
    }
    accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return error
  }
}

function isNotPermitted(path: string, cause: unknown, code: number | undefined): boolean {
  if (code === sqliteCodes.perm || code === sqliteCodes.readonly) return true
  if (code === sqliteCodes.cantOpen) return refusedUse(path) !== undefined
  return cause instanceof Error && 'code' in cause && notPermitted.has(String(cause.code))
}

/** The file is damaged: sqlite says so, or a record is not what was written. */
export function corruptFault(
  path: string,
  facts: Readonly<Record<string, string | number>>,
  cause?: unknown,
): JournalFaultError {
  return journalFault(
    'JOURNAL_CORRUPT',
    path,
    'The journal file is damaged.',
    'perpd does not start on a journal that it cannot read completely. Keep this file, restore a backup made while perpd was stopped, and compare the open orders at the venue before you trade.',
    { facts, cause },
  )
}

/** A record that was stored cannot be decoded or folded. */
export function recordFault(path: string, seq: number, cause: unknown): JournalFaultError {
  if (cause instanceof JournalFaultError) return cause
  const newer = cause instanceof BaseError && cause.code === 'JOURNAL_RECORD_NEWER'
  if (!newer) return corruptFault(path, { seq, reason: reasonOf(cause) }, cause)
  return newerFault(path, { seq, reason: reasonOf(cause) }, cause)
}

/** A newer perpd wrote the file. */
export function newerFault(
  path: string,
  facts: Readonly<Record<string, string | number>>,
  cause?: unknown,
): JournalFaultError {
  return journalFault(
    'JOURNAL_NEWER',
    path,
    'The journal was written by a newer perpd.',
    'Nothing was changed. Run the newer perpd; an older one would misread open orders.',
    { facts, cause },
  )
}

/** A commit failed: the records in it may or may not be on disk, and the daemon stops. */
export function writeFault(path: string, records: number, cause: unknown): JournalFaultError {
  const code = sqliteCodeOf(cause)
  // Where the index of the WAL finds no space sqlite calls it an error of the disk.
  const isFull = code !== undefined && isDiskFull(cause)
  const sentence = isFull ? 'The journal is full.' : 'The journal could not be written.'
  const remedy =
    isFull || code === sqliteCodes.ioError
      ? 'Free space on the disk (or raise the file size or journal limit), check the disk for errors'
      : 'Check the file and its disk'
  return journalFault(
    isFull ? 'JOURNAL_FULL' : 'JOURNAL_WRITE_FAILED',
    path,
    sentence,
    `perpd stops on purpose: it never trades without its journal, and never retries a failed write. Nothing is sent after this. ${remedy}, then start perpd; it resumes every open order from the journal.`,
    { facts: { records, reason: reasonOf(cause) }, cause },
  )
}

/** A record came after the journal was closed. */
export function closedFault(path: string): JournalFaultError {
  return journalFault(
    'JOURNAL_CLOSED',
    path,
    'The journal was closed; the record was not written.',
    'Nothing is sent after this. perpd was stopping; the next start resumes the open orders.',
  )
}
