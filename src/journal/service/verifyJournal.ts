/** Checks a journal whole, beside a running or a dead daemon: chain, folds, the tables that follow, mark and snapshot. */
import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import type { JournalSummary } from '../journal.ts'
import { openFault } from '../journalFaults.ts'
import { createLedger, type Ledger } from '../journalLedger.ts'
import { joinParts } from '../ledgerState.ts'
import type { PostgresJournal } from '../postgres/postgresPlace.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import { highWaterMarkPathOf, lossOf, readHighWaterMark } from '../sqlite/highWaterMark.ts'
import { createIndexCheck } from '../sqlite/indexes.ts'
import { openForReading } from '../sqlite/journalReader.ts'
import { type FoundSnapshot, readSnapshot } from '../sqlite/journalSnapshot.ts'
import { genesis, type Listener } from '../sqlite/recordReplay.ts'
import { replay } from '../sqlite/replay.ts'
import { createRowReader } from '../sqlite/sqliteRows.ts'
import { pageProblems, readMarks, schemaProblem } from '../sqlite/sqliteSchema.ts'
import type { TableProblems } from '../sqlite/tablesCheck.ts'

/** Problems of pages that are told one by one. */
const PAGE_PROBLEMS_SHOWN = 5

/** Hears after each record how many of how many were read. */
type Progress = (done: number, total: number) => void

/** Result of a whole check. */
export interface Verification extends JournalSummary {
  /** Schema version of the store; the tables of one older than today's are checked when a daemon has raised it. */
  readonly version: number
  /** Bytes of the file, or of the database's tables with those of other accounts. */
  readonly bytes: number
  /** End of the chain as far as it holds. */
  readonly tail: Tail
  /** Number of the record that the high-water mark of this machine names; absent when there is no mark. */
  readonly headSeq?: number
  readonly snapshot: FoundSnapshot['kind']
  readonly snapshotSeq?: number
  /** Number of the first record that is not what was written. */
  readonly badSeq?: number
  /** Faults, one sentence each; empty for a whole journal. */
  readonly problems: readonly string[]
}

/** Where a journal is that is to be checked. */
export interface VerifiedPlace {
  /** The file; with `postgres` the name of this machine's own files. */
  readonly path: string
  readonly headPath?: string | undefined
  readonly postgres?: PostgresJournal | undefined
}

/**
 * Reads every record of a journal. A damaged journal is an answer and no fault. `progress` gets after each record how many of how many
 * were read.
 *
 * @throws JournalFaultError JOURNAL_MISSING, and as the store's reader does, when there is nothing that could be read.
 */
export async function verifyJournal(
  { path, headPath, postgres }: VerifiedPlace,
  progress?: Progress,
): Promise<Verification> {
  if (postgres === undefined) return verifySqliteJournal(path, headPath, progress)
  const mark = markOf(path, headPath)
  const { openPostgresView } = await import('../postgres/postgresView.ts')
  const view = await openPostgresView(postgres)
  try {
    const { facts, end } = view
    const verdict = createVerdict(facts, progress)
    let found: Judged
    try {
      const structure = await view.structure()
      const { tail, problems } = await view.readWhole(verdict.ledger, verdict.listen)
      found = verdict.whole(tail, problems, structure)
      if (tail.seq !== end.seq || tail.hash !== end.hash) {
        const sentence = `head: it says that the chain ends at record ${end.seq}`
        found = { ...found, problems: [...found.problems, sentence] }
      }
    } catch (cause) {
      // A server that does not answer says nothing of the records.
      if (cause instanceof BaseError && cause.code === 'JOURNAL_UNREACHABLE') throw cause
      found = verdict.broken(cause, await view.hashAt(verdict.lastGood()))
    }
    const marked = mark === undefined ? undefined : await view.hashAt(mark.seq)
    return withMark({ ...found, bytes: view.bytes }, mark, (seq) => (seq === mark?.seq ? marked : undefined))
  } finally {
    await view.close()
  }
}

/** As `verifyJournal` of a file, at once. */
export function verifySqliteJournal(path: string, headPath?: string, progress?: Progress): Verification {
  // Before the records: a daemon may go on writing, and a mark is never ahead of a journal that is whole.
  const mark = markOf(path, headPath)
  const db = openForReading(path)
  try {
    db.exec('BEGIN')
    const found = verifyRecords(db, path, progress)
    const { hashAt } = createRowReader(db, path)
    return withMark({ ...found, bytes: statSync(path).size }, mark, hashAt)
  } catch (cause) {
    throw openFault(path, cause)
  } finally {
    db.close()
  }
}

function verifyRecords(db: DatabaseSync, path: string, progress?: Progress): Judged {
  const { version } = readMarks(db)
  const rows = createRowReader(db, path)
  const snapshot = readSnapshot(db, rows.hashAt)
  const check = createIndexCheck(db)
  const verdict = createVerdict({ version, snapshot, summary: rows.summary() }, progress)
  const listen: Listener = (...told) => {
    check.listen(...told)
    verdict.listen(...told)
  }
  try {
    const changed = schemaProblem(db)
    const structure = [
      ...(changed === undefined ? [] : [`schema: ${changed}`]),
      ...pageProblems(db, PAGE_PROBLEMS_SHOWN).map((each) => `pages: ${each.replaceAll('\n', ' ')}`),
    ]
    const tail = replay(db, path, genesis, verdict.ledger, { listen })
    return verdict.whole(tail, check.problems(verdict.ledger.openIntents()), structure)
  } catch (cause) {
    return verdict.broken(cause, rows.hashAt(verdict.lastGood()))
  }
}

/** Result of a check before the mark is asked. */
type Judged = Omit<Verification, 'bytes' | 'headSeq'>

/** Facts of a store before its records are read. */
interface StoreFacts {
  readonly version: number
  readonly snapshot: FoundSnapshot
  readonly summary: JournalSummary
}

/** Judges what is read of a store; the same for all of them. */
function createVerdict({ version, snapshot, summary }: StoreFacts, progress?: Progress) {
  const ledger: Ledger = createLedger()
  const good = snapshot.kind === 'good' ? snapshot : undefined
  const common = {
    version,
    ...summary,
    snapshot: snapshot.kind,
    ...defined({ snapshotSeq: good?.tail.seq }),
  }
  let lastGood = 0
  let isSnapshotTrue = holdsSnapshot()

  function holdsSnapshot(): boolean {
    if (good === undefined) return true
    const { head, part } = ledger.snapshot()
    return head === good.head && part === joinParts(good.state.identities)
  }

  const listen: Listener = (seq) => {
    lastGood = seq
    if (seq === good?.tail.seq) isSnapshotTrue = holdsSnapshot()
    progress?.(seq, summary.records)
  }

  function broken(cause: unknown, hash: string | undefined): Judged {
    if (!(cause instanceof BaseError)) throw cause
    const badSeq = typeof cause.facts.seq === 'number' ? cause.facts.seq : lastGood + 1
    const problem = `record ${badSeq}: ${String(cause.facts.reason ?? cause.shortMessage)}`
    return { ...common, tail: { seq: lastGood, hash: hash ?? '' }, badSeq, problems: [problem] }
  }

  return {
    ledger,
    listen,
    /** All records were read to the end. */
    whole(tail: Tail, { tables, endings }: TableProblems, structure: readonly string[]): Judged {
      const fold = isSnapshotTrue ? [] : ['snapshot: it does not say what the records fold to']
      return { ...common, tail, problems: [...structure, ...fold, ...tables, ...endings] }
    },
    /** Reading ended at a record that is not what was written. Throws what is no finding. */
    broken,
    /** Number of the last record that is what was written. */
    lastGood: () => lastGood,
  }
}

/** Holds the mark of this machine against the records that were found. */
function withMark(
  found: Omit<Verification, 'headSeq'>,
  mark: Tail | undefined,
  hashAt: (seq: number) => string | undefined,
): Verification {
  const loss = found.badSeq === undefined ? lossOf(mark, found.tail, hashAt) : undefined
  const problems =
    loss === undefined
      ? found.problems
      : [
          ...found.problems,
          `the high-water mark names record ${loss.lastWritten}, which the journal does not have: records were lost`,
        ]
  return { ...found, ...defined({ headSeq: mark?.seq }), problems }
}

function markOf(path: string, headPath: string | undefined): ReturnType<typeof readHighWaterMark> {
  const place = highWaterMarkPathOf(path, headPath)
  try {
    return readHighWaterMark(place)
  } catch (cause) {
    throw openFault(place, cause)
  }
}
