/** Opening the journal's file for writing: checks, lock, schema, recovery, mark and lease, in this order. */
import type { DatabaseSync } from 'node:sqlite'
import { defined } from '../../base/defined.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { ballastOf, makeRoom, withRoom } from '../ballast.ts'
import { freeBytesBeside } from '../freeSpace.ts'
import { createJournal } from '../groupCommit.ts'
import type { Journal } from '../journal.ts'
import { corruptFault, openFault } from '../journalFaults.ts'
import { type Ledger, reachesBack, recallLimits, recallSinceMs } from '../journalLedger.ts'
import { createPrivateFile, prepareFile, syncDirectory } from '../journalPath.ts'
import type { JournalStore } from '../journalStore.ts'
import { acquireWriterLock } from '../lock.ts'
import { defaultMaintenance, type Maintenance } from '../maintenance.ts'
import { askedSeldom, createSpaceCheck } from './diskSpace.ts'
import { createFileWriter, type FileWriter } from './fileWriter.ts'
import type { Tail } from './hashChain.ts'
import { type HighWaterMark, highWaterMarkPathOf, type Loss, openHighWaterMark } from './highWaterMark.ts'
import { type Lease, takeLease } from './lease.ts'
import { configure, connect, leaveToThread, refuseForeign } from './pragmas.ts'
import { recover } from './recovery.ts'
import { createRowReader, type RowReader } from './sqliteRows.ts'
import { createTables, schemaProblem } from './sqliteSchema.ts'
import { createSqliteStore } from './sqliteStore.ts'
import { startThreadWriter } from './threadWriter.ts'
import { writeSnapshot } from './writeSnapshot.ts'

/** Options of a sqlite journal. */
export interface SqliteJournalOptions {
  readonly path: string
  /** File of the high-water mark; beside the journal when absent or empty. */
  readonly headPath?: string
  /** Largest size of the main file, bytes; a write beyond it faults with JOURNAL_FULL. Unlimited when absent. */
  readonly maxBytes?: number
  /** Takes from the disk what a full one would not give: a ballast next to the journal, and the first part of the WAL. */
  readonly isReserved?: boolean
  /** Writes in a thread of its own, so that the event loop goes on while a commit waits for the disk. A command writes where it is. */
  readonly inThread?: boolean
  /** Free bytes of the disk; asked of the system where absent. */
  readonly freeBytes?: () => number | undefined
  /** Wall clock, Unix ms; stamps the lease. */
  readonly clockNow: () => number
  /** Name of the writer, for the lease and for the message to a second daemon: an account or an instance name. */
  readonly holder: string
  /** Told while records are read: how many are, of how many. */
  readonly progress?: (done: number, total: number) => void
  /** When snapshots and checkpoints are due; as `defaultMaintenance` where nothing is said. */
  readonly maintenance?: Partial<Maintenance>
  /** Runs a commit once what was appended together is in; in the next turn of the event loop where absent. */
  readonly soon?: (commit: () => void) => void
}

/** Rules of an opening that differs from a daemon's. */
export interface OpeningRules {
  /** Goes on although records were lost. The caller must then append what makes that safe. */
  readonly acceptLoss?: boolean
  /** Reads all records from the first and writes a new snapshot, whatever snapshot there is. */
  readonly compact?: boolean
}

/** An opened journal, and what opening found. */
export interface OpenedJournal {
  readonly journal: Journal
  /** Only with `acceptLoss`: what is gone. */
  readonly loss?: Loss
  /** Only of a server: it was replaced since the newest record, and acknowledged records may be gone. */
  readonly mayMissRecords?: true
  /** Record from which the records were read: that of the snapshot, or 0. */
  readonly replayedFrom: number
}

/** An opened store, with the ledger of what it holds. */
export interface OpenedStore extends Omit<OpenedJournal, 'journal'> {
  readonly store: JournalStore
  readonly ledger: Ledger
  readonly snapshotSeq: number
  readonly maintenance: Maintenance
  /** Where the chain of records ended when it was opened. */
  readonly tail: Tail
}

/**
 * Opens the journal for writing, making file and directory if missing, and takes the lease.
 *
 * @throws JournalFaultError with one of the codes JOURNAL_IS_DIRECTORY, JOURNAL_NOT_PERMITTED, JOURNAL_LOCKED,
 * JOURNAL_BUSY, JOURNAL_NOT_SQLITE, JOURNAL_FOREIGN, JOURNAL_NEWER, JOURNAL_CORRUPT, JOURNAL_NOT_DURABLE,
 * JOURNAL_ROLLED_BACK, JOURNAL_NOT_OPENED.
 */
export function createSqliteJournal(options: SqliteJournalOptions): Journal {
  return openSqliteJournal(options, {}).journal
}

/** As `createSqliteJournal`, by other rules, and tells what it found. */
export function openSqliteJournal(options: SqliteJournalOptions, rules: OpeningRules): OpenedJournal {
  const { store, ledger, snapshotSeq, maintenance, ...found } = openSqliteStore(options, rules)
  const soon =
    options.soon ??
    ((commit: () => void): void => {
      setImmediate(commit)
    })
  return { ...found, journal: createJournal({ store, ledger, snapshotSeq, maintenance, soon }) }
}

/**
 * As `openSqliteJournal`, to the store. The ledger is folded here, at once and not through the store: lease, mark and folds
 * must be of one transaction.
 */
export function openSqliteStore(options: SqliteJournalOptions, rules: OpeningRules): OpenedStore {
  return withRoom(
    () => openOnce(options, rules),
    (error) => makeRoom(ballastOf(options.path), error),
  )
}

function openOnce(options: SqliteJournalOptions, rules: OpeningRules): OpenedStore {
  const path = prepareFile(options.path)
  const lock = acquireWriterLock(path, options.holder, options.clockNow())
  let db: DatabaseSync | undefined
  let highWaterMark: HighWaterMark | undefined
  try {
    createPrivateFile(path)
    db = connect(path)
    const opened = db
    refuseForeign(opened, path)
    configure(opened, path, options.maxBytes)
    createTables(opened)
    const changed = schemaProblem(opened)
    if (changed !== undefined) throw corruptFault(path, { reason: changed })
    syncDirectory(path)
    const reader = createRowReader(opened, path)
    const read = () => recover(opened, path, reader.hashAt, rules.compact !== true, options.progress)
    let recovery = read()
    const nowMs = options.clockNow()
    opened.exec('BEGIN IMMEDIATE')
    // A writer whose lock did not hold may have gone on while we read: what it wrote is read too, and it writes no more.
    while (reader.summary().records !== recovery.tail.seq) {
      opened.exec('ROLLBACK')
      recovery = read()
      opened.exec('BEGIN IMMEDIATE')
    }
    const { tail, ledger, replayedFrom } = recovery
    highWaterMark = openHighWaterMark(
      path,
      highWaterMarkPathOf(path, options.headPath),
      tail,
      reader.hashAt,
      rules.acceptLoss,
    )
    const lease = takeLease(opened, path, options.holder, nowMs)
    opened.exec('COMMIT')
    if (replayedFrom > 0) recall(ledger, reader, nowMs)
    const maintenance = { ...defaultMaintenance, ...options.maintenance }
    const freeBytes = options.freeBytes ?? askedSeldom(() => freeBytesBeside(path))
    const space = createSpaceCheck(opened, options.maxBytes, freeBytes)
    const isDue = tail.seq - replayedFrom >= maintenance.snapshotEveryRecords
    const mustKeep = rules.compact === true || (isDue && !space.isShort())
    if (mustKeep) keepSnapshot(opened, lease, tail, ledger)
    space.wrote()
    // By the name that was given: beside a link too.
    const guardPath = `${options.path}.signed`
    const ballast = ballastOf(options.path)
    const { loss } = highWaterMark
    const goesOn = { path, tail, intents: reader.summary().intents, ballast }
    const marked = highWaterMark
    const writerOf = (tookRoom: () => void): FileWriter => {
      if (options.inThread !== true)
        return createFileWriter({ ...goesOn, db: opened, lease, highWaterMark: marked, tookRoom })
      highWaterMark = undefined
      marked.close()
      leaveToThread(opened)
      const headPath = highWaterMarkPathOf(path, options.headPath)
      return startThreadWriter(
        { ...goesOn, headPath, maxBytes: options.maxBytes, leaseEpoch: lease.epoch },
        tookRoom,
      )
    }
    const isReserved = options.isReserved === true
    const store = createSqliteStore(
      { db: opened, path, lease, reader, lock, space, guardPath, ballast, isReserved },
      writerOf,
    )
    return {
      store,
      ledger,
      tail,
      maintenance,
      snapshotSeq: mustKeep ? tail.seq : replayedFrom,
      replayedFrom,
      ...defined({ loss }),
    }
  } catch (cause) {
    highWaterMark?.close()
    if (db?.isOpen) db.close()
    lock.release()
    throw openFault(path, cause)
  }
}

/** Reads from the tables what the snapshot left out. */
function recall(ledger: Ledger, reader: RowReader, nowMs: number): void {
  let intents: readonly IntentState[] = []
  for (const limit of recallLimits) {
    intents = reader.intents({ limit })
    if (reachesBack(intents, limit)) break
  }
  ledger.recall(intents, reader.endingsSince(recallSinceMs(ledger, nowMs)))
}

function keepSnapshot(db: DatabaseSync, lease: Lease, tail: Tail, ledger: Ledger): void {
  const snapshot = ledger.snapshot()
  db.exec('BEGIN IMMEDIATE')
  lease.check()
  writeSnapshot(db, tail, snapshot)
  db.exec('COMMIT')
  ledger.kept(snapshot)
}
