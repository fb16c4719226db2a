/** Writing records, and the tables that follow from them, on the writer's connection and inside its transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Fill, fillsOf } from '../../domain/account/fills.ts'
import { endingOf } from '../../domain/account/spend.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type AnyRecord, isAccountRecord, type JournalRecord } from '../../domain/records.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'

/** Statements of the writer, prepared once. */
export interface RowWriter {
  /**
   * Inserts a record with its place and hash, and moves the tables that follow from it. `intents` is how many there were,
   * `state` the intent's fold with it.
   */
  write(
    record: AnyRecord,
    body: string,
    seq: number,
    hash: string,
    intents: number,
    state?: IntentState,
  ): void
  /** Moves what a closed intent adds to: the sums of fills and the endings. `write` does it for the record that closes. */
  addClosed(state: IntentState): void
  closedFills(): readonly Fill[]
  hasDecision(strategy: string, decisionKey: string): boolean
  /** The intent that armed this digest, if any. */
  digestOwner(router: string, digest: string): string | undefined
  /** Whether an intent other than this one created the order. */
  explains(orderKey: string, exceptIntentId: string): boolean
  acceptedSince(sinceMs: number, strategy?: string): number
}

/** Prepares the writes on an open database whose schema is today's. All throw what sqlite throws. */
export function createRowWriter(db: DatabaseSync): RowWriter {
  const statements = prepareWrites(db)
  const { insertRecord, findDecision, findDigest, findChild, countAccepted } = statements
  function addClosed(state: IntentState): void {
    addFills(statements, state)
    addEnding(statements, state)
  }
  return {
    write: (record, body, seq, hash, intents, state) => {
      const attempt = 'attempt' in record ? record.attempt : null
      insertRecord.run(seq, record.atMs, record.intentId, record.kind, attempt, body, hash)
      if (isAccountRecord(record)) return
      writeIndexes(statements, record, intents)
      if (record.kind === 'intent.closed' && state !== undefined) addClosed(state)
    },
    addClosed,
    closedFills: () =>
      statements.listFills.all().map((row) => ({
        marketToken: row.market_token as Address,
        direction: row.direction as Direction,
        collateralToken: row.collateral_token as Address,
        sizeDeltaUsd: BigInt(String(row.size_usd)),
      })),
    hasDecision: (strategy, decisionKey) => findDecision.get(strategy, decisionKey) !== undefined,
    digestOwner: (router, digest) => {
      const row = findDigest.get(hexKey(router), hexKey(digest))
      return row === undefined ? undefined : String(row.intent_id)
    },
    explains: (orderKey, exceptIntentId) => findChild.get(hexKey(orderKey), exceptIntentId) !== undefined,
    acceptedSince: (sinceMs, strategy) => Number(countAccepted.get(sinceMs, strategy ?? null)?.accepted),
  }
}

function writeIndexes(statements: Statements, record: JournalRecord, intents: number): void {
  const { intentId } = record
  switch (record.kind) {
    case 'intent.accepted': {
      const { strategy, decisionKey, acceptedAtMs, reservationUsd } = record.intent
      const reservation = reservationUsd.toString()
      statements.insertIntent.run(intents + 1, intentId, strategy, decisionKey, acceptedAtMs, reservation)
      break
    }
    case 'attempt.armed': {
      const router = hexKey(record.armed.router)
      const digest = hexKey(record.armed.digest)
      statements.insertDigest.run(router, digest, intentId, record.attempt)
      statements.insertLive.run(intentId, record.attempt, router, digest)
      break
    }
    case 'landed':
      for (const orderKey of record.orderKeys) statements.insertChild.run(hexKey(orderKey), intentId)
      break
    case 'attempt.dead':
    case 'attempt.void':
      statements.deleteLive.run(intentId)
      break
    case 'intent.closed':
      statements.deleteLive.run(intentId)
      statements.closeIntent.run(intentId)
      break
  }
}

function addEnding(statements: Statements, state: IntentState): void {
  const ending = endingOf(state)
  if (ending === undefined) return
  statements.putEnding.run(
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

function addFills(statements: Statements, state: IntentState): void {
  for (const { marketToken, direction, collateralToken, sizeDeltaUsd } of fillsOf(state)) {
    const side = [hexKey(marketToken), direction, hexKey(collateralToken)] as const
    const before = BigInt(String(statements.findFill.get(...side)?.size_usd ?? '0'))
    statements.putFill.run(...side, (before + (sizeDeltaUsd ?? 0n)).toString())
  }
}

type Statements = Readonly<Record<StatementName, StatementSync>>

function prepareWrites(db: DatabaseSync): Statements {
  return {
    insertRecord: db.prepare(
      'INSERT INTO record (seq, at_ms, intent_id, kind, attempt, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    insertIntent: db.prepare(
      `INSERT INTO intent (number, intent_id, strategy, decision_key, accepted_at_ms, reservation_usd, open)
       VALUES (?, ?, ?, ?, ?, ?, 1)`,
    ),
    closeIntent: db.prepare('UPDATE intent SET open = 0 WHERE intent_id = ?'),
    insertDigest: db.prepare('INSERT INTO digest (router, digest, intent_id, attempt) VALUES (?, ?, ?, ?)'),
    insertLive: db.prepare(
      'INSERT INTO live_attempt (intent_id, attempt, router, digest) VALUES (?, ?, ?, ?)',
    ),
    deleteLive: db.prepare('DELETE FROM live_attempt WHERE intent_id = ?'),
    insertChild: db.prepare('INSERT OR IGNORE INTO child_order (order_key, intent_id) VALUES (?, ?)'),
    findChild: db.prepare('SELECT 1 AS found FROM child_order WHERE order_key = ? AND intent_id <> ?'),
    findDecision: db.prepare('SELECT 1 AS found FROM intent WHERE strategy = ? AND decision_key = ?'),
    findDigest: db.prepare('SELECT intent_id FROM digest WHERE router = ? AND digest = ?'),
    listFills: db.prepare('SELECT market_token, direction, collateral_token, size_usd FROM closed_fill'),
    findFill: db.prepare(
      'SELECT size_usd FROM closed_fill WHERE market_token = ? AND direction = ? AND collateral_token = ?',
    ),
    putFill: db.prepare(
      `INSERT INTO closed_fill (market_token, direction, collateral_token, size_usd) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET size_usd = excluded.size_usd`,
    ),
    putEnding: db.prepare(
      `INSERT OR REPLACE INTO ending (intent_id, closed_at_ms, strategy, kind, market_token, direction, cause,
       execution_fee, relay_fee) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    countAccepted: db.prepare(
      'SELECT count(*) AS accepted FROM intent WHERE accepted_at_ms >= ?1 AND (?2 IS NULL OR strategy = ?2)',
    ),
  }
}

type StatementName =
  | 'insertRecord'
  | 'insertIntent'
  | 'closeIntent'
  | 'insertDigest'
  | 'insertLive'
  | 'deleteLive'
  | 'insertChild'
  | 'findChild'
  | 'findDecision'
  | 'findDigest'
  | 'countAccepted'
  | 'listFills'
  | 'putEnding'
  | 'findFill'
  | 'putFill'
