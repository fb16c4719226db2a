/**
 * Reads what a standby would take over, while it waits: a journal of a newer perpd is refused before its right is taken, so that no old perpd keeps it
 * from a newer one. All else that is wrong with the records is found by reading them after the right was taken.
 */
import { JournalFaultError } from '../journal.ts'
import { recoverLedger } from '../recoverLedger.ts'
import type { SharedReads } from './sharedReads.ts'
import type { Head } from './sharedServer.ts'

/** Reads to the end of the chain that a head names. Throws JournalFaultError JOURNAL_NEWER, and JOURNAL_UNREACHABLE. */
export type ReadAhead = (head: Head) => Promise<void>

/** Makes one; `now` is the wall clock, Unix ms. Each record is read once. */
export function createReadAhead(reads: SharedReads, now: () => number): ReadAhead {
  let readTo: number | undefined
  let newer: { readonly fault: JournalFaultError; readonly seq: number } | undefined

  async function read(): Promise<number> {
    if (readTo === undefined) return (await recoverLedger(reads, now())).ledger.seq
    let seq = readTo
    for await (const page of reads.read(readTo)) seq = page.at(-1)?.seq ?? seq
    return seq
  }

  return async (head) => {
    if (newer !== undefined && head.seq >= newer.seq) throw newer.fault
    newer = undefined
    if (readTo !== undefined && head.seq <= readTo) return
    try {
      readTo = await read()
    } catch (error) {
      if (error instanceof JournalFaultError && error.code === 'JOURNAL_UNREACHABLE') throw error
      if (error instanceof JournalFaultError && error.code === 'JOURNAL_NEWER') {
        newer = { fault: error, seq: head.seq }
        throw error
      }
      readTo = head.seq
    }
  }
}
