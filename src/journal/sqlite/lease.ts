/**
 * The lease: one row in the journal that says which opening of it may write. Its epoch grows with every opening, and every
 * transaction of a writer holds its own against it. The lock beside the journal keeps a second daemon out; the lease is what
 * holds when the lock did not: it was removed, or lies on a volume of two machines, and the first daemon comes back from a
 * pause.
 */
import type { DatabaseSync } from 'node:sqlite'
import { journalFault } from '../journalFaults.ts'

/** One writer's right to the journal. */
export interface Lease {
  /** Grows by one with every opening of the journal; 1 at the first. */
  readonly epoch: number
  /**
   * Asks whether the right is still this writer's. Called inside the transaction that is to write: nobody can take the lease
   * between the answer and the commit.
   *
   * @throws JournalFaultError JOURNAL_FENCED when another opened the journal since.
   */
  check(): void
}

/** Takes the lease, inside the caller's transaction. `nowMs` is the wall clock, Unix ms. Throws what sqlite throws. */
export function takeLease(db: DatabaseSync, path: string, holder: string, nowMs: number): Lease {
  const row = db
    .prepare(
      `INSERT INTO lease (only, holder, epoch, opened_at_ms) VALUES (1, ?1, 1, ?2)
       ON CONFLICT (only) DO UPDATE SET holder = ?1, epoch = epoch + 1, opened_at_ms = ?2 RETURNING epoch`,
    )
    .get(holder, nowMs)
  return heldLease(db, path, Number(row?.epoch))
}

/** The lease that was taken at this epoch, over a connection of the writer's. */
export function heldLease(db: DatabaseSync, path: string, epoch: number): Lease {
  const find = db.prepare('SELECT epoch, holder, opened_at_ms FROM lease WHERE only = 1')
  return {
    epoch,
    check() {
      const held = find.get()
      if (held?.epoch === epoch) return
      throw journalFault(
        'JOURNAL_FENCED',
        path,
        'Another perpd has taken over this journal.',
        'perpd stops on purpose: it wrote no record and sends nothing after this. The other one follows every open order. The lock of the journal failed: do not remove the file, keep the journal on a local disk of one machine, and start only one perpd.',
        {
          facts: {
            epoch,
            ...(held === undefined
              ? { holder: 'the row of the lease is gone' }
              : {
                  newerEpoch: Number(held.epoch),
                  holder: String(held.holder),
                  openedAt: new Date(Number(held.opened_at_ms)).toISOString(),
                }),
          },
        },
      )
    },
  }
}
