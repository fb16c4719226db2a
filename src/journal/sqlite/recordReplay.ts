/**
 * The rule by which stored records are read: each is held against the hash before it, decoded, and folded. A daemon's start from a file, `perpd journal
 * verify` and `perpd journal compact` all read by this rule, whatever keeps the records.
 */
import type { IntentState } from '../../domain/order/intent.ts'
import { type AnyRecord, decodeAnyRecord } from '../../domain/records.ts'
import { corruptFault, recordFault } from '../journalFaults.ts'
import { GENESIS_HASH, hashOf, type Tail } from './hashChain.ts'

/** Before the first record. */
export const genesis: Tail = { seq: 0, hash: GENESIS_HASH }

/** A record as a store has it: its number, columns that repeat what the text says, text and hash. */
export type RecordRow = readonly [
  seq: number,
  atMs: number,
  intentId: string,
  kind: string,
  attempt: number | null,
  body: string,
  hash: string,
]

/** A fold of records, as the ledger is one. */
export interface RecordFold {
  /** Folds the next record; gives the intent's state with it, nothing for a record of the account. Throws as `Ledger.fold`. */
  fold(record: AnyRecord): IntentState | undefined
}

/** Sees each record once it was folded; `state` is the intent's fold with it, absent for records of the account. */
export type Listener = (seq: number, record: AnyRecord, state: IntentState | undefined) => void

/** Reads records one after the other. */
export interface RecordReplay {
  /**
   * Takes the next record.
   *
   * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER; its facts name the first record that is not what was written.
   */
  take(row: RecordRow): void
  /** End of the chain as far as it was read. */
  tail(): Tail
}

/** Records that are asked for. */
export interface RecordQuery {
  /** Only records written from then on, Unix ms. */
  readonly sinceMs?: number
  /** Only records of intents whose id begins so. */
  readonly intentId?: string
}

/** Options of a reading. */
export interface ReplayOptions {
  readonly listen?: Listener
  /** A text as the columns of this store have it; unchanged where absent. */
  readonly asKept?: (text: string) => string
}

/** Folds the records after `from` into a fold, which has those before; `path` names the journal in faults. */
export function createRecordReplay(
  path: string,
  from: Tail,
  ledger: RecordFold,
  { listen, asKept = (text) => text }: ReplayOptions = {},
): RecordReplay {
  let tail = from
  return {
    take(row) {
      const seq = tail.seq + 1
      const [found, , , , , body, written] = row
      if (found !== seq) throw corruptFault(path, { seq, reason: 'the record is missing' })
      const hash = hashOf(tail.hash, seq, body)
      if (written !== hash) throw corruptFault(path, { seq, reason: 'the record does not match its hash' })
      tail = { seq, hash }
      try {
        const record = decodeAnyRecord(body)
        const state = ledger.fold(record)
        compareColumns(row, record, asKept)
        listen?.(seq, record, state)
      } catch (cause) {
        throw recordFault(path, seq, cause)
      }
    },
    tail: () => tail,
  }
}

/** The columns repeat what the text says; lists and stories are found by them. */
function compareColumns(
  [, atMs, intentId, kind, attempt]: RecordRow,
  record: AnyRecord,
  asKept: (text: string) => string,
): void {
  const agrees =
    intentId === asKept(record.intentId) &&
    kind === record.kind &&
    atMs === record.atMs &&
    attempt === ('attempt' in record ? record.attempt : null)
  if (!agrees) throw new Error('its columns do not say what its text says')
}
