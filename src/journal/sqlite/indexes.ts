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

/** Prepares a check on a database of today's schema. Throws what sqlite throws. */
export function createIndexCheck(db: DatabaseSync): IndexCheck {
  const found = { tables: [] as string[], endings: [] as string[] }
  const expected = { intent: 0, ending: 0 }
  /** Records of each open intent so far. */
  const lengths = new Map<string, number>()
  let accountLength = 0
  const rows = {
    intent: db.prepare('SELECT * FROM intent WHERE intent_id = ?'),
    isOpen: db.prepare('SELECT open FROM intent WHERE intent_id = ?'),
    ending: db.prepare('SELECT * FROM ending WHERE intent_id = ?'),
    length: db.prepare(
      'SELECT count(*) AS records FROM record INDEXED BY record_of_intent WHERE intent_id = ?',
    ),
  }

  function say(problem: string): void {
    const list = problem.startsWith('ending:') ? found.endings : found.tables
    if (list.length < PROBLEMS_SHOWN) list.push(problem)
  }

  /** Whether the row says exactly this; columns that are not named may say anything. */
  function hold(table: string, key: string, row: Record<string, unknown> | undefined, want: object): void {
    const wrong = Object.entries(want).find(([column, value]) => row !== undefined && row[column] !== value)
    if (row === undefined) say(`${table}: no row for ${key}`)
    else if (wrong !== undefined) {
      const [column, value] = wrong
      say(`${table}: ${key} has ${column} ${String(row[column])}; the records say ${String(value)}`)
    }
  }

  function accepted(record: Extract<JournalRecord, { kind: 'intent.accepted' }>): void {
    const { intentId, strategy, decisionKey, acceptedAtMs, reservationUsd } = record.intent
    expected.intent += 1
    hold('intent', intentId, rows.intent.get(intentId), {
      number: expected.intent,
      strategy,
      decision_key: decisionKey,
      accepted_at_ms: acceptedAtMs,
      reservation_usd: reservationUsd.toString(),
    })
  }

  function closed(state: IntentState): void {
    const { intentId } = state.intent
    if (rows.isOpen.get(intentId)?.open !== 0) say(`intent: ${intentId} has open 1; the records say 0`)
    const ending = endingOf(state)
    if (ending === undefined) return
    expected.ending += 1
    hold('ending', intentId, rows.ending.get(intentId), {
      closed_at_ms: ending.closedAtMs,
      strategy: ending.strategy,
      kind: ending.kind,
      market_token: ending.marketToken,
      direction: ending.direction,
      cause: ending.cause,
      execution_fee: ending.executionFee.toString(),
      relay_fee: ending.relayFee.toString(),
    })
  }

  function checkLength(intentId: string, length: number): void {
    const records = Number(rows.length.get(intentId)?.records)
    if (records !== length) say(`record: ${records} of ${length} records of ${intentId} are found by its id`)
  }

  function checkOpen(state: IntentState): void {
    const { intentId } = state.intent
    hold('intent', intentId, rows.intent.get(intentId), { open: 1 })
    checkLength(intentId, lengths.get(intentId) ?? 0)
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
      closed(state)
      checkLength(intentId, length)
      lengths.delete(intentId)
    },
    problems: (open) => {
      for (const state of open) checkOpen(state)
      checkLength(ACCOUNT_ID, accountLength)
      for (const [table, wanted] of Object.entries(expected)) {
        const count = readNumber(db, `SELECT count(*) FROM ${table}`)
        if (count !== wanted) say(`${table}: ${count} rows; the records make ${wanted}`)
      }
      return found
    },
  }
}
