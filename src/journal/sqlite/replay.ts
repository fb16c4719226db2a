/**
 * The records read from the first to the last, or from a snapshot on: each held against the hash before it, decoded, and
 * folded. What a daemon starts from and what `perpd journal verify` says are made by this one loop.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { IntentState } from '../../domain/order/intent.ts'
import { type AnyRecord, decodeAnyRecord } from '../../domain/records.ts'
import { corruptFault, openFault, recordFault } from '../journalFaults.ts'
import type { Ledger } from '../journalLedger.ts'
import { GENESIS_HASH, hashOf, type Tail } from './hashChain.ts'

/** Before the first record. */
export const genesis: Tail = { seq: 0, hash: GENESIS_HASH }

/** Rows of a page. */
const PAGE = 200

/** Columns of `record`, in the order of the query. */
type Row = readonly [
  seq: number,
  atMs: number,
  intentId: string,
  kind: string,
  attempt: number | null,
  body: string,
  hash: string,
]

/** Sees each record once it was folded; `state` is the intent's fold with it, absent for records of the account. */
export type Listener = (seq: number, record: AnyRecord, state: IntentState | undefined) => void

/**
 * Folds the records after `tail`, up to the newest or to the record `upTo`, into the ledger, which has those before. Gives
 * the end of the chain there.
 *
 * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER; its facts name the first record that is not what was written.
 */
export function replay(
  db: DatabaseSync,
  path: string,
  from: Tail,
  ledger: Ledger,
  { listen, upTo = Number.MAX_SAFE_INTEGER }: { readonly listen?: Listener; readonly upTo?: number } = {},
): Tail {
  let tail = from
  try {
    for (const row of rowsAfter(db, from.seq, upTo)) {
      const seq = tail.seq + 1
      const [found, , , , , body, written] = row
      if (found !== seq) throw corruptFault(path, { seq, reason: 'the record is missing' })
      const hash = hashOf(tail.hash, seq, body)
      if (written !== hash) throw corruptFault(path, { seq, reason: 'the record does not match its hash' })
      tail = { seq, hash }
      try {
        const record = decodeAnyRecord(body)
        const state = ledger.fold(record)
        compareColumns(row, record)
        listen?.(seq, record, state)
      } catch (cause) {
        throw recordFault(path, seq, cause)
      }
    }
  } catch (cause) {
    throw openFault(path, cause)
  }
  return tail
}

/** Rows in their order, read by pages: over a long history it costs to ask for each of them, and to name its columns. */
function* rowsAfter(db: DatabaseSync, seq: number, upTo: number): Iterable<Row> {
  const select = db.prepare(
    'SELECT seq, at_ms, intent_id, kind, attempt, body, hash FROM record WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  )
  select.setReturnArrays(true)
  let last = seq
  for (;;) {
    const page = select.all(last, upTo, PAGE) as unknown as readonly Row[]
    const end = page.at(-1)
    if (end === undefined) return
    yield* page
    last = end[0]
  }
}

/** The columns repeat what the text says; lists and stories are found by them. */
function compareColumns([, atMs, intentId, kind, attempt]: Row, record: AnyRecord): void {
  const agrees =
    intentId === record.intentId &&
    kind === record.kind &&
    atMs === record.atMs &&
    attempt === ('attempt' in record ? record.attempt : null)
  if (!agrees) throw new Error('its columns do not say what its text says')
}
