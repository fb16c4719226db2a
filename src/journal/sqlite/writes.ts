/** Writing records, and the tables that follow from them, on the writer's connection and inside its transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { EndingRow, RecordRows } from './recordRows.ts'

/** Statements of the writer, prepared once. */
export interface RowWriter {
  /**
   * Inserts a record with its place and hash, and moves the tables that follow from it. `intents` is how many there were.
   */
  write(rows: RecordRows, seq: number, hash: string, intents: number): void
  /** Adds the ending of a closed intent. `write` does it for the record that closes. */
  addEnding(ending: EndingRow): void
}

/** Prepares the writes on an open database whose schema is today's. All throw what sqlite throws. */
export function createRowWriter(db: DatabaseSync): RowWriter {
  const insertRecord = db.prepare(
    'INSERT INTO record (seq, at_ms, intent_id, kind, attempt, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertIntent = db.prepare(
    `INSERT INTO intent (number, intent_id, strategy, decision_key, accepted_at_ms, reservation_usd, open)
     VALUES (?, ?, ?, ?, ?, ?, 1)`,
  )
  const closeIntent = db.prepare('UPDATE intent SET open = 0 WHERE intent_id = ?')
  const insertEnding = db.prepare(
    `INSERT OR REPLACE INTO ending (intent_id, closed_at_ms, strategy, kind, market_token, direction, cause,
     execution_fee, relay_fee) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    write({ record, intent, closes, ending }, seq, hash, intents) {
      insertRecord.run(seq, ...record, hash)
      if (intent !== undefined) insertIntent.run(intents + 1, ...intent)
      if (closes !== undefined) closeIntent.run(closes)
      if (ending !== undefined) insertEnding.run(...ending)
    },
    addEnding: (ending) => void insertEnding.run(...ending),
  }
}
