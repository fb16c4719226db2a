/**
 * The journal of a real daemon: one sqlite file in WAL mode, `synchronous=FULL`, one writer.
 *
 * - Group commit: records appended in one turn of the event loop share one transaction, and so one fsync.
 * - A record that may not be written (a repeated decision, a record out of order) is refused alone; its neighbours commit.
 * - Anything else that fails a commit ends the journal: every later append rejects with the same fault, since after a
 *   failed fsync nobody knows what the disk holds.
 * - Checkpoints wait for a pause, so that an order never waits for one; only a long busy stretch forces one.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { hexKey } from '../domain/address.ts'
import { BaseError } from '../domain/errors.ts'
import { type IntentState, isOpen } from '../domain/intent.ts'
import { encodeRecord, type JournalRecord, type StoredRecord } from '../domain/records.ts'
import { type AdmissionView, admitRecord } from './admission.ts'
import { journalFault, newerFault, openFault, writeFault } from './faults.ts'
import { createPrivateFile, prepareFile, syncDirectory } from './file.ts'
import type { Journal, JournalFaultError } from './journal.ts'
import { acquireWriterLock } from './lock.ts'
import { createRowReader, hashOf, type RowReader, type Tail } from './rows.ts'
import { APPLICATION_ID, migrate, readMarks, readNumber, SCHEMA_VERSION } from './schema.ts'

/** How long sqlite waits for a foreign lock, ms. Our own readers never hold one against the writer. */
const BUSY_TIMEOUT_MS = 250
/** A pause of this length after a commit is taken for a checkpoint, ms. */
const CHECKPOINT_PAUSE_MS = 50
/** Commits after which a pause is used for a checkpoint, and after which none is waited for. */
const CHECKPOINT_AFTER_COMMITS = 200
const CHECKPOINT_AT_LATEST_COMMITS = 4000
/** Size the WAL file is cut back to once it was copied, bytes. */
const WAL_KEPT_BYTES = 4 * 1024 * 1024

/** What a sqlite journal needs. */
export interface SqliteJournalOptions {
  readonly path: string
  /** Largest size of the main file, bytes; a write beyond it faults with JOURNAL_FULL. Unlimited when absent. */
  readonly maxBytes?: number
  /** Wall clock, Unix ms; stamps the lease. */
  readonly clockNow: () => number
  /** Who opens it, for the lease and for the message a second daemon gets: an account or an instance name. */
  readonly holder: string
}

interface Pending {
  readonly record: JournalRecord
  readonly body: string
  readonly resolve: (stored: StoredRecord) => void
  readonly reject: (error: unknown) => void
}

/**
 * Opens the journal for writing, making file and directory if missing, and takes the lease.
 *
 * @throws JournalFaultError with one of the codes JOURNAL_IS_DIRECTORY, JOURNAL_NOT_PERMITTED, JOURNAL_LOCKED,
 * JOURNAL_BUSY, JOURNAL_NOT_SQLITE, JOURNAL_FOREIGN, JOURNAL_NEWER, JOURNAL_CORRUPT, JOURNAL_NOT_DURABLE,
 * JOURNAL_NOT_OPENED.
 */
export function createSqliteJournal(options: SqliteJournalOptions): Journal {
  const path = prepareFile(options.path)
  const lock = acquireWriterLock(path, options.holder, options.clockNow())
  let db: DatabaseSync | undefined
  try {
    createPrivateFile(path)
    db = new DatabaseSync(path, {
      timeout: BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: false,
      allowExtension: false,
      defensive: true,
    })
    refuseForeign(db, path)
    configure(db, path, options.maxBytes)
    migrate(db, readMarks(db).version)
    syncDirectory(path)
    const reader = createRowReader(db, path)
    const tail = reader.checkTail()
    const open = reader.openIntents()
    return new SqliteJournal(db, path, reader, tail, open, takeLease(db, options), () => lock.release())
  } catch (cause) {
    if (db?.isOpen) db.close()
    lock.release()
    throw openFault(path, cause)
  }
}

/** Refuses a database that is another program's, or a newer perpd's, before anything is changed in it. */
export function refuseForeign(db: DatabaseSync, path: string): void {
  const marks = readMarks(db)
  if (marks.applicationId === 0 && marks.version === 0 && marks.objects === 0) return
  if (marks.applicationId !== APPLICATION_ID) {
    throw journalFault(
      'JOURNAL_FOREIGN',
      path,
      'The journal path is a database of another program.',
      'Nothing was changed in it. Set the journal path to another file.',
      { facts: { applicationId: marks.applicationId } },
    )
  }
  if (marks.version > SCHEMA_VERSION) {
    throw newerFault(path, { version: marks.version, readable: SCHEMA_VERSION })
  }
}

function configure(db: DatabaseSync, path: string, maxBytes: number | undefined): void {
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA fullfsync = ON')
  db.exec('PRAGMA wal_autocheckpoint = 0')
  db.exec(`PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`)
  if (maxBytes !== undefined) {
    const pages = Math.max(1, Math.floor(maxBytes / readNumber(db, 'PRAGMA page_size')))
    db.exec(`PRAGMA max_page_count = ${pages}`)
  }
  const mode = String(Object.values(db.prepare('PRAGMA journal_mode').get() ?? {})[0])
  const synchronous = readNumber(db, 'PRAGMA synchronous')
  if (mode !== 'wal' || synchronous !== 2) {
    throw journalFault(
      'JOURNAL_NOT_DURABLE',
      path,
      'The journal cannot be made durable here.',
      'perpd does not run without a durable journal. Put it on a local disk that allows sqlite WAL files.',
      { facts: { journalMode: mode, synchronous } },
    )
  }
}

function takeLease(db: DatabaseSync, options: SqliteJournalOptions): number {
  const row = db
    .prepare(
      `INSERT INTO lease (only, holder, epoch, opened_at_ms) VALUES (1, ?1, 1, ?2)
       ON CONFLICT (only) DO UPDATE SET holder = ?1, epoch = epoch + 1, opened_at_ms = ?2 RETURNING epoch`,
    )
    .get(options.holder, options.clockNow())
  return Number(row?.epoch)
}

class SqliteJournal implements Journal {
  readonly path: string
  readonly leaseEpoch: number
  readonly summary: RowReader['summary']
  readonly intents: RowReader['intents']
  readonly records: RowReader['records']
  readonly #db: DatabaseSync
  readonly #reader: RowReader
  readonly #releaseLock: () => void
  readonly #write: ReturnType<typeof prepareWrites>
  /** Open intents, oldest first; what is committed, never more. */
  readonly #open: Map<string, IntentState>
  #tail: Tail
  #intentCount: number
  #queue: Pending[] = []
  #fault: JournalFaultError | undefined
  #closed = false
  #commitsSinceCheckpoint = 0
  #checkpointTimer: NodeJS.Timeout | undefined

  constructor(
    db: DatabaseSync,
    path: string,
    reader: RowReader,
    tail: Tail,
    open: readonly IntentState[],
    leaseEpoch: number,
    releaseLock: () => void,
  ) {
    this.#db = db
    this.path = path
    this.#reader = reader
    this.#tail = tail
    this.#open = new Map(open.map((state) => [state.intent.intentId, state]))
    this.leaseEpoch = leaseEpoch
    this.#releaseLock = releaseLock
    this.#write = prepareWrites(db)
    this.#intentCount = reader.summary().intents
    this.summary = reader.summary
    this.intents = reader.intents
    this.records = reader.records
  }

  intent(intentId: string): IntentState | undefined {
    return this.#open.get(intentId) ?? this.#reader.intent(intentId)
  }

  openIntents(): readonly IntentState[] {
    return [...this.#open.values()]
  }

  hasDecision(strategy: string, decisionKey: string): boolean {
    return this.#write.findDecision.get(strategy, decisionKey) !== undefined
  }

  explains(orderKey: string, exceptIntentId: string): boolean {
    return this.#write.findChild.get(hexKey(orderKey), exceptIntentId) !== undefined
  }

  acceptedSince(sinceMs: number, strategy?: string): number {
    return Number(this.#write.countAccepted.get(sinceMs, strategy ?? null)?.accepted)
  }

  append(record: JournalRecord): Promise<StoredRecord> {
    return new Promise((resolve, reject) => {
      if (this.#fault) throw this.#fault
      if (this.#closed) throw closedFault(this.path)
      this.#queue.push({ record, body: encodeRecord(record), resolve, reject })
      if (this.#queue.length === 1) setImmediate(() => this.#flush())
    })
  }

  /** Commits what waits, stops checkpoints, and gives the lock back. Safe to call twice. */
  close(): void {
    if (this.#closed) return
    this.#flush()
    this.#closed = true
    clearTimeout(this.#checkpointTimer)
    this.#db.close()
    this.#releaseLock()
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
      for (const entry of group) settled.push(this.#writeOne(entry, touched))
      this.#db.exec('COMMIT')
    } catch (cause) {
      this.#tail = tail
      this.#intentCount = intentCount
      this.#fail(writeFault(this.path, group.length, cause), group)
      return
    }
    for (const [intentId, state] of touched) {
      if (isOpen(state)) this.#open.set(intentId, state)
      else this.#open.delete(intentId)
    }
    for (const settle of settled) settle()
    this.#planCheckpoint()
  }

  /** Writes one record of the group, or refuses it alone; throws what sqlite throws. */
  #writeOne(entry: Pending, touched: Map<string, IntentState>): () => void {
    const { record, body } = entry
    const view: AdmissionView = {
      state: (intentId) => touched.get(intentId) ?? this.intent(intentId),
      hasDecision: (strategy, decisionKey) => this.hasDecision(strategy, decisionKey),
      digestOwner: (router, digest) => {
        const row = this.#write.findDigest.get(hexKey(router), hexKey(digest))
        return row === undefined ? undefined : String(row.intent_id)
      },
    }
    let state: IntentState
    try {
      state = admitRecord(view, record)
    } catch (refusal) {
      if (!(refusal instanceof BaseError)) throw refusal
      return () => entry.reject(refusal)
    }
    const seq = this.#tail.seq + 1
    const hash = hashOf(this.#tail.hash, seq, body)
    const attempt = 'attempt' in record ? record.attempt : null
    this.#write.insertRecord.run(seq, record.atMs, record.intentId, record.kind, attempt, body, hash)
    this.#writeIndexes(record)
    this.#tail = { seq, hash }
    touched.set(record.intentId, state)
    return () => entry.resolve({ seq, record })
  }

  #writeIndexes(record: JournalRecord): void {
    const write = this.#write
    const { intentId } = record
    if (record.kind === 'intent.accepted') {
      const { strategy, decisionKey, acceptedAtMs, reservationUsd } = record.intent
      this.#intentCount += 1
      const reservation = reservationUsd.toString()
      write.insertIntent.run(this.#intentCount, intentId, strategy, decisionKey, acceptedAtMs, reservation)
    } else if (record.kind === 'attempt.armed') {
      const router = hexKey(record.armed.router)
      const digest = hexKey(record.armed.digest)
      write.insertDigest.run(router, digest, intentId, record.attempt)
      write.insertLive.run(intentId, record.attempt, router, digest)
    } else if (record.kind === 'landed') {
      for (const orderKey of record.orderKeys) write.insertChild.run(hexKey(orderKey), intentId)
    } else if (record.kind === 'attempt.dead' || record.kind === 'attempt.void') {
      write.deleteLive.run(intentId)
    } else if (record.kind === 'intent.closed') {
      write.deleteLive.run(intentId)
      write.closeIntent.run(intentId)
    }
  }

  #fail(fault: JournalFaultError, group: readonly Pending[]): void {
    this.#fault = fault
    clearTimeout(this.#checkpointTimer)
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    } catch {
      // The fault that is being reported is the one that counts; the process is about to end.
    }
    for (const entry of group) entry.reject(fault)
  }

  #planCheckpoint(): void {
    this.#commitsSinceCheckpoint += 1
    if (this.#commitsSinceCheckpoint < CHECKPOINT_AFTER_COMMITS) return
    clearTimeout(this.#checkpointTimer)
    const pauseMs = this.#commitsSinceCheckpoint < CHECKPOINT_AT_LATEST_COMMITS ? CHECKPOINT_PAUSE_MS : 0
    this.#checkpointTimer = setTimeout(() => this.#checkpoint(), pauseMs)
    this.#checkpointTimer.unref()
  }

  #checkpoint(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      this.#commitsSinceCheckpoint = 0
    } catch (cause) {
      this.#fail(writeFault(this.path, this.#queue.length, cause), this.#queue.splice(0))
    }
  }
}

function closedFault(path: string): JournalFaultError {
  return journalFault(
    'JOURNAL_CLOSED',
    path,
    'The journal was closed; the record was not written.',
    'Nothing was sent. perpd was stopping; the intent is taken up again at the next start.',
  )
}

function prepareWrites(db: DatabaseSync): Readonly<Record<WriteName, StatementSync>> {
  return {
    insertRecord: db.prepare(
      'INSERT INTO record (seq, at_ms, intent_id, kind, attempt, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    insertIntent: db.prepare(
      `INSERT INTO intent (number, intent_id, strategy, decision_key, accepted_at_ms, reservation_usd, open)
       VALUES (?, ?, ?, ?, ?, ?, 1)`,
    ),
    closeIntent: db.prepare('UPDATE intent SET open = 0 WHERE intent_id = ?'),
    insertDigest: db.prepare('INSERT INTO digest (router, digest, intent_id, attempt) VALUES (?, ?, ?, ?)'),
    insertLive: db.prepare(
      'INSERT INTO live_attempt (intent_id, attempt, router, digest) VALUES (?, ?, ?, ?)',
    ),
    deleteLive: db.prepare('DELETE FROM live_attempt WHERE intent_id = ?'),
    insertChild: db.prepare('INSERT OR IGNORE INTO child_order (order_key, intent_id) VALUES (?, ?)'),
    findChild: db.prepare('SELECT 1 AS found FROM child_order WHERE order_key = ? AND intent_id <> ?'),
    findDecision: db.prepare('SELECT 1 AS found FROM intent WHERE strategy = ? AND decision_key = ?'),
    findDigest: db.prepare('SELECT intent_id FROM digest WHERE router = ? AND digest = ?'),
    countAccepted: db.prepare(
      'SELECT count(*) AS accepted FROM intent WHERE accepted_at_ms >= ?1 AND (?2 IS NULL OR strategy = ?2)',
    ),
  }
}

type WriteName =
  | 'insertRecord'
  | 'insertIntent'
  | 'closeIntent'
  | 'insertDigest'
  | 'insertLive'
  | 'deleteLive'
  | 'insertChild'
  | 'findChild'
  | 'findDecision'
  | 'findDigest'
  | 'countAccepted'
