/** The journal's file and directory: found, made private, and named by one path however it was spelled. */
import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { reasonOf } from '../base/errors.ts'
import { journalFault, openFault } from './journalFaults.ts'

/** Makes an empty file with mode 0600 unless there is one. Never opens an existing file: that would drop sqlite's locks on it. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * The real path of the journal file, for which the directory (0700) was made if missing and which is no directory.
 * Links are followed, so that two spellings of one file share one lock.
 *
 * @throws JournalFaultError JOURNAL_IS_DIRECTORY, JOURNAL_NOT_PERMITTED, JOURNAL_READ_ONLY or JOURNAL_NOT_OPENED.
 */
export function prepareFile(path: string): string {
  try {
    const directory = dirname(resolve(path))
    makeDirectory(path, directory)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return join(realpathSync(directory), basename(path))
    if (!found.isFile()) throw notAFile(path, found.isDirectory())
    return realpathSync(path)
  } catch (cause) {
    throw openFault(path, cause)
  }
}

function makeDirectory(path: string, directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw cause
    throw journalFault(
      'JOURNAL_NOT_OPENED',
      path,
      'A part of the journal path that should be a directory is a file.',
      'Nothing was changed. Set the journal path to a file in a directory.',
      { facts: { reason: reasonOf(cause) }, cause },
    )
  }
}

/** Refuses a path that is there but is no file. */
export function notAFile(path: string, isDirectory: boolean): Error {
  return journalFault(
    'JOURNAL_IS_DIRECTORY',
    path,
    isDirectory ? 'The journal path is a directory.' : 'The journal path is not a plain file.',
    'Nothing was changed. Set the journal path to a file, for example perpd.db inside that directory.',
  )
}

/** Makes the directory's entries durable: without it a new file may vanish at a power cut. */
export function syncDirectory(path: string): void {
  const fd = openSync(dirname(path), 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
