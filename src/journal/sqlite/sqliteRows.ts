/** Reading records and intents out of a sqlite journal; the same for the writer and for a reader beside it. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  ACCOUNT_ID,
  type AccountState,
  applyAccountRecord,
  emptyAccountState,
} from '../../domain/accountRecords/accountRecord.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import { applyRecord } from '../../domain/machine/fold.ts'
import { type IntentKind, type IntentState, isOpen } from '../../domain/order/intent.ts'
import { type AnyRecord, decodeAnyRecord, isAccountRecord, type StoredRecord } from '../../domain/records.ts'
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { IntentQuery, JournalSummary } from '../journal.ts'
import { corruptFault, openFault, recordFault } from '../journalFaults.ts'
import { GENESIS_HASH, hashOf } from './hashChain.ts'

/**
 * Reads in one transaction: all of it is of one moment, whatever another process writes meanwhile, and no row takes a lock of
 * its own. Throws what sqlite throws, and what `read` does.
 */
export function inOneView<T>(db: DatabaseSync, read: () => T): T {
  db.exec('BEGIN')
  try {
    return read()
  } finally {
    // sqlite ends a transaction by itself when a disk fails; what it threw then is what counts.
    if (db.isTransaction) db.exec('COMMIT')
  }
}

/** Reads of a journal database. All throw JournalFaultError JOURNAL_CORRUPT when a row is not what was written. */
export interface RowReader {
  summary(): JournalSummary
  intents(query?: IntentQuery): readonly IntentState[]
  records(intentId: string): readonly StoredRecord[]
  intent(intentId: string): IntentState | undefined
  account(): AccountState
  /** Endings since then (Unix ms), in the order in which they were written. */
  endingsSince(sinceMs: number): readonly Ending[]
  /** The hash of one record, GENESIS_HASH for 0, undefined when there is no such record. */
  hashAt(seq: number): string | undefined
}

/** Reads and folds of single records; each record is held against its hash. */
function createRecordReader(
  db: DatabaseSync,
  path: string,
): Pick<RowReader, 'records' | 'intent' | 'account'> {
  const ofIntent = db.prepare(`SELECT r.seq, r.intent_id, r.body, r.hash, p.hash AS previous_hash
    FROM record r LEFT JOIN record p ON p.seq = r.seq - 1 WHERE r.intent_id = ? ORDER BY r.seq`)

  function anyRecordOf(row: Record<string, unknown>): { readonly seq: number; readonly record: AnyRecord } {
    const seq = Number(row.seq)
    const body = String(row.body)
    const previousHash = seq === 1 ? GENESIS_HASH : String(row.previous_hash)
    if (row.hash !== hashOf(previousHash, seq, body)) {
      throw corruptFault(path, { seq, reason: 'the record does not match its hash' })
    }
    try {
      const record = decodeAnyRecord(body)
      if (record.intentId !== row.intent_id) throw new Error(`the row says intent ${String(row.intent_id)}`)
      return { seq, record }
    } catch (cause) {
      throw recordFault(path, seq, cause)
    }
  }

  function recordOf(row: Record<string, unknown>): StoredRecord {
    const { seq, record } = anyRecordOf(row)
    if (isAccountRecord(record)) throw corruptFault(path, { seq, reason: 'it is not of an intent' })
    return { seq, record }
  }

  function account(): AccountState {
    let state = emptyAccountState
    for (const row of ofIntent.all(ACCOUNT_ID)) {
      const { seq, record } = anyRecordOf(row)
      if (!isAccountRecord(record)) throw corruptFault(path, { seq, reason: 'it is not of the account' })
      state = applyAccountRecord(state, record)
    }
    return state
  }

  function records(intentId: string): readonly StoredRecord[] {
    return ofIntent.all(intentId).map(recordOf)
  }

  function intent(intentId: string): IntentState | undefined {
    let state: IntentState | undefined
    for (const { seq, record } of records(intentId)) {
      try {
        state = applyRecord(state, record)
      } catch (cause) {
        throw recordFault(path, seq, cause)
      }
    }
    return state
  }

  return { records, intent, account }
}

function feeOf(path: string, row: Record<string, unknown>, column: 'execution_fee' | 'relay_fee'): bigint {
  try {
    return BigInt(String(row[column]))
  } catch (cause) {
    throw corruptFault(path, { intentId: String(row.intent_id), reason: `${column} is no number` }, cause)
  }
}

function endingOf(path: string, row: Record<string, unknown>): Ending {
  return {
    strategy: String(row.strategy),
    kind: row.kind as IntentKind,
    marketToken: row.market_token as Address,
    direction: row.direction as Direction,
    closedAtMs: Number(row.closed_at_ms),
    seq: Number(row.seq),
    cause: String(row.cause),
    executionFee: feeOf(path, row, 'execution_fee'),
    relayFee: feeOf(path, row, 'relay_fee'),
  }
}

/** Prepares the reads on an open database whose schema is today's. */
export function createRowReader(db: DatabaseSync, path: string): RowReader {
  const { records, intent, account } = createRecordReader(db, path)
  const count = db.prepare(`SELECT
    (SELECT coalesce(max(seq), 0) FROM record) AS records,
    (SELECT coalesce(max(number), 0) FROM intent) AS intents,
    (SELECT count(*) FROM intent WHERE open = 1) AS open_intents`)
  const list = db.prepare(`SELECT intent_id, open FROM intent
    WHERE (?1 IS NULL OR strategy = ?1) ORDER BY number DESC LIMIT ?2`)
  const listOpen = db.prepare(`SELECT intent_id, open FROM intent
    WHERE open = 1 AND (?1 IS NULL OR strategy = ?1) ORDER BY number DESC LIMIT ?2`)
  let endings: StatementSync | undefined
  const one = db.prepare('SELECT hash FROM record WHERE seq = ?')

  function endingsSince(sinceMs: number): readonly Ending[] {
    endings ??= db.prepare(`SELECT *,
      (SELECT max(seq) FROM record WHERE record.intent_id = ending.intent_id) AS seq
      FROM ending WHERE closed_at_ms >= ? ORDER BY seq`)
    return endings.all(sinceMs).map((row) => endingOf(path, row))
  }

  /** Says what sqlite found wrong in the operator's words. */
  function guarded<A extends unknown[], T>(read: (...parameters: A) => T): (...parameters: A) => T {
    return (...parameters) => {
      try {
        return read(...parameters)
      } catch (cause) {
        throw openFault(path, cause)
      }
    }
  }

  function listedIntent(row: Record<string, unknown>): IntentState {
    const intentId = String(row.intent_id)
    const state = intent(intentId)
    if (state === undefined) throw corruptFault(path, { intentId, reason: 'the intent has no records' })
    if (isOpen(state) !== (row.open === 1)) {
      const reason = isOpen(state) ? 'listed as closed but not closed' : 'listed as open but closed'
      throw corruptFault(path, { intentId, reason: `the intent is ${reason} by its records` })
    }
    return state
  }

  function intents(query: IntentQuery = {}): readonly IntentState[] {
    const statement = query.openOnly ? listOpen : list
    return statement.all(query.strategy ?? null, query.limit ?? -1).map(listedIntent)
  }

  return {
    summary: guarded(() => {
      const row = count.get() ?? {}
      return {
        records: Number(row.records),
        intents: Number(row.intents),
        openIntents: Number(row.open_intents),
      }
    }),
    intents: guarded(intents),
    records: guarded(records),
    intent: guarded(intent),
    account: guarded(account),
    endingsSince: guarded(endingsSince),
    hashAt: guarded((seq) => (seq === 0 ? GENESIS_HASH : (one.get(seq)?.hash as string | undefined))),
  }
}
