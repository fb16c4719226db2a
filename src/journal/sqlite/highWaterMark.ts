/**
 * The high-water mark: where the chain of records ended, kept outside the database. sqlite drops acknowledged commits
 * without a word when a bit of its WAL flips, and an older backup of the file looks healthy; only something outside can
 * tell. The mark is written after each commit into two slots by turns, each with its checksum, so that a torn write leaves
 * the mark before it. It is not fsynced with each commit: it may be older than the journal after a power cut, but never
 * ahead of one that is whole; opening brings it up to the journal again, durably, before anything is written. On another
 * volume it survives what befalls the journal's, a restored backup above all.
 */
import { hash } from 'node:crypto'
import { closeSync, constants, existsSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { defined } from '../../base/defined.ts'
import { journalFault, openFault } from '../journalFaults.ts'
import type { Tail } from './hashChain.ts'

const SLOT_BYTES = 256

/** The mark of one journal, open for writing. */
export interface HighWaterMark {
  /** Lead of the mark over the journal, when the caller may accept it; otherwise opening faults. */
  readonly loss?: Loss
  /** Moves the mark; called after the commit that ended at `tail`. Throws what the file system throws. */
  write(tail: Tail): void
  close(): void
}

/** Records that were written and are gone. */
export interface Loss {
  /** Number of the newest record that was written. */
  readonly lastWritten: number
  /** Number of the newest record that is left. */
  readonly lastFound: number
}

/** Where the mark of the journal at `path` is: beside it unless it was given a place of its own. */
export function highWaterMarkPathOf(path: string, headPath?: string): string {
  return headPath === undefined || headPath === '' ? `${path}.head` : headPath
}

/**
 * Opens the mark and compares it with where the journal ends: one that is behind is brought up to it. With `acceptLoss` a mark
 * that is ahead is no fault, and the first write puts both slots in its place.
 *
 * @throws JournalFaultError JOURNAL_ROLLED_BACK when the mark is ahead: records that were acknowledged are gone.
 */
export function openHighWaterMark(
  path: string,
  headPath: string,
  tail: Tail,
  hashAt: (seq: number) => string | undefined,
  acceptLoss = false,
): HighWaterMark {
  let fd: number | undefined
  let slot = 0
  let loss: Loss | undefined
  try {
    fd = openSync(headPath, constants.O_RDWR | constants.O_CREAT, 0o600)
    const marks = [readSlot(fd, 0), readSlot(fd, 1)]
    const mark = newestOf(marks)
    // The slot with the newest mark is not the one to be torn by the next write.
    slot = mark !== undefined && mark === marks[0] ? 1 : 0
    loss = lossOf(mark, tail, hashAt)
    if (loss !== undefined && !acceptLoss) throw rolledBack(path, loss)
    if (loss === undefined && (mark?.seq ?? 0) < tail.seq) {
      writeSlot(fd, slot, tail)
      slot = 1 - slot
    }
    if (loss === undefined && tail.seq > 0) fdatasyncSync(fd)
  } catch (cause) {
    if (fd !== undefined) closeSync(fd)
    throw openFault(path, cause)
  }
  const opened = fd
  let isLossKept = loss !== undefined
  return {
    ...defined({ loss }),
    write: (mark) => {
      writeSlot(opened, slot, mark)
      slot = 1 - slot
      if (!isLossKept) return
      writeSlot(opened, slot, mark)
      isLossKept = false
    },
    close: () => {
      try {
        fdatasyncSync(opened)
      } finally {
        closeSync(opened)
      }
    },
  }
}

/** The newest mark in the file, or undefined when there is none. Throws what the file system throws. */
export function readHighWaterMark(headPath: string): Tail | undefined {
  if (!existsSync(headPath)) return undefined
  const fd = openSync(headPath, 'r')
  try {
    return newestOf([readSlot(fd, 0), readSlot(fd, 1)])
  } finally {
    closeSync(fd)
  }
}

/** Returns the records that are gone according to the mark, or undefined when the journal holds the marked record. */
export function lossOf(
  mark: Tail | undefined,
  tail: Tail,
  hashAt: (seq: number) => string | undefined,
): Loss | undefined {
  if (mark === undefined) return undefined
  if (mark.seq <= tail.seq && hashAt(mark.seq) === mark.hash) return undefined
  return { lastWritten: mark.seq, lastFound: tail.seq }
}

function newestOf(marks: readonly (Tail | undefined)[]): Tail | undefined {
  return marks.filter((mark) => mark !== undefined).toSorted((one, other) => other.seq - one.seq)[0]
}

function writeSlot(fd: number, slot: number, mark: Tail): void {
  writeSync(fd, slotText(mark), slot * SLOT_BYTES, 'latin1')
}

function slotText(mark: Tail): string {
  const text = `${mark.seq} ${mark.hash}`
  return `${text} ${hash('sha256', text)}\n`.padEnd(SLOT_BYTES, ' ')
}

function readSlot(fd: number, slot: number): Tail | undefined {
  const buffer = Buffer.alloc(SLOT_BYTES)
  readSync(fd, buffer, 0, SLOT_BYTES, slot * SLOT_BYTES)
  const text = buffer.toString('latin1')
  const [seq, tailHash] = text.split(' ')
  const mark = { seq: Number(seq), hash: tailHash ?? '' }
  return text === slotText(mark) ? mark : undefined
}

function rolledBack(path: string, { lastWritten, lastFound }: Loss): Error {
  return journalFault(
    'JOURNAL_ROLLED_BACK',
    path,
    'The journal has lost records: it was damaged, replaced, or restored from an older backup.',
    'perpd does not start: a signed order that is missing here may be open. Restore the newest copy. If there is none: perpd journal accept-loss --by NAME continues with the remaining records and waits until the last lost signature has expired.',
    { facts: { lastRecordWritten: lastWritten, lastRecordFound: lastFound } },
  )
}
