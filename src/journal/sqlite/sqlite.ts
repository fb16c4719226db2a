/**
 * The journal of a real daemon: one sqlite file in WAL mode, `synchronous=FULL`, one writer.
 *
 * - Group commit: records appended in one turn of the event loop share one transaction, and so one fsync.
 * - A record that may not be written (a repeated decision, a record out of order) is refused alone; its neighbours commit.
 * - Every transaction asks first whether the lease is still ours: a writer that another has replaced writes nothing.
 * - Anything else that fails a commit ends the journal: every later append rejects with the same fault, since after a
 *   failed fsync nobody knows what the disk holds.
 * - Checkpoints wait for a pause, so that an order never waits for one; only a long busy stretch forces one. The snapshot
 *   that keeps the next start short is written with them.
 */
import { DatabaseSync } from 'node:sqlite'
import { BaseError } from '../../base/errors.ts'
import {
  type AccountRecord,
  type AccountState,
  applyAccountRecord,
} from '../../domain/account/accountRecord.ts'
import { type IntentState, isOpen } from '../../domain/order/intent.ts'
import {
  type AnyRecord,
  encodeRecord,
  isAccountRecord,
  type JournalRecord,
  type StoredRecord,
} from '../../domain/records.ts'
import { type Journal, JournalFaultError } from '../journal.ts'
import { corruptFault, journalFault, openFault, writeFault } from '../journalFaults.ts'
import { createPrivateFile, prepareFile, syncDirectory } from '../journalPath.ts'
import { acquireWriterLock, type WriterLock } from '../lock.ts'
import { type AdmissionView, admitRecord } from '../recordAdmission.ts'
import { createSpaceCheck, freeBytesBeside } from './diskSpace.ts'
import { type HighWaterMark, highWaterMarkPathOf, type Loss, openHighWaterMark } from './highWaterMark.ts'
import { writeSnapshot } from './journalSnapshot.ts'
import { type Lease, takeLease } from './lease.ts'
import { type CheckpointPlan, defaultMaintenance, type Maintenance, planCheckpoints } from './maintenance.ts'
import { configure, refuseForeign } from './pragmas.ts'
import { fillSums, type Recovery, recover } from './recovery.ts'
import { createRowReader, hashOf, type RowReader, type Tail } from './sqliteRows.ts'
import { migrate, readMarks, schemaProblem } from './sqliteSchema.ts'
import { createRowWriter, type RowWriter } from './writes.ts'

/** How long sqlite waits for a foreign lock, ms. Our own readers never hold one against the writer. */
const BUSY_TIMEOUT_MS = 250

/** What a sqlite journal needs. */
export interface SqliteJournalOptions {
  readonly path: string
  /** File of the high-water mark; beside the journal when absent or empty. */
  readonly headPath?: string
  /** Largest size of the main file, bytes; a write beyond it faults with JOURNAL_FULL. Unlimited when absent. */
  readonly maxBytes?: number
  /** Free bytes of the disk; asked of the system where absent. */
  readonly freeBytes?: () => number | undefined
  /** Wall clock, Unix ms; stamps the lease. */
  readonly clockNow: () => number
  /** Who opens it, for the lease and for the message a second daemon gets: an account or an instance name. */
  readonly holder: string
  /** When snapshots and checkpoints are due; as `usualUpkeep` where nothing is said. */
  readonly maintenance?: Partial<Maintenance>
}

interface Pending {
  readonly record: AnyRecord
  readonly body: string
  readonly resolve: (seq: number) => void
  readonly reject: (error: unknown) => void
}

/** How a journal is opened when not as a daemon opens it. */
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
  /** Record from which the records were read: that of the snapshot, or 0. */
  readonly replayedFrom: number
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
  const path = prepareFile(options.path)
  const lock = acquireWriterLock(path, options.holder, options.clockNow())
  let db: DatabaseSync | undefined
  let highWaterMark: HighWaterMark | undefined
  try {
    createPrivateFile(path)
    db = new DatabaseSync(path, {
      timeout: BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: false,
      allowExtension: false,
      defensive: true,
    })
    const opened = db
    refuseForeign(opened, path)
    configure(opened, path, options.maxBytes)
    migrate(opened, readMarks(opened).version, (version) => {
      if (version === 1) fillSums(opened, path)
    })
    const changed = schemaProblem(opened)
    if (changed !== undefined) throw corruptFault(path, { reason: changed })
    syncDirectory(path)
    const reader = createRowReader(opened, path)
    const read = () => recover(opened, path, reader.hashAt, rules.compact !== true)
    let recovery = read()
    const nowMs = options.clockNow()
    opened.exec('BEGIN IMMEDIATE')
    // A writer whose lock did not hold may have gone on while we read: what it wrote is read too, and it writes no more.
    while (reader.summary().records !== recovery.tail.seq) {
      opened.exec('ROLLBACK')
      recovery = read()
      opened.exec('BEGIN IMMEDIATE')
    }
    highWaterMark = openHighWaterMark(
      path,
      highWaterMarkPathOf(path, options.headPath),
      recovery.tail,
      reader.hashAt,
      rules.acceptLoss,
    )
    const lease = takeLease(opened, path, options.holder, nowMs)
    opened.exec('COMMIT')
    const maintenance = { ...defaultMaintenance, ...options.maintenance }
    const mustKeep =
      rules.compact === true || recovery.tail.seq - recovery.replayedFrom >= maintenance.snapshotEveryRecords
    if (mustKeep) keepSnapshot(opened, lease, recovery)
    const snapshotSeq = mustKeep ? recovery.tail.seq : recovery.replayedFrom
    const journal = new SqliteJournal({
      db: opened,
      path,
      reader,
      recovery,
      snapshotSeq,
      lease,
      highWaterMark,
      lock,
      maintenance,
      isShort: createSpaceCheck(opened, options.maxBytes, options.freeBytes ?? (() => freeBytesBeside(path))),
    })
    const { loss } = highWaterMark
    return { journal, replayedFrom: recovery.replayedFrom, ...(loss === undefined ? {} : { loss }) }
  } catch (cause) {
    highWaterMark?.close()
    if (db?.isOpen) db.close()
    lock.release()
    throw openFault(path, cause)
  }
}

function keepSnapshot(db: DatabaseSync, lease: Lease, folded: Parameters<typeof writeSnapshot>[1]): void {
  db.exec('BEGIN IMMEDIATE')
  lease.check()
  writeSnapshot(db, folded)
  db.exec('COMMIT')
}

/** What opening made; the journal owns it from then on. */
interface OpenedParts {
  readonly db: DatabaseSync
  readonly path: string
  readonly reader: RowReader
  readonly recovery: Recovery
  readonly snapshotSeq: number
  readonly lease: Lease
  readonly highWaterMark: HighWaterMark
  readonly lock: WriterLock
  readonly maintenance: Maintenance
  readonly isShort: () => boolean
}

class SqliteJournal implements Journal {
  readonly path: string
  readonly leaseEpoch: number
  readonly summary: RowReader['summary']
  readonly intents: RowReader['intents']
  readonly records: RowReader['records']
  readonly closedFills: RowWriter['closedFills']
  readonly endingsSince: RowReader['endingsSince']
  readonly changesSince: RowReader['changesSince']
  readonly hasDecision: RowWriter['hasDecision']
  readonly explains: RowWriter['explains']
  readonly acceptedSince: RowWriter['acceptedSince']
  readonly isShort: () => boolean
  readonly #db: DatabaseSync
  readonly #reader: RowReader
  readonly #lease: Lease
  readonly #highWaterMark: HighWaterMark
  readonly #lock: WriterLock
  readonly #writer: RowWriter
  readonly #maintenance: Maintenance
  readonly #checkpoints: CheckpointPlan
  /** Open intents, oldest first; what is committed, never more. */
  readonly #open: Map<string, IntentState>
  #account: AccountState
  #tail: Tail
  #snapshotSeq: number
  #intentCount: number
  #queue: Pending[] = []
  #fault: JournalFaultError | undefined
  #closed = false

  constructor({
    db,
    path,
    reader,
    recovery,
    snapshotSeq,
    lease,
    highWaterMark,
    lock,
    maintenance,
    isShort,
  }: OpenedParts) {
    this.#db = db
    this.path = path
    this.#reader = reader
    this.#tail = recovery.tail
    this.#account = recovery.account
    this.#snapshotSeq = snapshotSeq
    this.#highWaterMark = highWaterMark
    this.#lock = lock
    this.#maintenance = maintenance
    this.isShort = isShort
    this.#checkpoints = planCheckpoints(maintenance, () => this.#checkpoint())
    this.#open = new Map(recovery.open)
    this.#lease = lease
    this.leaseEpoch = lease.epoch
    this.#writer = createRowWriter(db)
    this.hasDecision = this.#writer.hasDecision
    this.explains = this.#writer.explains
    this.acceptedSince = this.#writer.acceptedSince
    this.#intentCount = reader.summary().intents
    this.summary = reader.summary
    this.intents = reader.intents
    this.records = reader.records
    this.closedFills = this.#writer.closedFills
    this.endingsSince = reader.endingsSince
    this.changesSince = reader.changesSince
  }

  intent(intentId: string): IntentState | undefined {
    return this.#open.get(intentId) ?? this.#reader.intent(intentId)
  }

  account(): AccountState {
    return this.#account
  }

  openIntents(): readonly IntentState[] {
    return [...this.#open.values()]
  }

  async append(record: JournalRecord): Promise<StoredRecord> {
    return { seq: await this.#enqueue(record), record }
  }

  async appendAccount(record: AccountRecord): Promise<void> {
    await this.#enqueue(record)
  }

  #enqueue(record: AnyRecord): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#fault) throw this.#fault
      if (this.#closed) throw closedFault(this.path)
      this.#queue.push({ record, body: encodeRecord(record), resolve, reject })
      if (this.#queue.length === 1) setImmediate(() => this.#flush())
    })
  }

  /**
   * Commits what waits, keeps a snapshot if one is due, and gives the lock back. Safe to call twice.
   *
   * @throws JournalFaultError when the snapshot cannot be written; no record is lost by that.
   */
  close(): void {
    if (this.#closed) return
    this.#flush()
    this.#closed = true
    this.#checkpoints.cancel()
    try {
      if (this.#fault === undefined) this.#keepSnapshotIfDue()
    } catch (cause) {
      throw faultOf(this.path, 0, cause)
    } finally {
      this.#letGo()
    }
  }

  #letGo(): void {
    try {
      this.#db.close()
      this.#highWaterMark.close()
    } finally {
      this.#lock.release()
    }
  }

  #flush(): void {
    const group = this.#queue
    if (group.length === 0) return
    this.#queue = []
    const settled: (() => void)[] = []
    const touched = new Map<string, IntentState>()
    const tail = this.#tail
    const intentCount = this.#intentCount
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      this.#lease.check()
      for (const entry of group) settled.push(this.#writeOne(entry, touched))
      this.#db.exec('COMMIT')
      if (this.#tail !== tail) this.#highWaterMark.write(this.#tail)
    } catch (cause) {
      this.#tail = tail
      this.#intentCount = intentCount
      this.#fail(faultOf(this.path, group.length, cause), group)
      return
    }
    for (const [intentId, state] of touched) {
      if (isOpen(state)) this.#open.set(intentId, state)
      else this.#open.delete(intentId)
    }
    for (const { record } of group) {
      if (isAccountRecord(record)) this.#account = applyAccountRecord(this.#account, record)
    }
    for (const settle of settled) settle()
    this.#checkpoints.committed()
  }

  /** Writes one record of the group, or refuses it alone; throws what sqlite throws. */
  #writeOne(entry: Pending, touched: Map<string, IntentState>): () => void {
    const { record, body } = entry
    const view: AdmissionView = {
      state: (intentId) => touched.get(intentId) ?? this.intent(intentId),
      hasDecision: this.hasDecision,
      digestOwner: this.#writer.digestOwner,
    }
    let state: IntentState | undefined
    try {
      if (!isAccountRecord(record)) state = admitRecord(view, record)
    } catch (refusal) {
      if (!(refusal instanceof BaseError)) throw refusal
      return () => entry.reject(refusal)
    }
    const seq = this.#tail.seq + 1
    const hash = hashOf(this.#tail.hash, seq, body)
    this.#writer.write(record, body, seq, hash, this.#intentCount, state)
    if (record.kind === 'intent.accepted') this.#intentCount += 1
    this.#tail = { seq, hash }
    if (state !== undefined) touched.set(record.intentId, state)
    return () => entry.resolve(seq)
  }

  #fail(fault: JournalFaultError, group: readonly Pending[]): void {
    this.#fault = fault
    this.#checkpoints.cancel()
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    } catch {
      // The fault that is being reported is the one that counts; the process is about to end.
    }
    for (const entry of group) entry.reject(fault)
  }

  #keepSnapshotIfDue(): void {
    if (this.#tail.seq - this.#snapshotSeq < this.#maintenance.snapshotEveryRecords) return
    keepSnapshot(this.#db, this.#lease, { tail: this.#tail, open: this.#open, account: this.#account })
    this.#snapshotSeq = this.#tail.seq
  }

  #checkpoint(): void {
    try {
      this.#keepSnapshotIfDue()
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      this.#checkpoints.made()
    } catch (cause) {
      this.#fail(faultOf(this.path, this.#queue.length, cause), this.#queue.splice(0))
    }
  }
}

/** What ended a transaction: the lease went to another, or the disk failed. */
function faultOf(path: string, records: number, cause: unknown): JournalFaultError {
  return cause instanceof JournalFaultError ? cause : writeFault(path, records, cause)
}

function closedFault(path: string): JournalFaultError {
  return journalFault(
    'JOURNAL_CLOSED',
    path,
    'The journal was closed; the record was not written.',
    'Nothing is sent after this. perpd was stopping; open orders are taken up again at the next start.',
  )
}
