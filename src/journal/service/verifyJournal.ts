/** Checks a journal whole, beside a running or a dead daemon: chain, folds, the tables that follow, mark and snapshot. */
import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { openFault } from '../journalFaults.ts'
import { createLedger } from '../journalLedger.ts'
import { joinParts } from '../ledgerState.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import { highWaterMarkPathOf, lossOf, readHighWaterMark } from '../sqlite/highWaterMark.ts'
import { createIndexCheck } from '../sqlite/indexes.ts'
import { openForReading } from '../sqlite/journalReader.ts'
import { type FoundSnapshot, readSnapshot } from '../sqlite/journalSnapshot.ts'
import { genesis, type Listener, replay } from '../sqlite/replay.ts'
import { createRowReader } from '../sqlite/sqliteRows.ts'
import { pageProblems, readMarks, schemaProblem } from '../sqlite/sqliteSchema.ts'

/** Problems of pages that are told one by one. */
const PAGE_PROBLEMS_SHOWN = 5

/** Result of a whole check. */
export interface Verification {
  /** Schema version of the file; the tables of one older than today's are checked when a daemon has raised it. */
  readonly version: number
  readonly records: number
  readonly intents: number
  readonly openIntents: number
  readonly bytes: number
  /** End of the chain as far as it holds. */
  readonly tail: Tail
  /** Number of the record that the high-water mark names; absent when there is no mark. */
  readonly headSeq?: number
  readonly snapshot: FoundSnapshot['kind']
  readonly snapshotSeq?: number
  /** Number of the first record that is not what was written. */
  readonly badSeq?: number
  /** Faults, one sentence each; empty for a whole journal. */
  readonly problems: readonly string[]
}

/**
 * Reads every record of the journal at `path`. A damaged journal is an answer and no fault. `progress` is told after each record
 * how many of how many were read.
 *
 * @throws JournalFaultError as `openSqliteReader` does, when there is nothing that could be read.
 */
export function verifySqliteJournal(
  path: string,
  headPath?: string,
  progress?: (done: number, total: number) => void,
): Verification {
  // Before the records: a daemon may go on writing, and a mark is never ahead of a journal that is whole.
  const mark = markOf(path, headPath)
  const db = openForReading(path)
  try {
    db.exec('BEGIN')
    const found = verifyRecords(db, path, progress)
    const { hashAt } = createRowReader(db, path)
    const loss = found.badSeq === undefined ? lossOf(mark, found.tail, hashAt) : undefined
    const problems = [...found.problems]
    if (loss !== undefined) {
      problems.push(
        `the high-water mark names record ${loss.lastWritten}, which the journal does not have: records were lost`,
      )
    }
    return {
      ...found,
      bytes: statSync(path).size,
      ...defined({ headSeq: mark?.seq }),
      problems,
    }
  } catch (cause) {
    throw openFault(path, cause)
  } finally {
    db.close()
  }
}

function verifyRecords(
  db: DatabaseSync,
  path: string,
  progress?: (done: number, total: number) => void,
): Omit<Verification, 'bytes' | 'headSeq'> {
  const { version } = readMarks(db)
  const rows = createRowReader(db, path)
  const snapshot = readSnapshot(db, rows.hashAt)
  const check = createIndexCheck(db)
  const snapshotSeq = snapshot.kind === 'good' ? snapshot.tail.seq : undefined
  const common = {
    version,
    ...rows.summary(),
    snapshot: snapshot.kind,
    ...defined({ snapshotSeq }),
  }
  let lastGood = 0
  const listen: Listener = (seq, record, state) => {
    lastGood = seq
    check.listen(seq, record, state)
    progress?.(seq, common.records)
  }
  try {
    const problems: string[] = []
    const changed = schemaProblem(db)
    if (changed !== undefined) problems.push(`schema: ${changed}`)
    problems.push(
      ...pageProblems(db, PAGE_PROBLEMS_SHOWN).map((each) => `pages: ${each.replaceAll('\n', ' ')}`),
    )
    const ledger = createLedger()
    let tail = genesis
    if (snapshot.kind === 'good') {
      tail = replay(db, path, tail, ledger, { listen, upTo: snapshot.tail.seq })
      const { head, part } = ledger.snapshot()
      if (head !== snapshot.head || part !== joinParts(snapshot.state.identities))
        problems.push('snapshot: it does not say what the records fold to')
    }
    tail = replay(db, path, tail, ledger, { listen })
    const { tables, endings } = check.problems(ledger.openIntents())
    problems.push(...tables, ...endings)
    return { ...common, tail, problems }
  } catch (cause) {
    if (!(cause instanceof BaseError)) throw cause
    const badSeq = typeof cause.facts.seq === 'number' ? cause.facts.seq : lastGood + 1
    const tail = { seq: lastGood, hash: rows.hashAt(lastGood) ?? '' }
    const problem = `record ${badSeq}: ${String(cause.facts.reason ?? cause.shortMessage)}`
    return { ...common, tail, badSeq, problems: [problem] }
  }
}

function markOf(path: string, headPath: string | undefined): ReturnType<typeof readHighWaterMark> {
  const place = highWaterMarkPathOf(path, headPath)
  try {
    return readHighWaterMark(place)
  } catch (cause) {
    throw openFault(place, cause)
  }
}
