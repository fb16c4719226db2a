/**
 * The store of a real daemon: one sqlite file in WAL mode, `synchronous=FULL`, one writer. sqlite itself works at once, on the
 * thread that calls it: a commit is done when its call returns.
 *
 * - Every transaction asks first whether the lease is still ours: a writer that another has replaced writes nothing.
 * - A transaction that finds no space is rolled back, and made again as long as the ballast gives some.
 * - Anything else that fails a commit ends the store, since after a failed fsync nobody knows what the disk holds.
 * - A snapshot or a checkpoint that finds no space is left for later: every record is where it was.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Ending } from '../../domain/account/spend.ts'
import type { GuardTable, GuardTableOptions } from '../../domain/guardTable.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { decodeAnyRecord, type StoredRecord } from '../../domain/records.ts'
import { fillBallast, isDiskFull, makeRoom, reserveWal, takeForWal, withRoom } from '../ballast.ts'
import { openGuardFile } from '../guardFile.ts'
import { type IntentQuery, JournalFaultError } from '../journal.ts'
import { closedFault, corruptFault, recordFault, writeFault } from '../journalFaults.ts'
import type { JournalStore, KeptRecord, StoreEntry } from '../journalStore.ts'
import type { KeptSnapshot, LedgerSnapshot } from '../ledgerState.ts'
import type { WriterLock } from '../lock.ts'
import type { HighWaterMark } from './highWaterMark.ts'
import { readSnapshot, writeSnapshot } from './journalSnapshot.ts'
import type { Lease } from './lease.ts'
import { hashOf, type RowReader, type Tail } from './sqliteRows.ts'
import { createRowWriter, type RowWriter } from './writes.ts'

/** Records of a page. */
const PAGE = 1_000

/** What opening made; the store owns it from then on. */
export interface OpenedParts {
  readonly db: DatabaseSync
  readonly path: string
  readonly reader: RowReader
  /** Where the chain of records ends. */
  readonly tail: Tail
  readonly lease: Lease
  readonly highWaterMark: HighWaterMark
  readonly lock: WriterLock
  readonly isShort: () => boolean
  /** File of the signing guard's table. */
  readonly guardPath: string
  /** File of bytes that are given up where the disk has none. */
  readonly ballast: string
  /** True once the ballast and the first part of the WAL are taken from the disk. */
  readonly isReserved: boolean
}

/** The store over an opened file. */
export function createSqliteStore(parts: OpenedParts): JournalStore {
  return new SqliteStore(parts)
}

class SqliteStore implements JournalStore {
  readonly path: string
  readonly leaseEpoch: number
  readonly #isShort: () => boolean
  readonly #ballast: string
  readonly #isReserved: boolean
  readonly #db: DatabaseSync
  readonly #reader: RowReader
  readonly #writer: RowWriter
  readonly #lease: Lease
  readonly #highWaterMark: HighWaterMark
  readonly #lock: WriterLock
  readonly #guardPath: string
  #tail: Tail
  #intents: number
  #fault: unknown
  #isClosed = false
  /** The ballast lacks bytes, as far as this process knows. */
  #isReserveDue = true

  constructor(parts: OpenedParts) {
    const { db, path, reader, tail, lease, highWaterMark, lock, isShort, guardPath } = parts
    this.#guardPath = guardPath
    this.#ballast = parts.ballast
    this.#isReserved = parts.isReserved
    this.path = path
    this.leaseEpoch = lease.epoch
    this.#isShort = isShort
    this.#db = db
    this.#reader = reader
    this.#writer = createRowWriter(db)
    this.#lease = lease
    this.#highWaterMark = highWaterMark
    this.#lock = lock
    this.#tail = tail
    this.#intents = reader.summary().intents
    this.isShort()
  }

  /**
   * True while only required records may be written. With space again, the reserve is taken again, and before it is whole nothing
   * that adds risk is written: a way out may need it.
   */
  isShort(): boolean {
    const isShort = this.#isShort()
    if (isShort || !this.#isReserveDue || !this.#isReserved) return isShort
    this.#isReserveDue = !(reserveWal(this.path) && fillBallast(this.#ballast))
    return this.#isReserveDue
  }

  async append(entries: readonly StoreEntry[]): Promise<number> {
    let tail = this.#tail
    let intents = this.#intents
    this.#guarded(entries.length, () => {
      this.#transact(() => {
        ;({ tail, intents } = { tail: this.#tail, intents: this.#intents })
        for (const entry of entries) {
          const seq = tail.seq + 1
          const hash = hashOf(tail.hash, seq, entry.body)
          this.#writer.write(entry, seq, hash, intents)
          if (entry.record.kind === 'intent.accepted') intents += 1
          tail = { seq, hash }
        }
      })
      if (tail !== this.#tail) withRoom(this.#ballast, () => this.#highWaterMark.write(tail))
    })
    this.#tail = tail
    this.#intents = intents
    return tail.seq
  }

  async *read(afterSeq: number): AsyncIterable<readonly KeptRecord[]> {
    const select = this.#db.prepare('SELECT seq, body, hash FROM record WHERE seq > ? ORDER BY seq LIMIT ?')
    let hash = this.#reader.hashAt(afterSeq)
    let seq = afterSeq
    for (;;) {
      const rows = select.all(seq, PAGE)
      if (rows.length === 0) return
      const page = rows.map((row): KeptRecord => {
        seq += 1
        const body = String(row.body)
        if (row.seq !== seq || hash === undefined)
          throw corruptFault(this.path, { seq, reason: 'the record is missing' })
        hash = hashOf(hash, seq, body)
        if (row.hash !== hash)
          throw corruptFault(this.path, { seq, reason: 'the record does not match its hash' })
        try {
          return { seq, record: decodeAnyRecord(body) }
        } catch (cause) {
          throw recordFault(this.path, seq, cause)
        }
      })
      yield page
    }
  }

  async snapshot(): Promise<KeptSnapshot | undefined> {
    const found = readSnapshot(this.#db, this.#reader.hashAt)
    return found.kind === 'good' ? { seq: found.tail.seq, head: found.head, parts: found.parts } : undefined
  }

  async keep(snapshot: LedgerSnapshot): Promise<void> {
    this.#guarded(0, () => {
      if (snapshot.seq !== this.#tail.seq) {
        throw new TypeError(`a snapshot at record ${snapshot.seq}; the newest is ${this.#tail.seq}`)
      }
      this.#transact(() => writeSnapshot(this.#db, this.#tail, snapshot), false)
    })
  }

  async maintain(): Promise<void> {
    this.#guarded(0, () => withRoom(this.#ballast, () => this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')))
  }

  async intents(query?: IntentQuery): Promise<readonly IntentState[]> {
    return this.#reader.intents(query)
  }

  async records(intentId: string): Promise<readonly StoredRecord[]> {
    return this.#reader.records(intentId)
  }

  async intent(intentId: string): Promise<IntentState | undefined> {
    return this.#reader.intent(intentId)
  }

  async endingsSince(sinceMs: number): Promise<readonly Ending[]> {
    return this.#reader.endingsSince(sinceMs)
  }

  openGuardTable(options: GuardTableOptions): GuardTable {
    return openGuardFile({
      ...options,
      path: this.#guardPath,
      makeRoom: (error) => this.#makeRoom(error),
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      this.#db.close()
      this.#highWaterMark.close()
    } finally {
      this.#lock.release()
    }
  }

  /** One transaction that begins with the question whether the lease is still ours. */
  #transact(write: () => void, mayTakeRoom = true): void {
    for (;;) {
      try {
        this.#db.exec('BEGIN IMMEDIATE')
        this.#lease.check()
        write()
        this.#db.exec('COMMIT')
        return
      } catch (error) {
        if (!mayTakeRoom || !this.#makeRoom(error)) throw error
        takeForWal(this.path)
        this.#rollBack()
      }
    }
  }

  #makeRoom(error: unknown): boolean {
    this.#isReserveDue = true
    return makeRoom(this.#ballast, error)
  }

  /** Does something to the file, or ends the store: what failed is rolled back. */
  #guarded(records: number, work: () => void): void {
    if (this.#fault !== undefined) throw this.#fault
    if (this.#isClosed) throw closedFault(this.path)
    try {
      work()
    } catch (cause) {
      const fault = cause instanceof JournalFaultError ? cause : faultOf(this.path, records, cause)
      this.#rollBack()
      // Work that no record waits for is left for later.
      if (records > 0 || !isDiskFull(cause)) this.#fault = fault
      throw fault
    }
  }

  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    } catch {
      // The fault that is being reported is the one that counts; the process is about to end.
    }
  }
}

/** What ended a transaction when the disk failed; a mistake of ours as it is. */
function faultOf(path: string, records: number, cause: unknown): unknown {
  try {
    return writeFault(path, records, cause)
  } catch (error) {
    return error
  }
}
