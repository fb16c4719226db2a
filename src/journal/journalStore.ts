/**
 * Where records are kept: a file, memory, a database elsewhere. A store keeps records and snapshots in their order, for the one
 * writer that has its lease, and folds nothing: what records mean is the ledger's. All of it is asynchronous; every
 * store runs the same conformance suite.
 */
import type { Ending } from '../domain/accountRecords/spend.ts'
import type { GuardTable, SignEntry } from '../domain/guardTable.ts'
import type { JournalServer } from '../domain/journalServer.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { AnyRecord } from '../domain/records.ts'
import type { HistoryReads, JournalFaultError, JournalLease } from './journal.ts'
import type { KeptSnapshot, LedgerSnapshot } from './ledgerState.ts'

/** A record on its way into a store. */
export interface StoreEntry {
  readonly record: AnyRecord
  /** Its text, as `encodeRecord` gives it: what is kept. */
  readonly body: string
  /** The intent's fold with it, for the lists that a store keeps; absent for a record of the account. */
  readonly state?: IntentState
  /** The guard's line of a record that arms an attempt, where it comes from another store; absent: this store's guard has it. */
  readonly signed?: SignEntry
}

/** A record as a store gives it back. */
export interface KeptRecord {
  /** 1, 2, 3, ... without gaps. */
  readonly seq: number
  readonly record: AnyRecord
}

/** Reads records in their order. */
export interface RecordReads {
  /** Records after the one numbered `afterSeq`, in pages, in their order. Throws JournalFaultError when one is not what was written. */
  read(afterSeq: number): AsyncIterable<readonly KeptRecord[]>
}

/** The one writer's store. Opening it takes the lease; every commit asks whether it is still held. */
export interface JournalStore extends HistoryReads, RecordReads {
  /** Where it is, for messages. */
  readonly path: string
  /** The right to write, which opening took. */
  readonly lease: JournalLease
  /**
   * Commits records, all of them or none, in their order; resolves with the number of the newest when they are durable. While nobody knows
   * whether they are, it waits: the store settles that within a bounded time, and claims neither before it has proof.
   *
   * @throws JournalFaultError JOURNAL_FENCED when another took the lease, JOURNAL_ROLLED_BACK when acknowledged records are gone, and whatever
   * keeps a commit from being durable. After a fault every later call throws it too.
   */
  append(entries: readonly StoreEntry[]): Promise<number>
  /** Returns the ends of intents since then (Unix ms), in the order of their writing. */
  endingsSince(sinceMs: number): Promise<readonly Ending[]>
  /** The newest snapshot that is whole and belongs to the records; undefined when there is none. */
  snapshot(): Promise<KeptSnapshot | undefined>
  /** Keeps a snapshot at the newest record. Throws as `append`. */
  keep(snapshot: LedgerSnapshot): Promise<void>
  /** Work that no order may wait for, such as a checkpoint of a file. Throws as `append`. */
  maintain(): Promise<void>
  /** Opens the table of what was given to the key: a file where the store is local, rows and a file where it is shared. Throws GuardError. */
  openGuardTable(): Promise<GuardTable>
  /** True once only the last part of the space is left. */
  isShort(): boolean
  /** The server that keeps it, as it was seen last; absent: none does. */
  server?(): JournalServer
  /** Resolves with the fault by which it ended though nobody asked it for anything; absent where that cannot be. */
  readonly ended?: Promise<JournalFaultError> | undefined
  /** Gives the lease back. Safe to call twice. */
  close(): Promise<void>
}
