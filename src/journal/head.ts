/**
 * The high-water mark: where the chain of records ended, kept outside the database. sqlite drops acknowledged commits
 * without a word when a bit of its WAL flips, and an older backup of the file looks healthy; only something outside can
 * tell. The mark is written after each commit into two slots by turns, each with its checksum, and is not fsynced: it may
 * be older than the journal after a power cut, but never ahead of one that is whole.
 */
import { hash } from 'node:crypto'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { journalFault, openFault } from './faults.ts'
import type { Tail } from './rows.ts'

const SLOT_BYTES = 256

/** The mark of one journal, open for writing. */
export interface Head {
  /** Moves the mark; called after the commit that ended at `tail`. Throws what the file system throws. */
  write(tail: Tail): void
  close(): void
}

/**
 * Opens the mark beside the journal at `path` and compares it with where the journal ends.
 *
 * @throws JournalFaultError JOURNAL_ROLLED_BACK when the mark is ahead: records that were acknowledged are gone.
 */
export function openHead(path: string, tail: Tail, hashAt: (seq: number) => string | undefined): Head {
  const headPath = `${path}.head`
  let fd: number | undefined
  try {
    fd = openSync(headPath, constants.O_RDWR | constants.O_CREAT, 0o600)
    const marks = [readSlot(fd, 0), readSlot(fd, 1)].filter((mark) => mark !== undefined)
    const mark = marks.toSorted((one, other) => other.seq - one.seq)[0]
    if (mark !== undefined && (mark.seq > tail.seq || hashAt(mark.seq) !== mark.hash)) {
      throw rolledBack(path, headPath, mark.seq, tail.seq)
    }
  } catch (cause) {
    if (fd !== undefined) closeSync(fd)
    throw openFault(path, cause)
  }
  const opened = fd
  let slot = 0
  return {
    write: (mark) => {
      slot = 1 - slot
      writeSync(opened, slotText(mark), slot * SLOT_BYTES, 'latin1')
    },
    close: () => closeSync(opened),
  }
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

function rolledBack(path: string, headPath: string, headSeq: number, journalSeq: number): Error {
  return journalFault(
    'JOURNAL_ROLLED_BACK',
    path,
    'The journal has lost records that were written: it was damaged, replaced by another, or restored from an older backup.',
    `perpd does not start. Orders may be open that this journal does not know. Restore the newest copy; or, once orders and positions at the venue are accounted for and the last signed deadline has passed, remove ${headPath} and start again.`,
    { facts: { lastRecordWritten: headSeq, lastRecordFound: journalSeq } },
  )
}
