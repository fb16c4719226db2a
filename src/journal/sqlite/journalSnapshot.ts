/**
 * A snapshot: the folds at one record, kept with a hash beside the records, so that a start reads what came after it and not
 * the whole history. It is a shortcut and never the truth: records are all kept, and a snapshot that does not match its own
 * hash, or the chain at its record, is left aside and the records are replayed from the first.
 */
import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { AccountState } from '../../domain/account/accountRecord.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { decodeExact, encodeExact } from '../../domain/records.ts'
import type { Folded } from './replay.ts'

/** Raised whenever the same records fold to something else than before: snapshots of other versions are left aside. */
const SNAPSHOT_VERSION = 2

/** Records after which the next start would be slow enough to be worth a new snapshot. */
export const SNAPSHOT_EVERY = 10_000

interface Body {
  readonly v: number
  readonly open: readonly IntentState[]
  readonly account: AccountState
}

/** Keeps the folds in place of the snapshot before, inside the caller's transaction. Throws what sqlite throws. */
export function writeSnapshot(db: DatabaseSync, folded: Folded): void {
  const { tail } = folded
  const text = snapshotText(folded)
  db.prepare('INSERT OR REPLACE INTO snapshot (only, seq, hash, body) VALUES (1, ?, ?, ?)').run(
    tail.seq,
    checksum(tail.hash, tail.seq, text),
    text,
  )
}

/** The folds as a snapshot keeps them: equal folds give equal text. */
export function snapshotText({ open, account }: Omit<Folded, 'tail'>): string {
  const body: Body = { v: SNAPSHOT_VERSION, open: [...open.values()], account }
  return encodeExact(body)
}

/** What was found in the place of the snapshot. */
export type FoundSnapshot =
  | { readonly kind: 'none' }
  /** It does not fit its hash or the chain, or another version made it. */
  | { readonly kind: 'bad' }
  | { readonly kind: 'good'; readonly folded: Folded }

/** Reads the snapshot. `hashAt` gives the hash of a record. Throws what sqlite throws. */
export function readSnapshot(db: DatabaseSync, hashAt: (seq: number) => string | undefined): FoundSnapshot {
  const row = db.prepare('SELECT seq, hash, body FROM snapshot').get()
  if (row === undefined) return { kind: 'none' }
  const seq = Number(row.seq)
  const text = String(row.body)
  const recordHash = hashAt(seq)
  if (recordHash === undefined || checksum(recordHash, seq, text) !== row.hash) return { kind: 'bad' }
  const body = bodyOf(text)
  if (body === undefined) return { kind: 'bad' }
  return {
    kind: 'good',
    folded: {
      tail: { seq, hash: recordHash },
      open: new Map(body.open.map((state) => [state.intent.intentId, state])),
      account: body.account,
    },
  }
}

/** The body of a snapshot, or undefined when it is none of this version. Its records are there, so nothing is lost with it. */
function bodyOf(text: string): Body | undefined {
  let body: Partial<Body> | null
  try {
    body = decodeExact(text) as Partial<Body> | null
  } catch {
    return undefined
  }
  if (typeof body !== 'object' || body?.v !== SNAPSHOT_VERSION) return undefined
  const { v, open, account } = body
  const isOpen = Array.isArray(open) && open.every((state: unknown) => hasIntent(state))
  const isAccount = account?.findings instanceof Map && typeof account.trading === 'object'
  return isOpen && isAccount ? { v, open, account } : undefined
}

function hasIntent(state: unknown): boolean {
  if (typeof state !== 'object' || state === null) return false
  const { intent, attempts } = state as Partial<IntentState>
  return typeof intent?.intentId === 'string' && Array.isArray(attempts)
}

function checksum(recordHash: string, seq: number, text: string): string {
  return hash('sha256', `${recordHash}\n${seq}\n${text}`)
}
