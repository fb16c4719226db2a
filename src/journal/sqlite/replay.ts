/** The records of a file read from the first to the last, or from a snapshot on, by the rule of `recordReplay.ts`. */
import type { DatabaseSync } from 'node:sqlite'
import { openFault } from '../journalFaults.ts'
import type { Tail } from './hashChain.ts'
import { createRecordReplay, type Listener, type RecordFold, type RecordRow } from './recordReplay.ts'

/** Rows of a page. */
const PAGE = 200

/**
 * Folds the records after `tail`, up to the newest or to the record `upTo`, into a fold, which has those before. Gives
 * the end of the chain there.
 *
 * @throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER; its facts name the first record that is not what was written.
 */
export function replay(
  db: DatabaseSync,
  path: string,
  from: Tail,
  ledger: RecordFold,
  { listen, upTo = Number.MAX_SAFE_INTEGER }: { readonly listen?: Listener; readonly upTo?: number } = {},
): Tail {
  const reading = createRecordReplay(path, from, ledger, listen === undefined ? {} : { listen })
  try {
    for (const row of rowsAfter(db, from.seq, upTo)) reading.take(row)
  } catch (cause) {
    throw openFault(path, cause)
  }
  return reading.tail()
}

/** Rows in their order, read by pages: over a long history it costs to ask for each of them, and to name its columns. */
function* rowsAfter(db: DatabaseSync, seq: number, upTo: number): Iterable<RecordRow> {
  const select = db.prepare(
    'SELECT seq, at_ms, intent_id, kind, attempt, body, hash FROM record WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  )
  select.setReturnArrays(true)
  let last = seq
  for (;;) {
    const page = select.all(last, upTo, PAGE) as unknown as readonly RecordRow[]
    const end = page.at(-1)
    if (end === undefined) return
    yield* page
    last = end[0]
  }
}
