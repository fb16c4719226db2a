/**
 * The store of a real daemon: one sqlite file in WAL mode, `synchronous=FULL`, one writer. It reads through a connection of the thread
 * that calls it; what is written goes to the `FileWriter`, which may be in another thread.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import type { GuardTable } from '../../domain/guardTable.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { decodeAnyRecord, type StoredRecord } from '../../domain/records.ts'
import { fillBallast, makeRoom, reserveWal } from '../ballast.ts'
import { openGuardFile } from '../guardFile.ts'
import { type IntentQuery, JournalFaultError, type JournalLease } from '../journal.ts'
import { closedFault, corruptFault, openFault, recordFault } from '../journalFaults.ts'
import type { JournalStore, KeptRecord, StoreEntry } from '../journalStore.ts'
import type { KeptSnapshot, LedgerSnapshot } from '../ledgerState.ts'
import type { WriterLock } from '../lock.ts'
import type { SpaceCheck } from './diskSpace.ts'
import type { FileWriter } from './fileWriter.ts'
import { hashOf } from './hashChain.ts'
import { readSnapshot } from './journalSnapshot.ts'
import type { Lease } from './lease.ts'
import { rowsOf } from './recordRows.ts'
import type { RowReader } from './sqliteRows.ts'

/** Records of a page. */
const PAGE = 1_000

/** Parts that opening made; the store owns them from then on. */
export interface OpenedParts {
  /** The connection that reads. */
  readonly db: DatabaseSync
  readonly path: string
  /** The lease, held against the row by the connection that reads. */
  readonly lease: Lease
  readonly reader: RowReader
  readonly lock: WriterLock
  readonly space: SpaceCheck
  /** File of the signing guard's table. */
  readonly guardPath: string
  /** File of bytes that are given up where the disk has none. */
  readonly ballast: string
  /** True once the ballast and the first part of the WAL are taken from the disk. */
  readonly isReserved: boolean
}

/** The store over an opened file. `writerOf` makes what writes it; it is handed what to call when the ballast gave some of its bytes. */
export function createSqliteStore(
  parts: OpenedParts,
  writerOf: (tookRoom: () => void) => FileWriter,
): JournalStore {
  return new SqliteStore(parts, writerOf)
}

class SqliteStore implements JournalStore {
  readonly path: string
  readonly lease: JournalLease
  readonly #parts: OpenedParts
  readonly #db: DatabaseSync
  readonly #reader: RowReader
  readonly #writer: FileWriter
  #isClosed = false
  /** The ballast lacks bytes, as far as this process knows. */
  #isReserveDue = true
  /** Number of writes that have not ended. */
  #writing = 0

  constructor(parts: OpenedParts, writerOf: (tookRoom: () => void) => FileWriter) {
    const { db, path, reader, lease } = parts
    this.#parts = parts
    this.path = path
    this.lease = {
      epoch: lease.epoch,
      lost: () => this.#lost(),
      renew: async () => {
        const lost = this.#lost()
        if (lost !== undefined) throw lost
      },
    }
    this.#db = db
    this.#reader = reader
    this.#writer = writerOf(() => {
      this.#isReserveDue = true
    })
    this.isShort()
  }

  /**
   * True while only required records may be written. With space again, the reserve is taken again, and before it is whole nothing
   * that adds risk is written: a way out may need it.
   */
  isShort(): boolean {
    const { ballast, isReserved, space } = this.#parts
    if (this.#writing > 0) space.wrote()
    const isShort = space.isShort()
    if (isShort || !this.#isReserveDue || !isReserved) return isShort
    this.#isReserveDue = !(reserveWal(this.path) && fillBallast(ballast))
    return this.#isReserveDue
  }

  append(entries: readonly StoreEntry[]): Promise<number> {
    return this.#written(this.#writer.append(entries.map(rowsOf)))
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

  keep(snapshot: LedgerSnapshot): Promise<void> {
    return this.#written(this.#writer.keep(snapshot))
  }

  maintain(): Promise<void> {
    return this.#written(this.#writer.checkpoint())
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

  /** Follows a write: until it ended nobody knows how large the file is. */
  #written<T>(write: Promise<T>): Promise<T> {
    this.#writing += 1
    const over = (): void => {
      this.#writing -= 1
      this.#parts.space.wrote()
    }
    write.then(over, over)
    return write
  }

  /** One row is read, and no lock is waited for. */
  #lost(): JournalFaultError | undefined {
    if (this.#isClosed) return closedFault(this.path)
    try {
      this.#parts.lease.check()
      return undefined
    } catch (error) {
      return error instanceof JournalFaultError ? error : openFault(this.path, error)
    }
  }

  async openGuardTable(): Promise<GuardTable> {
    return openGuardFile({
      path: this.#parts.guardPath,
      makeRoom: (error) => this.#makeRoom(error),
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#writer.close()
    } finally {
      // Where no thread writes, the writer's connection is the one that reads.
      if (this.#db.isOpen) this.#db.close()
      this.#parts.lock.release()
    }
  }

  get ended(): Promise<JournalFaultError> | undefined {
    return this.#writer.ended
  }

  #makeRoom(error: unknown): boolean {
    this.#isReserveDue = true
    return makeRoom(this.#parts.ballast, error)
  }
}
