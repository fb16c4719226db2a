/** What must hold of a journal that was opened, against what was acknowledged before: I12, I5 and I3. */
import { readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { applyRecord } from '../../src/domain/machine/fold.ts'
import { type IntentState, isOpen } from '../../src/domain/order/intent.ts'
import { decodeAnyRecord, isAccountRecord } from '../../src/domain/records.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { imageFiles } from './diskImage.ts'

/** What the processes before were told. */
export interface Promised {
  /** Texts of the records that must be there, in order. */
  readonly known: readonly string[]
  /** Those of a commit in which the process ended: all of them may follow, or none. */
  readonly doubtful: readonly string[]
  /** Digests that were given to the key. */
  readonly claimed: ReadonlySet<string>
}

/** A journal that was opened, and a connection to its file. */
export interface OpenedFiles {
  readonly db: DatabaseSync
  readonly path: string
  readonly journal: Journal
}

/**
 * The texts of all records. Each that was acknowledged is there as it was, a torn commit is whole or absent, what is open is
 * their fold; the guard has every digest that was signed.
 */
export function heldRows(
  { db, path, journal }: OpenedFiles,
  { known, doubtful, claimed }: Promised,
  fail: (invariant: string, text: string) => never,
): readonly string[] {
  const rows = db
    .prepare('SELECT body FROM record ORDER BY seq')
    .all()
    .map(({ body }) => String(body))
  const lost = known.findIndex((body, index) => rows[index] !== body)
  if (lost >= 0)
    fail('I12', `record ${lost + 1} of ${known.length} was acknowledged and is not what is there`)
  const more = rows.slice(known.length)
  const isWhole = more.length === doubtful.length && more.every((body, at) => body === doubtful[at])
  if (more.length > 0 && !isWhole)
    fail('I12', `${more.length} of ${doubtful.length} records of a torn commit are there`)
  const states = new Map<string, IntentState>()
  for (const record of rows.map(decodeAnyRecord)) {
    if (!isAccountRecord(record))
      states.set(record.intentId, applyRecord(states.get(record.intentId), record))
  }
  if (textOf([...states.values()].filter(isOpen)) !== textOf(journal.openIntents()))
    fail('I5', 'what the journal opens with is not the fold of what was acknowledged')
  const table = readFileSync(path + imageFiles.signed, { encoding: 'latin1', flag: 'a+' })
  for (const digest of claimed) if (!table.includes(digest)) fail('I3', `the guard lost ${digest}`)
  return rows
}

function textOf(states: readonly IntentState[]): string {
  return JSON.stringify(states, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}
