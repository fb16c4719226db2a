/**
 * Holds the tables that follow from the records against the records. Orders are listed by them, so a row that is missing, or
 * one too many, hides an order or tells of one that never was. The rule is of no store: each gives its rows and names its columns.
 */
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { endingOf } from '../../domain/accountRecords/spend.ts'
import { type Intent, type IntentState, isOpen } from '../../domain/order/intent.ts'
import type { Listener } from './recordReplay.ts'

/** Contradictions, one sentence each, at most `PROBLEMS_SHOWN` of either kind. */
export interface TableProblems {
  /** Tables that repeat what records say. */
  readonly tables: readonly string[]
  /** Endings, which are computed from closed intents, and can be again. */
  readonly endings: readonly string[]
}

/** Columns of a store's tables, in the order in which it gives their values, and how they have a text. */
export interface TableColumns {
  readonly intent: readonly IntentColumn[]
  readonly ending: readonly EndingColumn[]
  /** A text as the columns have it; unchanged where absent. */
  readonly asKept?: (text: string) => string
}

/** An intent whose rows are to be held now, since no later record changes them. */
export interface DueIntent {
  readonly intentId: string
  /** Number of the record that closed it; undefined while it is open. */
  readonly closedSeq: number | undefined
  readonly state: IntentState
  readonly story: Story
}

/** Values of a row, or that there is none. */
export type Row = readonly unknown[] | undefined

/** All that a store has of one intent: rows by `TableColumns`, and the number of records that are found by its id. */
export interface IntentRows {
  readonly records: number
  readonly intent: Row
  readonly ending: Row
}

/** Rows of whole tables. */
export interface RowCounts {
  readonly intent: number
  readonly ending: number
  /** Lines of the signing guard; absent where the store has none. */
  readonly signed?: number
  /** Records that are found as records of the account. */
  readonly account: number
}

/** A check that runs along a replay of all records. */
export interface TablesCheck {
  readonly listen: Listener
  /** Gives the intents that closed since this was asked last. */
  closed(): readonly DueIntent[]
  /** Gives the intents that are open after the newest record. */
  stillOpen(states: readonly IntentState[]): readonly DueIntent[]
  /** Holds the rows of one of them. */
  hold(due: DueIntent, rows: IntentRows): void
  /** Says what was found; to be asked once all were held. */
  problems(counts: RowCounts): TableProblems
}

/** Problems that are listed one by one. */
const PROBLEMS_SHOWN = 20

/** An intent's records so far. */
interface Story {
  /** 1 for the first intent that was accepted. */
  readonly number: number
  readonly acceptedSeq: number
  /** As it was accepted: its row keeps that, also where a warning made it smaller later. */
  readonly accepted: Intent
  records: number
}

type Kept = (text: string) => string

/** The value that records give to each column of a list of intents. */
const intentValues = {
  number: ({ story }) => story.number,
  seq: ({ story }) => story.acceptedSeq,
  strategy: ({ story }, kept) => kept(story.accepted.strategy),
  decision_key: ({ story }) => story.accepted.decisionKey,
  accepted_at_ms: ({ story }) => story.accepted.acceptedAtMs,
  reservation_usd: ({ story }) => story.accepted.reservationUsd.toString(),
  open: ({ state }) => (isOpen(state) ? 1 : 0),
} as const satisfies Record<string, (due: DueIntent, kept: Kept) => unknown>

/** The value that records give to each column of a list of endings. */
const endingValues = {
  closed_at_ms: ({ closedAtMs }) => closedAtMs,
  strategy: ({ strategy }, kept) => kept(strategy),
  kind: ({ kind }) => kind,
  market_token: ({ marketToken }) => marketToken,
  direction: ({ direction }) => direction,
  cause: ({ cause }, kept) => kept(cause),
  execution_fee: ({ executionFee }) => executionFee.toString(),
  relay_fee: ({ relayFee }) => relayFee.toString(),
} as const satisfies Record<string, (ending: NonNullable<ReturnType<typeof endingOf>>, kept: Kept) => unknown>

type IntentColumn = keyof typeof intentValues
type EndingColumn = keyof typeof endingValues

/** All columns of an ending, in the order in which they are compared. */
export const endingColumns = Object.keys(endingValues) as readonly EndingColumn[]

/** Makes one for a store with these columns. */
export function createTablesCheck({ intent, ending, asKept = (text) => text }: TableColumns): TablesCheck {
  const found = { tables: [] as string[], endings: [] as string[] }
  const expected = { intent: 0, ending: 0, signed: 0, account: 0 }
  const stories = new Map<string, Story>()
  let closed: DueIntent[] = []

  function say(problem: string): void {
    const list = problem.startsWith('ending:') ? found.endings : found.tables
    if (list.length < PROBLEMS_SHOWN) list.push(problem)
  }

  /** Checks that the row has exactly these values, in the order of the columns. */
  function holdRow(
    table: string,
    columns: readonly string[],
    key: string,
    row: Row,
    want: readonly unknown[],
  ): void {
    if (row === undefined) {
      say(`${table}: no row for ${key}`)
      return
    }
    const wrong = columns.findIndex((_, place) => row[place] !== want[place])
    if (wrong === -1) return
    const says = `${key} has ${columns[wrong]} ${String(row[wrong])}`
    say(`${table}: ${says}; the records say ${String(want[wrong])}`)
  }

  function storyOf({ intent }: IntentState, seq: number): Story {
    expected.intent += 1
    const story = { number: expected.intent, acceptedSeq: seq, accepted: intent, records: 0 }
    stories.set(intent.intentId, story)
    return story
  }

  function holdLength(intentId: string, records: number, length: number): void {
    if (records !== length) say(`record: ${records} of ${length} records of ${intentId} are found by its id`)
  }

  return {
    listen: (seq, record, state) => {
      if (state === undefined) {
        expected.account += 1
        return
      }
      const { intentId } = record
      const story = stories.get(intentId) ?? storyOf(state, seq)
      story.records += 1
      if (record.kind === 'attempt.armed') expected.signed += 1
      if (isOpen(state)) return
      closed.push({ intentId, closedSeq: seq, state, story })
      stories.delete(intentId)
    },
    closed: () => {
      const due = closed
      closed = []
      return due
    },
    stillOpen: (states) =>
      states.map((state) => {
        const { intentId } = state.intent
        return {
          intentId,
          closedSeq: undefined,
          state,
          story: stories.get(intentId) ?? storyOf(state, 0),
        }
      }),
    hold(due, rows) {
      const { intentId, state, story } = due
      const values = intent.map((column) => intentValues[column](due, asKept))
      holdRow('intent', intent, intentId, rows.intent, values)
      const end = endingOf(state)
      if (end !== undefined) {
        expected.ending += 1
        const ends = ending.map((column) => endingValues[column](end, asKept))
        holdRow('ending', ending, intentId, rows.ending, ends)
      }
      holdLength(intentId, rows.records, story.records)
    },
    problems: ({ account, ...counts }) => {
      holdLength(ACCOUNT_ID, account, expected.account)
      for (const [table, count] of Object.entries(counts)) {
        const wanted = expected[table as keyof typeof counts]
        if (count !== wanted) say(`${table}: ${count} rows; the records make ${wanted}`)
      }
      return found
    },
  }
}
