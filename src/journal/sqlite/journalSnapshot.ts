/**
 * The ledger as it was at one record, kept beside the records, so that a start reads what came after it and not the whole
 * history: a head that each snapshot replaces, and parts with what is only ever added. It is a shortcut and never the truth:
 * records are all kept, and a snapshot that does not match its own hashes, or the chain at its records, is left aside and the
 * records are replayed from the first.
 */
import type { DatabaseSync } from 'node:sqlite'
import { decodeSnapshot, type LedgerState } from '../ledgerState.ts'
import type { Tail } from './hashChain.ts'
import { checksum } from './writeSnapshot.ts'

/** Result of reading the snapshot. */
export type FoundSnapshot =
  | { readonly kind: 'none' }
  /** It does not fit its hashes or the chain, or another version made it. */
  | { readonly kind: 'bad' }
  | {
      readonly kind: 'good'
      readonly tail: Tail
      readonly head: string
      readonly parts: readonly string[]
      readonly state: LedgerState
    }

/** Reads the snapshot. `hashAt` gives the hash of a record. Throws what sqlite throws. */
export function readSnapshot(db: DatabaseSync, hashAt: (seq: number) => string | undefined): FoundSnapshot {
  const row = db.prepare('SELECT seq, hash, body FROM snapshot').get()
  if (row === undefined) return { kind: 'none' }
  const seq = Number(row.seq)
  const head = String(row.body)
  const recordHash = hashAt(seq)
  if (recordHash === undefined || checksum(recordHash, 0, seq, head) !== row.hash) return { kind: 'bad' }
  const parts: string[] = []
  let fromSeq = 0
  for (const part of db
    .prepare('SELECT to_seq, from_seq, hash, body FROM ledger_part ORDER BY to_seq')
    .iterate()) {
    const toSeq = Number(part.to_seq)
    const text = String(part.body)
    const hashThere = hashAt(toSeq)
    const fits = part.from_seq === fromSeq && hashThere !== undefined
    if (!fits || checksum(hashThere, fromSeq, toSeq, text) !== part.hash) return { kind: 'bad' }
    parts.push(text)
    fromSeq = toSeq
  }
  const state = fromSeq === seq ? decodeSnapshot({ seq, head, parts }) : undefined
  return state === undefined
    ? { kind: 'bad' }
    : { kind: 'good', tail: { seq, hash: recordHash }, head, parts, state }
}
