/** Writing the snapshot of the ledger: what `journalSnapshot.ts` reads. */
import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { LedgerSnapshot } from '../ledgerState.ts'
import type { Tail } from './hashChain.ts'

/** A snapshot whose texts may be UTF-8 already: so they pass through a thread without a place among its objects. */
export type SnapshotToWrite = Omit<LedgerSnapshot, 'head' | 'part'> & {
  readonly head: string | Uint8Array
  readonly part: string | Uint8Array
}

/** Keeps a snapshot at the record `tail`, inside the caller's transaction. Throws what sqlite throws. */
export function writeSnapshot(db: DatabaseSync, tail: Tail, { head, part, fromSeq }: SnapshotToWrite): void {
  const { seq } = tail
  if (fromSeq === 0) db.exec('DELETE FROM ledger_part')
  db.prepare('INSERT OR REPLACE INTO snapshot (only, seq, hash, body) VALUES (1, ?, ?, CAST(? AS TEXT))').run(
    seq,
    checksum(tail.hash, 0, seq, head),
    head,
  )
  if (fromSeq === seq) return
  db.prepare('INSERT INTO ledger_part (to_seq, from_seq, hash, body) VALUES (?, ?, ?, CAST(? AS TEXT))').run(
    seq,
    fromSeq,
    checksum(tail.hash, fromSeq, seq, part),
    part,
  )
}

/** Sums up a text of a snapshot and its place in the chain: the hash of the record that it ends at, and the records it is of. */
export function checksum(
  recordHash: string,
  fromSeq: number,
  seq: number,
  text: string | Uint8Array,
): string {
  return createHash('sha256').update(`${recordHash}\n${fromSeq}\n${seq}\n`).update(text).digest('hex')
}
