/**
 * The records read from the first to the last, or from a snapshot on: each held against the hash before it, decoded, and
 * folded. What a daemon starts from and what `perpd journal verify` says are made by this one loop.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type AccountState, applyAccountRecord, emptyAccountState } from '../domain/accountRecord.ts'
import { type IntentState, isOpen } from '../domain/intent.ts'
import { applyRecord } from '../domain/machine/fold.ts'
import { type AnyRecord, decodeAnyRecord, isAccountRecord } from '../domain/records.ts'
import { corruptFault, openFault, recordFault } from './faults.ts'
import { GENESIS_HASH, hashOf, type Tail } from './rows.ts'

/** Where a replay begins or ended: the end of the chain there, and the folds at that record. */
export interface Folded {
  readonly tail: Tail
  /** Open intents, oldest first. */
  readonly open: ReadonlyMap<string, IntentState>
  readonly account: AccountState
}

/** Before the first record. */
export const genesis: Folded = {
  tail: { seq: 0, hash: GENESIS_HASH },
  open: new Map(),
  account: emptyAccountState,
}

/** Sees each record once it was folded; `state` is the intent's fold with it, absent for records of the account. */
export type Listener = (seq: number, record: AnyRecord, state: IntentState | undefined) => void

/**
 * The folds after the newest record, or after the record `upTo`.
 *
 * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER; its facts name the first record that is not what was written.
 */
export function replay(
  db: DatabaseSync,
  path: string,
  start: Folded,
  listen?: Listener,
  upTo = Number.MAX_SAFE_INTEGER,
): Folded {
  const open = new Map(start.open)
  let { tail, account } = start
  const select = db.prepare(
    'SELECT seq, at_ms, intent_id, kind, attempt, body, hash FROM record WHERE seq > ? AND seq <= ? ORDER BY seq',
  )
  try {
    for (const row of select.iterate(tail.seq, upTo)) {
      const seq = tail.seq + 1
      if (row.seq !== seq) throw corruptFault(path, { seq, reason: 'the record is missing' })
      const body = String(row.body)
      const hash = hashOf(tail.hash, seq, body)
      if (row.hash !== hash) throw corruptFault(path, { seq, reason: 'the record does not match its hash' })
      tail = { seq, hash }
      try {
        const record = decodeAnyRecord(body)
        if (isAccountRecord(record)) {
          account = applyAccountRecord(account, record)
          compareColumns(row, record)
          listen?.(seq, record, undefined)
          continue
        }
        const state = applyRecord(open.get(record.intentId), record)
        compareColumns(row, record)
        if (isOpen(state)) open.set(record.intentId, state)
        else open.delete(record.intentId)
        listen?.(seq, record, state)
      } catch (cause) {
        throw recordFault(path, seq, cause)
      }
    }
  } catch (cause) {
    throw openFault(path, cause)
  }
  return { tail, open, account }
}

/** The columns repeat what the text says; lists and stories are found by them. */
function compareColumns(row: Readonly<Record<string, unknown>>, record: AnyRecord): void {
  const attempt = 'attempt' in record ? record.attempt : null
  const agrees =
    row.intent_id === record.intentId &&
    row.kind === record.kind &&
    row.at_ms === record.atMs &&
    row.attempt === attempt
  if (!agrees) throw new Error('its columns do not say what its text says')
}
