/**
 * Holds the tables that follow from the records against the records. Orders are listed by them, so a row that is missing, or
 * one too many, hides an order or tells of one that never was.
 */
import type { DatabaseSync } from 'node:sqlite'
import { ACCOUNT_ID } from '../../domain/account/accountRecord.ts'
import { endingOf } from '../../domain/account/spend.ts'
import { type IntentState, isOpen } from '../../domain/order/intent.ts'
import type { JournalRecord } from '../../domain/records.ts'
import type { Listener } from './replay.ts'
import { readNumber } from './sqliteSchema.ts'

/** What does not agree, one sentence each, at most `PROBLEMS_SHOWN` of either. */
export interface IndexProblems {
  /** Tables that repeat what records say. */
  readonly tables: readonly string[]
  /** Endings, which are computed from closed intents, and can be again. */
  readonly endings: readonly string[]
}

/** A check that runs along a replay of all records. */
export interface IndexCheck {
  readonly listen: Listener
  /** To be asked after the newest record. */
  problems(open: readonly IntentState[]): IndexProblems
}

/** Problems that are told one by one. */
const PROBLEMS_SHOWN = 20

/** Columns of a table that the records say. */
interface Held {
  readonly table: string
  readonly columns: readonly string[]
}

const acceptance: Held = {
  table: 'intent',
  columns: ['number', 'strategy', 'decision_key', 'accepted_at_ms', 'reservation_usd'],
}
const openness: Held = { table: 'intent', columns: ['open'] }
const closure: Held = {
  table: 'ending',
  columns: [
    'closed_at_ms',
    'strategy',
    'kind',
    'market_token',
    'direction',
    'cause',
    'execution_fee',
    'relay_fee',
  ],
}

/** Prepares a check on a database of today's schema. Throws what sqlite throws. */
export function createIndexCheck(db: DatabaseSync): IndexCheck {
  const found = { tables: [] as string[], endings: [] as string[] }
  const expected = { intent: 0, ending: 0 }
  /** Records of each open intent so far. */
  const lengths = new Map<string, number>()
  let accountLength = 0
  const find = prepareFinds(db)

  function say(problem: string): void {
    const list = problem.startsWith('ending:') ? found.endings : found.tables
    if (list.length < PROBLEMS_SHOWN) list.push(problem)
  }

  /** Whether the row says exactly this, from the place `at` on: values in the order of `columns`. */
  function hold(
    { table, columns }: Held,
    key: string,
    row: readonly unknown[] | undefined,
    want: readonly unknown[],
    at = 0,
  ): void {
    if (row === undefined) {
      say(`${table}: no row for ${key}`)
      return
    }
    for (const [place, column] of columns.entries()) {
      const found = row[at + place]
      if (found === want[place]) continue
      say(`${table}: ${key} has ${column} ${String(found)}; the records say ${String(want[place])}`)
      return
    }
  }

  function accepted(record: Extract<JournalRecord, { kind: 'intent.accepted' }>): void {
    const { intentId, strategy, decisionKey, acceptedAtMs, reservationUsd } = record.intent
    expected.intent += 1
    const want = [expected.intent, strategy, decisionKey, acceptedAtMs, reservationUsd.toString()]
    hold(acceptance, intentId, find.accepted(intentId), want)
  }

  /** Of a closed intent, with all that `length` records made. */
  function closed(state: IntentState, length: number): void {
    const { intentId } = state.intent
    const row = find.closed(intentId) ?? []
    const [records, open, endingOfId] = row
    if (open !== 0) say(`intent: ${intentId} has open 1; the records say 0`)
    const ending = endingOf(state)
    if (ending !== undefined) {
      expected.ending += 1
      const { closedAtMs, strategy, kind, marketToken, direction, cause, executionFee, relayFee } = ending
      const fees = [executionFee.toString(), relayFee.toString()]
      const want = [closedAtMs, strategy, kind, marketToken, direction, cause, ...fees]
      hold(closure, intentId, endingOfId === null ? undefined : row, want, 3)
    }
    checkLength(intentId, Number(records), length)
  }

  function checkLength(intentId: string, records: number, length: number): void {
    if (records !== length) say(`record: ${records} of ${length} records of ${intentId} are found by its id`)
  }

  function checkOpen(state: IntentState): void {
    const { intentId } = state.intent
    hold(openness, intentId, find.open(intentId), [1])
    checkLength(intentId, find.length(intentId), lengths.get(intentId) ?? 0)
  }

  return {
    listen: (_seq, record, state) => {
      if (state === undefined) {
        accountLength += 1
        return
      }
      const { intentId } = record
      const length = (lengths.get(intentId) ?? 0) + 1
      lengths.set(intentId, length)
      if (record.kind === 'intent.accepted') accepted(record)
      if (isOpen(state)) return
      closed(state, length)
      lengths.delete(intentId)
    },
    problems: (open) => {
      for (const state of open) checkOpen(state)
      checkLength(ACCOUNT_ID, find.length(ACCOUNT_ID), accountLength)
      for (const [table, wanted] of Object.entries(expected)) {
        const count = readNumber(db, `SELECT count(*) FROM ${table}`)
        if (count !== wanted) say(`${table}: ${count} rows; the records make ${wanted}`)
      }
      return found
    },
  }
}

/**
 * Rows as lists of values: they are asked of every intent that there ever was, and it costs to name each column. What a closed
 * intent has comes in one row: the records found by its id, `open`, the id of its ending (null without one), its columns.
 */
function prepareFinds(db: DatabaseSync) {
  const found = '(SELECT count(*) FROM record INDEXED BY record_of_intent WHERE record.intent_id = ?1)'
  const columns = ({ columns: names }: Held) => names.map((name) => `held.${name}`).join(', ')
  const finder = (sql: string) => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return (intentId: string) => statement.get(intentId) as readonly unknown[] | undefined
  }
  const length = finder(`SELECT ${found}`)
  return {
    accepted: finder(`SELECT ${columns(acceptance)} FROM intent AS held WHERE intent_id = ?1`),
    open: finder(`SELECT ${columns(openness)} FROM intent AS held WHERE intent_id = ?1`),
    closed: finder(`SELECT ${found}, intent.open, held.intent_id, ${columns(closure)} FROM (SELECT 1)
      LEFT JOIN intent ON intent.intent_id = ?1 LEFT JOIN ending AS held ON held.intent_id = ?1`),
    length: (intentId: string) => Number(length(intentId)?.[0]),
  }
}
