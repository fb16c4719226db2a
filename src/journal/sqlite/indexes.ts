/** The tables of a file that follow from its records, for the check of `tablesCheck.ts`. */
import type { DatabaseSync } from 'node:sqlite'
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { Listener } from './recordReplay.ts'
import { readNumber } from './sqliteSchema.ts'
import {
  createTablesCheck,
  endingColumns,
  type IntentRows,
  type Row,
  type TableColumns,
  type TableProblems,
} from './tablesCheck.ts'

const columns: TableColumns = {
  intent: ['number', 'strategy', 'decision_key', 'accepted_at_ms', 'reservation_usd', 'open'],
  ending: endingColumns,
}

/** A check that runs along a replay of all records of a file. */
export interface IndexCheck {
  readonly listen: Listener
  /** To be asked after the newest record. */
  problems(open: readonly IntentState[]): TableProblems
}

/** Prepares a check on a database of today's schema. Throws what sqlite throws. */
export function createIndexCheck(db: DatabaseSync): IndexCheck {
  const check = createTablesCheck(columns)
  const rows = prepareRows(db)
  return {
    listen: (...told) => {
      check.listen(...told)
      for (const due of check.closed()) check.hold(due, rows.ofIntent(due.intentId))
    },
    problems: (open) => {
      for (const due of check.stillOpen(open)) check.hold(due, rows.ofIntent(due.intentId))
      return check.problems({
        account: rows.recordsOf(ACCOUNT_ID),
        intent: readNumber(db, 'SELECT count(*) FROM intent'),
        ending: readNumber(db, 'SELECT count(*) FROM ending'),
      })
    },
  }
}

/**
 * Reads what is kept of an intent as one row, and as a list of values: it is asked of every intent that there ever was, and each
 * question costs, and each name of a column.
 */
function prepareRows(db: DatabaseSync) {
  const counted = '(SELECT count(*) FROM record INDEXED BY record_of_intent WHERE record.intent_id = ?1)'
  const named = (table: 'intent' | 'ending') =>
    [`${table}.intent_id`, ...columns[table].map((name) => `${table}.${name}`)].join(', ')
  const records = db.prepare(`SELECT ${counted}`)
  const all = db.prepare(`SELECT ${counted}, ${named('intent')}, ${named('ending')} FROM (SELECT 1)
    LEFT JOIN intent ON intent.intent_id = ?1 LEFT JOIN ending ON ending.intent_id = ?1`)
  for (const statement of [records, all]) statement.setReturnArrays(true)
  const endingAt = 2 + columns.intent.length
  const rowFrom = (values: readonly unknown[], at: number): Row =>
    values[at] === null ? undefined : values.slice(at + 1)
  return {
    recordsOf: (intentId: string) => Number((records.get(intentId) as Row)?.[0]),
    ofIntent: (intentId: string): IntentRows => {
      const values = (all.get(intentId) as Row) ?? []
      return {
        records: Number(values[0]),
        intent: rowFrom(values, 1),
        ending: rowFrom(values, endingAt),
      }
    },
  }
}
