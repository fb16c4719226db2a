/**
 * One connection to a server that several machines reach, and the few requests that a journal makes of it. Each request that writes is one
 * statement, so that it happens whole or not at all, and says by whom it may: the head of the account names epoch, holder and the end of the chain.
 */
import { BaseError } from '../../base/errors.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import type { SignEntry } from '../../domain/guardTable.ts'
import type { Replication } from '../../domain/journalServer.ts'
import type { IntentQuery } from '../journal.ts'
import type { LedgerSnapshot } from '../ledgerState.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import type { RecordRows } from '../sqlite/recordRows.ts'

/** A request that may or may not have been carried out, or may still be: the answer was lost, late, or came with a doubt about its durability. */
export class OutcomeUnknown extends BaseError {}

/** The right to write an account's journal. */
export interface Right {
  readonly epoch: number
  /** Unguessable and new with each opening; empty: nobody has it. */
  readonly holder: string
}

/** The head of an account's journal: who may write, and where the chain ends. */
export interface Head extends Right, Tail {
  /** Grows while its holder lives. */
  readonly beat: number
  /** When the right was given or given back, by the server's clock, Unix ms; absent: not recorded. For people: nothing is decided by it. */
  readonly sinceMs?: number
  /**
   * Only of `confirm`. True: the server is another one than that of the newest record, or has another history, and no second server had to have each
   * commit: acknowledged records may be gone. It stays so until the holder has written.
   */
  readonly mayMissRecords?: true
}

/** A record with its place in the chain, and the rows that follow from it. */
export interface ChainedRecord extends Tail {
  readonly rows: RecordRows
  /** The line of the signing guard of a record that arms an attempt, and the router that checks its digest. */
  readonly signed?: { readonly router: string; readonly entry: SignEntry }
}

/** A record as it is stored. */
export interface StoredRow extends Tail {
  readonly intentId: string
  readonly body: string
  /** Hash of the record before it; undefined where that is missing. */
  readonly previousHash: string | undefined
}

/** A part of a snapshot as it is stored. */
export interface StoredPart {
  readonly fromSeq: number
  readonly toSeq: number
  readonly sum: string
  readonly body: string
  /** Hash of the record `toSeq`; undefined where there is none. */
  readonly recordHash: string | undefined
}

/** A snapshot as it is stored: its head is the part from 0, and its parts come in order. */
export interface StoredSnapshot {
  readonly head: StoredPart
  readonly parts: readonly StoredPart[]
}

/** One connection. Every request throws OutcomeUnknown when its outcome is not known, and JournalFaultError for a definite refusal. */
export interface SharedServer {
  /** Name of the journal for messages, without secrets. */
  readonly name: string
  /** Makes what is missing, and gives the head. */
  prepare(): Promise<Head>
  head(): Promise<Head>
  /** Gives the right to another, unless the head is not `from` any more; tells whether it did. */
  take(from: Head, to: Right): Promise<boolean>
  /**
   * Counts the beat up if the right is held, and gives the head as it is then. Its acknowledgement proves that all that the server showed before is
   * durable.
   */
  confirm(right: Right): Promise<Head>
  /** Gives the right back; does nothing when another has it. */
  release(right: Right): Promise<void>
  /** Commits records behind `at` and counts the beat up, all of them or none; false when the right is another's or the chain does not end there. */
  append(right: Right, at: Tail, records: readonly ChainedRecord[]): Promise<boolean>
  /** Keeps a snapshot at `at`; false as `append`. The sums are of head and part. */
  keep(
    right: Right,
    at: Tail,
    snapshot: LedgerSnapshot,
    sums: { readonly head: string; readonly part: string },
  ): Promise<boolean>
  snapshot(): Promise<StoredSnapshot | undefined>
  /** The records after a number, in order, `limit` at most. */
  records(afterSeq: number, limit: number): Promise<readonly StoredRow[]>
  /** The records of some intents, in order. */
  stories(intentIds: readonly string[]): Promise<readonly StoredRow[]>
  /** Ids of intents, newest first. */
  intentIds(query: IntentQuery): Promise<readonly string[]>
  /** Ends of intents since then (Unix ms), in the order of their writing. */
  endings(sinceMs: number): Promise<readonly Ending[]>
  /** Lines of the guard whose deadline or claim is not before then (Unix seconds). */
  signed(sinceSeconds: number): Promise<readonly SignEntry[]>
  /** The standbys of the server, for people; absent: it has none by its nature. */
  replication?(): Promise<Replication>
  close(): Promise<void>
}
