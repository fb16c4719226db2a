/**
 * Holds the tables that follow from the records against the records. Orders are listed by them, so a row that is missing, or
 * one too many, hides an order or tells of one that never was.
 */
import type { DatabaseSync } from 'node:sqlite'
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { endingOf } from '../../domain/accountRecords/spend.ts'
import { type IntentState, isOpen } from '../../domain/order/intent.ts'
import type { Listener } from './replay.ts'
import { readNumber } from './sqliteSchema.ts'

/** Contradictions, one sentence each, at most `PROBLEMS_SHOWN` of either kind. */
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

const intents: Held = {
  table: 'intent',
  columns: ['number', 'strategy', 'decision_key', 'accepted_at_ms', 'reservation_usd', 'open'],
}
const endings: Held = {
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

/** An intent that is open so far. */
interface Story {
  /** Values that its acceptance wrote into `intent`: all columns but `open`. */
  readonly accepted: readonly unknown[]
  records: number
}

/** Prepares a check on a database of today's schema. Throws what sqlite throws. */
export function createIndexCheck(db: DatabaseSync): IndexCheck {
  const found = { tables: [] as string[], endings: [] as string[] }
  const expected = { intent: 0, ending: 0 }
  const stories = new Map<string, Story>()
  let accountLength = 0
  const rows = prepareRows(db)

  function say(problem: string): void {
    const list = problem.startsWith('ending:') ? found.endings : found.tables
    if (list.length < PROBLEMS_SHOWN) list.push(problem)
  }

  /** Checks that the row has exactly these values, in the order of the columns. */
  function hold({ table, columns }: Held, key: string, row: Row, want: readonly unknown[]): void {
    if (row === undefined) {
      say(`${table}: no row for ${key}`)
      return
    }
    const wrong = columns.findIndex((_, place) => row[place] !== want[place])
    if (wrong === -1) return
    const says = `${key} has ${columns[wrong]} ${String(row[wrong])}`
    say(`${table}: ${says}; the records say ${String(want[wrong])}`)
  }

  function storyOf({ intent }: IntentState): Story {
    const { intentId, strategy, decisionKey, acceptedAtMs, reservationUsd } = intent
    expected.intent += 1
    const accepted = [expected.intent, strategy, decisionKey, acceptedAtMs, reservationUsd.toString()]
    const story = { accepted, records: 0 }
    stories.set(intentId, story)
    return story
  }

  /** Holds all that is kept of an intent, with its newest record folded. */
  function check(state: IntentState, { accepted, records }: Story): void {
    const { intentId } = state.intent
    const row = rows.ofIntent(intentId)
    hold(intents, intentId, row.intent, [...accepted, isOpen(state) ? 1 : 0])
    const ending = endingOf(state)
    if (ending !== undefined) {
      expected.ending += 1
      const { closedAtMs, strategy, kind, marketToken, direction, cause, executionFee, relayFee } = ending
      const fees = [executionFee.toString(), relayFee.toString()]
      hold(endings, intentId, row.ending, [
        closedAtMs,
        strategy,
        kind,
        marketToken,
        direction,
        cause,
        ...fees,
      ])
    }
    checkLength(intentId, row.records, records)
  }

  function checkLength(intentId: string, records: number, length: number): void {
    if (records !== length) say(`record: ${records} of ${length} records of ${intentId} are found by its id`)
  }

  return {
    listen: (_seq, record, state) => {
      if (state === undefined) {
        accountLength += 1
        return
      }
      const story = stories.get(record.intentId) ?? storyOf(state)
      story.records += 1
      if (isOpen(state)) return
      check(state, story)
      stories.delete(record.intentId)
    },
    problems: (open) => {
      for (const state of open) check(state, stories.get(state.intent.intentId) ?? storyOf(state))
      checkLength(ACCOUNT_ID, rows.recordsOf(ACCOUNT_ID), accountLength)
      for (const [table, wanted] of Object.entries(expected)) {
        const count = readNumber(db, `SELECT count(*) FROM ${table}`)
        if (count !== wanted) say(`${table}: ${count} rows; the records make ${wanted}`)
      }
      return found
    },
  }
}

/** Values of a row, or that there is none. */
type Row = readonly unknown[] | undefined

/**
 * Reads what is kept of an intent as one row, and as a list of values: it is asked of every intent that there ever was, and each
 * question costs, and each name of a column.
 */
function prepareRows(db: DatabaseSync) {
  const counted = '(SELECT count(*) FROM record INDEXED BY record_of_intent WHERE record.intent_id = ?1)'
  const columns = ({ table, columns: names }: Held) =>
    [`${table}.intent_id`, ...names.map((name) => `${table}.${name}`)].join(', ')
  const records = db.prepare(`SELECT ${counted}`)
  const all = db.prepare(`SELECT ${counted}, ${columns(intents)}, ${columns(endings)} FROM (SELECT 1)
    LEFT JOIN intent ON intent.intent_id = ?1 LEFT JOIN ending ON ending.intent_id = ?1`)
  for (const statement of [records, all]) statement.setReturnArrays(true)
  const endingAt = 2 + intents.columns.length
  const rowFrom = (values: readonly unknown[], at: number): Row =>
    values[at] === null ? undefined : values.slice(at + 1)
  return {
    recordsOf: (intentId: string) => Number((records.get(intentId) as Row)?.[0]),
    ofIntent: (intentId: string) => {
      const values = (all.get(intentId) as Row) ?? []
      return {
        records: Number(values[0]),
        intent: rowFrom(values, 1),
        ending: rowFrom(values, endingAt),
      }
    },
  }
}
