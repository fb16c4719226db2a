/**
 * The tables of a sqlite journal. `record` is the story, append-only; `intent` and
 * `ending` are kept in the same transaction, so that lists are read without the whole history; `snapshot` and `ledger_part`
 * keep the ledger, so that a start is.
 */
import { DatabaseSync } from 'node:sqlite'

/** `PRAGMA application_id` of our files: "perp" in ASCII. */
export const APPLICATION_ID = 0x70657270

/** The table of the lease, one row: who may write, and at which epoch. */
export const leaseTable = `CREATE TABLE lease (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    holder TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    opened_at_ms INTEGER NOT NULL
  ) STRICT;`

/** Tables and indexes of a journal; amounts are texts of integers. */
const tables = `
  CREATE TABLE record (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    intent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    attempt INTEGER,
    body TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX record_of_intent ON record (intent_id, seq);

  CREATE TABLE intent (
    number INTEGER PRIMARY KEY,
    intent_id TEXT NOT NULL UNIQUE,
    strategy TEXT NOT NULL,
    decision_key TEXT NOT NULL,
    accepted_at_ms INTEGER NOT NULL,
    reservation_usd TEXT NOT NULL,
    open INTEGER NOT NULL CHECK (open IN (0, 1)),
    UNIQUE (strategy, decision_key)
  ) STRICT;
  CREATE INDEX intent_open ON intent (number) WHERE open = 1;
  CREATE INDEX intent_accepted ON intent (accepted_at_ms, strategy);

  CREATE TABLE ending (
    intent_id TEXT PRIMARY KEY,
    closed_at_ms INTEGER NOT NULL,
    strategy TEXT NOT NULL,
    kind TEXT NOT NULL,
    market_token TEXT NOT NULL,
    direction TEXT NOT NULL,
    cause TEXT NOT NULL,
    execution_fee TEXT NOT NULL,
    relay_fee TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ending_time ON ending (closed_at_ms);

  CREATE TABLE snapshot (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE ledger_part (
    to_seq INTEGER PRIMARY KEY,
    from_seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;

  ${leaseTable}
`

/** The schema version (`PRAGMA user_version`) that this perpd writes and reads. A change of the tables raises it and brings a step from the one before. */
export const SCHEMA_VERSION = 1

/** Marks of a file: 0 and 0 with no tables is a new, empty file. */
export interface FileMarks {
  readonly applicationId: number
  readonly version: number
  /** Tables, indexes, views and triggers of any kind. */
  readonly objects: number
}

/** Reads the marks of an open database. Throws what sqlite throws when the file is none, or damaged. */
export function readMarks(db: DatabaseSync): FileMarks {
  return {
    applicationId: readNumber(db, 'PRAGMA application_id'),
    version: readNumber(db, 'PRAGMA user_version'),
    objects: readNumber(db, 'SELECT count(*) FROM sqlite_schema'),
  }
}

/** Makes the tables of a new, empty file in one transaction; a file that has them is left as it is. The caller checked that it is ours and not newer. */
export function createTables(db: DatabaseSync): void {
  if (readMarks(db).version === SCHEMA_VERSION) return
  db.exec('BEGIN EXCLUSIVE')
  db.exec(tables)
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  db.exec('COMMIT')
}

let expected: ReadonlyMap<string, string> | undefined

/**
 * Names the table or index that is not as perpd makes it, in one sentence; undefined when all are, each on a page of its
 * own. sqlite itself reads a changed name or page without a word.
 */
export function schemaProblem(db: DatabaseSync): string | undefined {
  const found = objectsOf(db)
  const texts = new Map(found.map(({ name, text }) => [name, text]))
  for (const [name, text] of expectedTexts())
    if (texts.get(name) !== text) return `the definition of ${name} is not the one it was made with`
  const pages = new Set(found.map(({ page }) => page))
  return pages.size === found.length ? undefined : 'two tables or indexes share a page'
}

/**
 * Names what stands in the file that perpd does not make, in one sentence; undefined when there is nothing. A trigger runs with
 * every write, so this is asked before the first. The statistics that sqlite keeps for itself are no stranger's.
 */
export function plantedProblem(db: DatabaseSync): string | undefined {
  const known = expectedTexts()
  const planted = objectsOf(db).find(({ name }) => !known.has(name) && !/^sqlite_stat\d$/.test(name))
  if (planted === undefined) return undefined
  const [type = 'something'] = planted.text.split(' ')
  return `there is a ${type} in it that perpd did not make: ${planted.name.replace(/[^\w.-]/g, '?').slice(0, 64)}`
}

/** Names and texts of the tables and indexes. */
function expectedTexts(): ReadonlyMap<string, string> {
  if (expected !== undefined) return expected
  const fresh = new DatabaseSync(':memory:')
  fresh.exec(tables)
  expected = new Map(objectsOf(fresh).map(({ name, text }) => [name, text]))
  fresh.close()
  return expected
}

function objectsOf(db: DatabaseSync) {
  return db
    .prepare('SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema')
    .all()
    .map(({ type, name, tbl_name, sql, rootpage }) => ({
      name: String(name),
      text: `${type} ${tbl_name} ${String(sql).replaceAll(/\s+/g, ' ')}`,
      page: Number(rootpage),
    }))
}

/** Returns the faults that sqlite's own check finds, at most `most` sentences: pages, and indexes against their tables. Reads the whole file. */
export function pageProblems(db: DatabaseSync, most: number): readonly string[] {
  return db
    .prepare(`PRAGMA integrity_check(${most})`)
    .all()
    .map((row) => String(row.integrity_check))
    .filter((line) => line !== 'ok')
}

/** The first column of the first row, as a number; 0 when there is none. */
export function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0] ?? 0)
}
