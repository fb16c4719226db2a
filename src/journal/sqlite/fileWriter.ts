/**
 * The one that writes the journal's file: one connection, used on the thread that calls it, where a commit blocks until the disk has it.
 * The store calls it where it is, or in a thread of its own (`threadWriter.ts`).
 *
 * - Every transaction asks first whether the lease is still ours: a writer that another has replaced writes nothing.
 * - A transaction that finds no space is rolled back, and made again as long as the ballast gives some.
 * - Anything else that fails a commit ends the writer, since after a failed fsync nobody knows what the disk holds.
 * - A snapshot or a checkpoint that finds no space is left for later: every record is where it was. A checkpoint leaves a part of the
 *   ballast to records.
 */
import type { DatabaseSync } from 'node:sqlite'
import { isDiskFull, LEFT_TO_RECORDS_BYTES, makeRoom, takeForWal, withRoom } from '../ballast.ts'
import { JournalFaultError } from '../journal.ts'
import { closedFault, writeFault } from '../journalFaults.ts'
import { hashOf, type Tail } from './hashChain.ts'
import type { HighWaterMark } from './highWaterMark.ts'
import type { Lease } from './lease.ts'
import type { RecordRows } from './recordRows.ts'
import { type SnapshotToWrite, writeSnapshot } from './writeSnapshot.ts'
import { createRowWriter, type RowWriter } from './writes.ts'

/** Writes the file; what is asked is done in its order. After a fault every later call rejects with it. */
export interface FileWriter {
  /** Commits records, all of them or none; resolves with the number of the newest when they are durable. */
  append(records: readonly RecordRows[]): Promise<number>
  /** Keeps a snapshot at the newest record. */
  keep(snapshot: SnapshotToWrite): Promise<void>
  /** Copies what the WAL has into the file. */
  checkpoint(): Promise<void>
  close(): Promise<void>
  /** Resolves with the fault by which it ended though nobody asked; never where it writes on the thread that calls it. */
  readonly ended?: Promise<JournalFaultError>
}

/** The parts of a writer; it owns connection and mark from then on. */
export interface FileWriterParts {
  readonly db: DatabaseSync
  readonly path: string
  /** Where the chain of records ends. */
  readonly tail: Tail
  /** Number of intents. */
  readonly intents: number
  readonly lease: Lease
  readonly highWaterMark: HighWaterMark
  /** File of bytes that are given up where the disk has none. */
  readonly ballast: string
  /** Called when the ballast was asked for some. */
  readonly tookRoom: () => void
}

/** Makes the writer over an opened connection. */
export function createFileWriter(parts: FileWriterParts): FileWriter {
  return new SqliteWriter(parts)
}

class SqliteWriter implements FileWriter {
  readonly #parts: FileWriterParts
  readonly #db: DatabaseSync
  readonly #rows: RowWriter
  #tail: Tail
  #intents: number
  #fault: JournalFaultError | undefined
  #isClosed = false

  constructor(parts: FileWriterParts) {
    this.#parts = parts
    this.#db = parts.db
    this.#rows = createRowWriter(parts.db)
    this.#tail = parts.tail
    this.#intents = parts.intents
  }

  async append(records: readonly RecordRows[]): Promise<number> {
    const { highWaterMark } = this.#parts
    let tail = this.#tail
    let intents = this.#intents
    this.#guarded(records.length, () => {
      this.#transact(() => {
        ;({ tail, intents } = { tail: this.#tail, intents: this.#intents })
        for (const record of records) {
          const seq = tail.seq + 1
          const hash = hashOf(tail.hash, seq, record.record[4])
          this.#rows.write(record, seq, hash, intents)
          if (record.intent !== undefined) intents += 1
          tail = { seq, hash }
        }
      })
      if (tail !== this.#tail) this.#withRoom(() => highWaterMark.write(tail))
    })
    this.#tail = tail
    this.#intents = intents
    return tail.seq
  }

  async keep(snapshot: SnapshotToWrite): Promise<void> {
    this.#guarded(0, () => {
      if (snapshot.seq !== this.#tail.seq) {
        throw new TypeError(`a snapshot at record ${snapshot.seq}; the newest is ${this.#tail.seq}`)
      }
      this.#transact(() => writeSnapshot(this.#db, this.#tail, snapshot), false)
    })
  }

  async checkpoint(): Promise<void> {
    const copy = () => this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    this.#guarded(0, () => this.#withRoom(copy, LEFT_TO_RECORDS_BYTES))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#db.close()
    this.#parts.highWaterMark.close()
  }

  /** One transaction that begins with the question whether the lease is still ours. */
  #transact(write: () => void, mayTakeRoom = true): void {
    const { lease, path } = this.#parts
    for (;;) {
      try {
        this.#db.exec('BEGIN IMMEDIATE')
        lease.check()
        write()
        this.#db.exec('COMMIT')
        return
      } catch (error) {
        if (!mayTakeRoom || !this.#makeRoom(error)) throw error
        takeForWal(path)
        this.#rollBack()
      }
    }
  }

  #withRoom(work: () => void, leftBytes = 0): void {
    withRoom(work, (error) => this.#makeRoom(error, leftBytes))
  }

  #makeRoom(error: unknown, leftBytes = 0): boolean {
    const { ballast, tookRoom } = this.#parts
    tookRoom()
    return makeRoom(ballast, error, leftBytes)
  }

  /** Does something to the file, or ends the writer: what failed is rolled back. */
  #guarded(records: number, work: () => void): void {
    const { path } = this.#parts
    if (this.#fault !== undefined) throw this.#fault
    if (this.#isClosed) throw closedFault(path)
    try {
      work()
    } catch (cause) {
      const fault = cause instanceof JournalFaultError ? cause : writeFault(path, records, cause)
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
