/**
 * The tables of a sqlite journal and the numbered steps that make them. `record` is the story, append-only; `intent` and
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

/** Steps from one schema version to the next; the file's version (`PRAGMA user_version`) is how many were applied. */
const migrations: readonly string[] = [
  `
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

  CREATE TABLE live_attempt (
    intent_id TEXT PRIMARY KEY,
    attempt INTEGER NOT NULL,
    router TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE digest (
    router TEXT NOT NULL,
    digest TEXT NOT NULL,
    intent_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    PRIMARY KEY (router, digest)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE child_order (
    order_key TEXT NOT NULL,
    intent_id TEXT NOT NULL,
    PRIMARY KEY (order_key, intent_id)
  ) STRICT, WITHOUT ROWID;

  ${leaseTable}
  `,
  // Sums of what closed intents did to positions, their endings, and the folds at one record; amounts are texts of integers.
  `
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

  CREATE TABLE closed_fill (
    market_token TEXT NOT NULL,
    direction TEXT NOT NULL,
    collateral_token TEXT NOT NULL,
    size_usd TEXT NOT NULL,
    PRIMARY KEY (market_token, direction, collateral_token)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshot (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  `,
  // Decisions, digests, created orders and sums of fills moved into the ledger, which the snapshot carries in parts.
  `
  DROP TABLE live_attempt;
  DROP TABLE digest;
  DROP TABLE child_order;
  DROP TABLE closed_fill;
  DELETE FROM snapshot;
  CREATE TABLE ledger_part (
    to_seq INTEGER PRIMARY KEY,
    from_seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  `,
]

/** The schema version this perpd writes. */
export const SCHEMA_VERSION = migrations.length

/** What a file says of itself: 0 and 0 with no tables is a new, empty file. */
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

/**
 * Applies the steps that the file lacks, all in one transaction. The caller checked that the file is ours and not newer.
 * `fill` makes the rows that follow from records that were there before their tables.
 */
export function migrate(db: DatabaseSync, fromVersion: number, fill: (fromVersion: number) => void): void {
  if (fromVersion >= SCHEMA_VERSION) return
  db.exec('BEGIN EXCLUSIVE')
  for (const step of migrations.slice(fromVersion)) db.exec(step)
  fill(fromVersion)
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  db.exec('COMMIT')
}

let expected: readonly ReadonlyMap<string, string>[] | undefined

/**
 * What of the tables and indexes is not as the steps make it, in one sentence; undefined when all are, each on a page of its
 * own. sqlite itself reads a changed name or page without a word.
 */
export function schemaProblem(db: DatabaseSync): string | undefined {
  const found = objectsOf(db)
  const texts = new Map(found.map(({ name, text }) => [name, text]))
  for (const [name, text] of expectedTexts().at(-1) ?? [])
    if (texts.get(name) !== text) return `the definition of ${name} is not the one it was made with`
  const pages = new Set(found.map(({ page }) => page))
  return pages.size === found.length ? undefined : 'two tables or indexes share a page'
}

/**
 * What stands in the file that no step makes, in one sentence; undefined when there is nothing. A trigger runs with every
 * write, so this is asked before the first; a file of an older version has its own tables and none besides. The statistics that
 * sqlite keeps for itself are no stranger's.
 */
export function plantedProblem(db: DatabaseSync): string | undefined {
  const known = expectedTexts()
  const isKnown = (name: string) => known.some((texts) => texts.has(name))
  const planted = objectsOf(db).find(({ name }) => !isKnown(name) && !/^sqlite_stat\d$/.test(name))
  if (planted === undefined) return undefined
  const [type = 'something'] = planted.text.split(' ')
  return `there is a ${type} in it that perpd did not make: ${planted.name.replace(/[^\w.-]/g, '?').slice(0, 64)}`
}

/** Names and texts after each step, the first step first. */
function expectedTexts(): readonly ReadonlyMap<string, string>[] {
  if (expected !== undefined) return expected
  const fresh = new DatabaseSync(':memory:')
  expected = migrations.map((step) => {
    fresh.exec(step)
    return new Map(objectsOf(fresh).map(({ name, text }) => [name, text]))
  })
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

/** What sqlite's own check finds wrong, at most `most` sentences: pages, and indexes against their tables. Reads the whole file. */
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
