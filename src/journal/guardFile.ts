/**
 * The file of the guard: one line for each digest that was given to the key, appended and flushed before a signature leaves.
 * Lines that no rule needs any more are dropped by writing the rest to a second file, flushed before it takes the place of
 * the first; a crash leaves one of the two whole.
 */
import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  write,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { reasonOf } from '../base/errors.ts'
import { COMPACT_AFTER, GuardError, type GuardTable, type SignEntry } from '../domain/guardTable.ts'
import type { Hex } from '../protocol/address.ts'

/** Options of an opened file. */
export interface GuardFileOptions {
  readonly path: string
  /** Lines above which those that nobody needs are dropped; `COMPACT_AFTER` when absent. */
  readonly compactAfter?: number
  /** Makes room on a full disk for what failed with this error; false when there is none. */
  readonly makeRoom?: (error: unknown) => boolean
}

const CHECK_DIGITS = 16
const writeAt = promisify(write)
const sync = promisify(fdatasync)
const { O_RDWR, O_CREAT, O_APPEND, O_EXCL, O_NOFOLLOW, O_DSYNC } = constants
/** True where the write of a file that is open with `O_DSYNC` is durable when it returns. Elsewhere that flag means less than a flush, or is not there. */
const isWriteDurable = process.platform === 'linux'
const FLAGS = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | (isWriteDurable ? O_DSYNC : 0)

/**
 * Opens the table, made with mode 0600 when there is none. A last line that was cut by a crash was never signed, and is taken
 * off; so is what a crash left of a second file. One that lacks nothing but its end may have been signed, and stays.
 *
 * @throws GuardError GUARD_NOT_OPENED, or GUARD_DAMAGED when any other line is not as it was written.
 */
export function openGuardFile({
  path,
  compactAfter = COMPACT_AFTER,
  makeRoom = () => false,
}: GuardFileOptions): GuardTable {
  const opened = openFile(path)
  const fresh = `${path}.new`
  let { fd } = opened
  let lines = opened.entries.length
  let most = compactAfter

  async function compact(kept: () => readonly SignEntry[]): Promise<void> {
    const text = kept().map(lineOf)
    let next: number | undefined
    try {
      rmSync(fresh, { force: true })
      next = openSync(fresh, FLAGS | O_EXCL, 0o600)
      await writeWhole(next, text.join(''), () => false)
      fsyncSync(next)
      renameSync(fresh, path)
    } catch {
      // The first file stands as it was, only longer than it needs to be.
      if (next !== undefined) closeSync(next)
      most = 2 * lines
      return
    }
    closeSync(fd)
    fd = next
    lines = text.length
    most = Math.max(compactAfter, 2 * lines)
    // Before the name is durable nothing may be appended: a power cut would bring back the first file without it.
    const folder = openSync(dirname(path), 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }

  // One durable write for all that wait: it takes long, and those that come meanwhile share the next.
  let waiting: string[] = []
  let flushing: Promise<void> | undefined
  let before: Promise<unknown> = Promise.resolve()
  async function flush(kept: () => readonly SignEntry[]): Promise<void> {
    const texts = waiting
    waiting = []
    flushing = undefined
    await writeWhole(fd, texts.join(''), makeRoom)
    if (!isWriteDurable) await sync(fd)
    lines += texts.length
    if (lines > most) await compact(kept)
  }

  return {
    path,
    entries: opened.entries,
    append(entry, kept) {
      waiting.push(lineOf(entry))
      if (flushing === undefined) {
        const next = before.then(() => flush(kept))
        flushing = next
        // After a write that failed the end of the file is unknown: every later one fails too.
        before = next
        next.catch(() => undefined)
      }
      return flushing
    },
    close: () => closeSync(fd),
  }
}

function openFile(path: string): { readonly fd: number; readonly entries: readonly SignEntry[] } {
  let fd: number | undefined
  try {
    fd = openSync(path, FLAGS, 0o600)
    if (!fstatSync(fd).isFile()) throw new Error('it is no regular file')
    rmSync(`${path}.new`, { force: true })
    const text = readFileSync(fd, 'latin1')
    const whole = text.lastIndexOf('\n') + 1
    const last = lastLineOf(text.slice(whole))
    if (whole < text.length) ftruncateSync(fd, whole)
    if (last !== undefined) writeSync(fd, `${last}\n`, null, 'latin1')
    if (whole < text.length) fdatasyncSync(fd)
    const lines = text
      .slice(0, whole)
      .split('\n')
      .slice(0, -1)
      .concat(last ?? [])
    return { fd, entries: lines.map((line, index) => entryOf(line) ?? damaged(path, index + 1)) }
  } catch (cause) {
    if (fd !== undefined) closeSync(fd)
    if (cause instanceof GuardError) throw cause
    throw new GuardError('The table of signed messages cannot be opened.', {
      code: 'GUARD_NOT_OPENED',
      facts: { path, reason: reasonOf(cause) },
      details:
        'perpd did not start. The file is next to the journal and must belong to the user that runs perpd.',
      cause,
    })
  }
}

/** The line that stands behind the last end of a line, when it is whole: only its end is missing, or a bit of that flipped. */
function lastLineOf(rest: string): string | undefined {
  return [rest, rest.slice(0, -1)].find((line) => entryOf(line) !== undefined)
}

function damaged(path: string, line: number): never {
  throw new GuardError('The table of signed messages is damaged.', {
    code: 'GUARD_DAMAGED',
    facts: { path, line },
    details:
      'perpd did not start: a signature that the table does not show may still land. Restore the file. Or, if signing.maxDeadlineSeconds have passed since perpd last ran, move it away.',
  })
}

function lineOf({ intentId, attempt, digest, deadlineSeconds, addsUsd, atSeconds }: SignEntry): string {
  const text = JSON.stringify([intentId, attempt, digest, deadlineSeconds, addsUsd.toString(), atSeconds])
  return `${hash('sha256', text).slice(0, CHECK_DIGITS)} ${text}\n`
}

function entryOf(line: string): SignEntry | undefined {
  const text = line.slice(CHECK_DIGITS + 1)
  if (hash('sha256', text).slice(0, CHECK_DIGITS) !== line.slice(0, CHECK_DIGITS)) return undefined
  const [intentId, attempt, digest, deadlineSeconds, addsUsd = '0', atSeconds = 0] = JSON.parse(text) as [
    string,
    number,
    Hex,
    number,
    string?,
    number?,
  ]
  return { intentId, attempt, digest, deadlineSeconds, addsUsd: BigInt(addsUsd), atSeconds }
}

async function writeWhole(fd: number, text: string, makeRoom: (error: unknown) => boolean): Promise<void> {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; ) {
    try {
      at += (await writeAt(fd, bytes, at)).bytesWritten
    } catch (error) {
      // A write that found no space wrote nothing.
      if (!makeRoom(error)) throw error
    }
  }
}
