/** One moment of a journal in PostgreSQL, read from its first record to its last while a daemon may go on writing: for `verify`, `export` and `compact`. */
import { systemClock } from '../../base/systemClock.ts'
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { fitting } from '../fenced/sharedReads.ts'
import type { Head, StoredSnapshot } from '../fenced/sharedServer.ts'
import { createSteady } from '../fenced/steady.ts'
import type { JournalSummary } from '../journal.ts'
import { corruptFault, journalFault } from '../journalFaults.ts'
import { createLedger, type Ledger } from '../journalLedger.ts'
import { decodeSnapshot } from '../ledgerState.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import type { FoundSnapshot } from '../sqlite/journalSnapshot.ts'
import {
  createRecordReplay,
  genesis,
  type Listener,
  type RecordQuery,
  type RecordRow,
} from '../sqlite/recordReplay.ts'
import {
  createTablesCheck,
  type DueIntent,
  endingColumns,
  type IntentRows,
  type TableColumns,
  type TableProblems,
  type Row as TableRow,
} from '../sqlite/tablesCheck.ts'
import { plain } from './appendValues.ts'
import { createPostgresClient, type PostgresClient, type Row } from './postgresClient.ts'
import { type PostgresJournal, postgresName } from './postgresPlace.ts'
import * as sql from './postgresSchema.ts'
import { createServerOf } from './postgresServer.ts'

/** Longest time of one request of a view, ms: counting reads a whole table. */
const REQUEST_MS = 60_000

/** A view waits this long for a server that does not answer, ms. */
const SETTLE_MS = 10_000

/** Records of a page. */
const PAGE = 1_000

const columns: TableColumns = {
  intent: ['seq', 'strategy', 'accepted_at_ms', 'open'],
  ending: endingColumns,
  asKept: plain,
}

/** A journal at one moment. Every read throws JournalFaultError JOURNAL_UNREACHABLE when the connection breaks: the moment is gone with it. */
export interface PostgresView {
  readonly facts: {
    readonly version: number
    readonly snapshot: FoundSnapshot
    readonly summary: JournalSummary
  }
  /** Where the chain ends by the head. */
  readonly end: Tail
  /** Bytes of the tables, with those of other accounts. */
  readonly bytes: number
  /** Names keys of tables that are not as perpd makes them, one sentence each. */
  structure(): Promise<readonly string[]>
  /**
   * Folds all records into an empty ledger and holds each table that follows from them against them.
   *
   * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER at the first record that is not what was written.
   */
  readWhole(
    ledger: Ledger,
    listen?: Listener,
  ): Promise<{ readonly tail: Tail; readonly problems: TableProblems }>
  hashAt(seq: number): Promise<string | undefined>
  /** Gives records in pages, in their order, each as it is stored. */
  records(query?: RecordQuery): AsyncIterable<readonly RecordRow[]>
  /** Counts them. */
  count(query: RecordQuery): Promise<number>
  close(): Promise<void>
}

/**
 * Opens a view.
 *
 * @throws JournalFaultError JOURNAL_MISSING where the account has no journal there, JOURNAL_UNREACHABLE, JOURNAL_NEWER, and the server's refusals.
 */
export async function openPostgresView(postgres: PostgresJournal): Promise<PostgresView> {
  const { url, needsStandby, account } = postgres
  const name = postgresName(postgres)
  const place = { url, name, needsStandby, requestMs: REQUEST_MS, seen: { timeline: 0 } }
  const steady = createSteady(name, systemClock, SETTLE_MS)
  const client = createPostgresClient(place, true)
  const once = createSteady(name, systemClock, 0)
  const query = (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
    once(async () => (await client.query(text, values)).rows)
  try {
    // A server that restarts is waited for; a view is not begun anew.
    await steady(() => client.facts())
    return await viewOf({ client, query, name, account, once })
  } catch (error) {
    await client.close()
    throw error
  }
}

interface ViewParts {
  readonly client: PostgresClient
  readonly query: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  readonly name: string
  readonly account: string
  readonly once: <T>(work: () => Promise<T>) => Promise<T>
}

async function viewOf({ client, query, name, account, once }: ViewParts): Promise<PostgresView> {
  const server = createServerOf(client, { name, needsStandby: false }, account)
  await query(sql.beginView)
  const [made] = await query(sql.readIsMade)
  const end: Head | undefined = made?.is_made === true ? await once(() => server.head()) : undefined
  // A head without an epoch was never taken: the account has written nothing here.
  if (end === undefined || end.epoch === 0) throw missing(name, account)
  const [size] = await query(sql.readSize)
  const [counts = {}] = await query(sql.readCounts, [account, ACCOUNT_ID])
  const stored = await once(() => server.snapshot())
  async function hashAt(seq: number): Promise<string | undefined> {
    if (seq === 0) return genesis.hash
    const [row] = await once(() => server.records(seq - 1, 1))
    return row?.seq === seq ? row.hash : undefined
  }

  const snapshot = await foundOf(stored, hashAt)

  async function* records({ sinceMs, intentId }: RecordQuery = {}): AsyncIterable<readonly RecordRow[]> {
    let last = 0
    for (;;) {
      const rows = await query(sql.readWholeRecords, [
        account,
        last,
        PAGE,
        sinceMs ?? Number.MIN_SAFE_INTEGER,
        intentId ?? null,
      ])
      const page = rows.map(recordOf)
      const end = page.at(-1)
      if (end === undefined) return
      yield page
      last = end[0]
    }
  }

  async function rowsOf(due: readonly DueIntent[]): Promise<readonly IntentRows[]> {
    if (due.length === 0) return []
    const ids = due.map(({ intentId }) => plain(intentId))
    const rows = await query(sql.readIntentRows, [account, ids, due.map((each) => each.closedSeq ?? null)])
    return rows.map(intentRowsOf)
  }

  async function readWhole(ledger: Ledger, listen?: Listener) {
    const check = createTablesCheck(columns)
    const reading = createRecordReplay(name, genesis, ledger, {
      asKept: plain,
      listen: (...told) => {
        check.listen(...told)
        listen?.(...told)
      },
    })
    const hold = async (due: readonly DueIntent[]): Promise<void> => {
      const rows = await rowsOf(due)
      for (const [at, each] of due.entries()) check.hold(each, rows[at] ?? nothing)
    }
    for await (const page of records()) {
      for (const row of page) reading.take(row)
      await hold(check.closed())
    }
    await hold(check.stillOpen(ledger.openIntents()))
    const problems = check.problems({
      intent: Number(counts.intents),
      ending: Number(counts.endings),
      signed: Number(counts.signed),
      account: Number(counts.account),
    })
    return { tail: reading.tail(), problems }
  }

  return {
    facts: {
      version: sql.POSTGRES_SCHEMA_VERSION,
      snapshot,
      summary: {
        records: end.seq,
        intents: Number(counts.intents),
        openIntents: Number(counts.open_intents),
      },
    },
    end: { seq: end.seq, hash: end.hash },
    bytes: Number(size?.bytes ?? 0),
    structure: async () => keyProblems(await query(sql.readKeys)),
    readWhole,
    hashAt,
    records,
    async count({ sinceMs, intentId }) {
      const values = [account, sinceMs ?? Number.MIN_SAFE_INTEGER, intentId ?? null]
      return Number((await query(sql.countRecords, values))[0]?.records ?? 0)
    },
    close: () => client.close(),
  }
}

/**
 * Reads all records of a journal anew, holds all that follows from them against them, and gives their folds.
 *
 * @throws JournalFaultError JOURNAL_CORRUPT where anything does not hold, and as a view does.
 */
export async function readWholeLedger(
  postgres: PostgresJournal,
  progress?: (done: number, total: number) => void,
): Promise<Ledger> {
  const view = await openPostgresView(postgres)
  try {
    const [changed] = await view.structure()
    if (changed !== undefined) throw corruptFault(postgresName(postgres), { reason: changed })
    const ledger = createLedger()
    const total = view.facts.summary.records
    const { tail, problems } = await view.readWhole(ledger, (seq) => progress?.(seq, total))
    const [problem] = [...problems.tables, ...problems.endings]
    if (problem !== undefined) throw corruptFault(postgresName(postgres), { reason: problem })
    if (tail.seq !== view.end.seq || tail.hash !== view.end.hash)
      throw corruptFault(postgresName(postgres), {
        seq: tail.seq,
        reason: `the head says that the chain ends at ${view.end.seq}`,
      })
    return ledger
  } finally {
    await view.close()
  }
}

const nothing: IntentRows = { records: 0, intent: undefined, ending: undefined }

async function foundOf(
  stored: StoredSnapshot | undefined,
  hashAt: (seq: number) => Promise<string | undefined>,
): Promise<FoundSnapshot> {
  if (stored === undefined) return { kind: 'none' }
  const kept = fitting(stored)
  const state = kept === undefined ? undefined : decodeSnapshot(kept)
  const hash = kept === undefined ? undefined : await hashAt(kept.seq)
  if (kept === undefined || state === undefined || hash === undefined) return { kind: 'bad' }
  return { kind: 'good', tail: { seq: kept.seq, hash }, head: kept.head, parts: kept.parts, state }
}

function recordOf(row: Row): RecordRow {
  return [
    Number(row.seq),
    Number(row.at_ms),
    String(row.intent_id),
    String(row.kind),
    row.attempt === null ? null : Number(row.attempt),
    String(row.body),
    String(row.hash),
  ]
}

function intentRowsOf({ records, intent, ending }: Row): IntentRows {
  return {
    records: Number(records),
    intent: valuesOf(intent, columns.intent),
    ending: valuesOf(ending, columns.ending),
  }
}

/** The values of a row that came as JSON; a boolean is 0 or 1 as in a file. */
function valuesOf(row: unknown, names: readonly string[]): TableRow {
  if (row === null || typeof row !== 'object') return undefined
  return names.map((name) => {
    const value = (row as Row)[name]
    return typeof value === 'boolean' ? Number(value) : value
  })
}

function keyProblems(rows: readonly Row[]): readonly string[] {
  const found = new Set(rows.map(({ name, definition }) => `${String(name).split('.').at(-1)} ${definition}`))
  return Object.entries(sql.tableKeys).flatMap(([table, keys]) =>
    keys
      .filter((key) => !found.has(`${table} ${key}`))
      .map((key) => `schema: ${table} has no ${key}: the same row may be there twice`),
  )
}

function missing(name: string, account: string): Error {
  return journalFault(
    'JOURNAL_MISSING',
    name,
    `The database has no journal of the account ${account} yet.`,
    'Nothing was changed. Check journal.url and journal.account; perpd makes the journal at its first start, and perpd journal copy --to database brings a file.',
  )
}
