/**
 * Holds the tables that follow from the records against the records. They answer "was this decision taken?", "was this
 * digest armed?", "is this order ours?", so a row that is missing, or one too many, is as bad as a lost record.
 */
import type { DatabaseSync } from 'node:sqlite'
import { ACCOUNT_ID, sideKeyOf } from '../../domain/account/accountRecord.ts'
import { fillsOf } from '../../domain/account/fills.ts'
import { endingOf } from '../../domain/account/spend.ts'
import { type IntentState, isOpen } from '../../domain/order/intent.ts'
import type { JournalRecord } from '../../domain/records.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Listener } from './replay.ts'
import { readNumber } from './sqliteSchema.ts'

/** What does not agree, one sentence each, at most `PROBLEMS_SHOWN` of either. */
export interface IndexProblems {
  /** Tables that repeat what records say. */
  readonly tables: readonly string[]
  /** Tables that are computed from closed intents, and can be again: endings and sums of fills. */
  readonly sums: readonly string[]
}

/** A check that runs along a replay of all records. */
export interface IndexCheck {
  readonly listen: Listener
  /** To be asked after the newest record. */
  problems(open: ReadonlyMap<string, IntentState>): IndexProblems
}

/** Problems that are told one by one. */
const PROBLEMS_SHOWN = 20

/** Prepares a check on a database of today's schema. Throws what sqlite throws. */
export function createIndexCheck(db: DatabaseSync): IndexCheck {
  const found = { tables: [] as string[], sums: [] as string[] }
  const expected = { intent: 0, digest: 0, child_order: 0, live_attempt: 0, ending: 0, closed_fill: 0 }
  const fills = new Map<string, bigint>()
  /** Records of each open intent so far. */
  const lengths = new Map<string, number>()
  /** Orders that each open intent created so far; a landing that is confirmed names them again. */
  const children = new Map<string, Set<string>>()
  let accountLength = 0
  const rows = {
    intent: db.prepare('SELECT * FROM intent WHERE intent_id = ?'),
    isOpen: db.prepare('SELECT open FROM intent WHERE intent_id = ?'),
    digest: db.prepare('SELECT intent_id, attempt FROM digest WHERE router = ? AND digest = ?'),
    child: db.prepare('SELECT 1 AS found FROM child_order WHERE order_key = ? AND intent_id = ?'),
    ending: db.prepare('SELECT * FROM ending WHERE intent_id = ?'),
    fill: db.prepare('SELECT * FROM closed_fill'),
    live: db.prepare('SELECT digest FROM live_attempt WHERE intent_id = ?'),
    length: db.prepare(
      'SELECT count(*) AS records FROM record INDEXED BY record_of_intent WHERE intent_id = ?',
    ),
  }

  function say(problem: string): void {
    const list = /^(ending|closed_fill):/.test(problem) ? found.sums : found.tables
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
    for (const { sizeDeltaUsd, ...side } of fillsOf(state)) {
      const key = sideKeyOf(side)
      fills.set(key, (fills.get(key) ?? 0n) + (sizeDeltaUsd ?? 0n))
    }
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
    const digest = liveDigestOf(state)
    if (digest !== undefined) expected.live_attempt += 1
    const row = rows.live.get(intentId)
    if (row?.digest !== digest) say(`live_attempt: ${intentId} does not have the digest that may still land`)
    checkLength(intentId, lengths.get(intentId) ?? 0)
  }

  function checkFills(): void {
    expected.closed_fill = fills.size
    for (const row of rows.fill.all()) {
      const side = `${String(row.market_token)}:${String(row.direction)}:${String(row.collateral_token)}`
      const sum = fills.get(side.toLowerCase())?.toString()
      if (row.size_usd !== sum)
        say(`closed_fill: ${side} has ${String(row.size_usd)}; the records say ${sum ?? 'nothing'}`)
    }
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
      switch (record.kind) {
        case 'intent.accepted':
          accepted(record)
          break
        case 'attempt.armed': {
          const { router, digest } = record.armed
          expected.digest += 1
          const row = rows.digest.get(hexKey(router), hexKey(digest))
          hold('digest', digest, row, { intent_id: intentId, attempt: record.attempt })
          break
        }
        case 'landed': {
          const known = children.get(intentId) ?? new Set()
          children.set(intentId, known)
          for (const orderKey of record.orderKeys.map(hexKey)) {
            if (known.has(orderKey)) continue
            known.add(orderKey)
            expected.child_order += 1
            const row = rows.child.get(orderKey, intentId)
            if (row === undefined) say(`child_order: no row for ${orderKey} of ${intentId}`)
          }
          break
        }
      }
      if (isOpen(state)) return
      closed(state)
      checkLength(intentId, length)
      lengths.delete(intentId)
      children.delete(intentId)
    },
    problems: (open) => {
      for (const state of open.values()) checkOpen(state)
      checkLength(ACCOUNT_ID, accountLength)
      checkFills()
      for (const [table, wanted] of Object.entries(expected)) {
        const count = readNumber(db, `SELECT count(*) FROM ${table}`)
        if (count !== wanted) say(`${table}: ${count} rows; the records make ${wanted}`)
      }
      return found
    },
  }
}

/** The digest of an intent that may still land or landed, as `live_attempt` keeps it until the intent closes. */
export function liveDigestOf(state: IntentState): string | undefined {
  const attempt = state.attempts.at(-1)
  const mayLand =
    attempt?.armed !== undefined && attempt.phase !== 'DEAD' && attempt.phase !== 'VOID_CONSUMED'
  return mayLand ? hexKey(attempt.armed.digest) : undefined
}
