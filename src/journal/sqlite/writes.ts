/** Writing records, and the tables that follow from them, on the writer's connection and inside its transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { endingOf } from '../../domain/account/spend.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type AnyRecord, isAccountRecord } from '../../domain/records.ts'
import type { StoreEntry } from '../journalStore.ts'

/** Statements of the writer, prepared once. */
export interface RowWriter {
  /**
   * Inserts a record with its place and hash, and moves the tables that follow from it. `intents` is how many there were.
   */
  write(entry: StoreEntry, seq: number, hash: string, intents: number): void
  /** Adds the ending of a closed intent. `write` does it for the record that closes. */
  addEnding(state: IntentState): void
}

/** Prepares the writes on an open database whose schema is today's. All throw what sqlite throws. */
export function createRowWriter(db: DatabaseSync): RowWriter {
  const statements = prepareWrites(db)
  const addEnding = (state: IntentState) => putEnding(statements.putEnding, state)
  return {
    write: ({ record, body, state }, seq, hash, intents) => {
      statements.insertRecord.run(
        seq,
        record.atMs,
        record.intentId,
        record.kind,
        attemptOf(record),
        body,
        hash,
      )
      if (isAccountRecord(record)) return
      if (record.kind === 'intent.accepted') {
        const { intentId, strategy, decisionKey, acceptedAtMs, reservationUsd } = record.intent
        const reservation = reservationUsd.toString()
        statements.insertIntent.run(intents + 1, intentId, strategy, decisionKey, acceptedAtMs, reservation)
      }
      if (record.kind !== 'intent.closed') return
      statements.closeIntent.run(record.intentId)
      if (state !== undefined) addEnding(state)
    },
    addEnding,
  }
}

function attemptOf(record: AnyRecord): number | null {
  return 'attempt' in record ? record.attempt : null
}

function putEnding(statement: StatementSync, state: IntentState): void {
  const ending = endingOf(state)
  if (ending === undefined) return
  statement.run(
    state.intent.intentId,
    ending.closedAtMs,
    ending.strategy,
    ending.kind,
    ending.marketToken,
    ending.direction,
    ending.cause,
    ending.executionFee.toString(),
    ending.relayFee.toString(),
  )
}

function prepareWrites(db: DatabaseSync) {
  return {
    insertRecord: db.prepare(
      'INSERT INTO record (seq, at_ms, intent_id, kind, attempt, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    insertIntent: db.prepare(
      `INSERT INTO intent (number, intent_id, strategy, decision_key, accepted_at_ms, reservation_usd, open)
       VALUES (?, ?, ?, ?, ?, ?, 1)`,
    ),
    closeIntent: db.prepare('UPDATE intent SET open = 0 WHERE intent_id = ?'),
    putEnding: db.prepare(
      `INSERT OR REPLACE INTO ending (intent_id, closed_at_ms, strategy, kind, market_token, direction, cause,
       execution_fee, relay_fee) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  }
}
