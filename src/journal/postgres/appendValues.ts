/** Values of the statement that appends: a column of each table is an array. */

import type { ChainedRecord } from '../fenced/sharedServer.ts'
import type { EndingRow } from '../sqlite/recordRows.ts'

/** The columns of records, intents, closed intents, endings and lines of the guard, in the statement's order. */
export function appendValues(records: readonly ChainedRecord[]): readonly (readonly unknown[])[] {
  const closed = records.flatMap(({ rows: { closes } }) => (closes === undefined ? [] : [plain(closes)]))
  const isClosed = new Set(closed)
  const written = records.map(({ seq, hash, rows: { record } }) => {
    const [atMs, intentId, kind, attempt, body] = record
    return [seq, atMs, plain(intentId), kind, attempt, body, hash]
  })
  const intents = records.flatMap(({ seq, rows: { intent } }) => {
    if (intent === undefined) return []
    const [intentId, strategy, , acceptedAtMs] = intent
    // In one statement no row sees another's change.
    return [[seq, plain(intentId), plain(strategy), acceptedAtMs, !isClosed.has(plain(intentId))]]
  })
  const endings = records.flatMap(({ seq, rows: { ending } }) =>
    ending === undefined ? [] : [[seq, ...withoutId(ending)]],
  )
  const signed = records.flatMap(({ signed: line }) => {
    if (line === undefined) return []
    const { intentId, attempt, digest, deadlineSeconds, addsUsd, atSeconds } = line.entry
    return [[line.router, digest, plain(intentId), attempt, deadlineSeconds, String(addsUsd), atSeconds]]
  })
  return [
    ...columnsOf(written, 7),
    ...columnsOf(intents, 5),
    closed,
    ...columnsOf(endings, 9),
    ...columnsOf(signed, 7),
  ]
}

function withoutId([, closedAtMs, ...rest]: EndingRow): readonly unknown[] {
  return [closedAtMs, ...rest.map(plain)]
}

function columnsOf(rows: readonly (readonly unknown[])[], width: number): readonly (readonly unknown[])[] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column]))
}

/** A text as a column takes it: PostgreSQL has no zero character. Records keep theirs, escaped. */
export function plain(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}')
}
