/**
 * Defines the journal, which must survive the process: the records of every intent, and the right of one writer. The ledger in memory answers
 * questions that come up while orders are decided and sent; older history is read from the store.
 */

import type { Clocks } from '../base/clock.ts'
import { BaseError } from '../base/errors.ts'
import type { BookReads } from '../books/books.ts'
import type { TradingHistory } from '../books/tradingHistory.ts'
import type { AccountRecord, AccountState } from '../domain/accountRecords/accountRecord.ts'
import type { Fill } from '../domain/accountRecords/fills.ts'
import type { Ending } from '../domain/accountRecords/spend.ts'
import type { GuardTable } from '../domain/guardTable.ts'
import type { JournalServer } from '../domain/journalServer.ts'
import type { RecordedEvent } from '../domain/memory/ownEvent.ts'
import type { Intent, IntentState } from '../domain/order/intent.ts'
import type { OrderChange } from '../domain/order/signedOrder.ts'
import type { AnyRecord, JournalRecord, StoredRecord } from '../domain/records.ts'

/** Contents of a journal, in numbers. */
export interface JournalSummary {
  readonly records: number
  readonly intents: number
  readonly openIntents: number
}

/** Which intents to list. */
export interface IntentQuery {
  /** Only open ones. */
  readonly openOnly?: boolean
  readonly strategy?: string
  /** Newest first, at most this many. */
  readonly limit?: number
}

/** Events of a strategy's orders that the strategy, which has a memory, has not received yet. */
export interface OwnEvents {
  /** In the order of the records that tell them. */
  readonly events: readonly RecordedEvent[]
  /** Older ones that were dropped, because too many waited. */
  readonly missed: number
}

/** Questions that are answered at once, from memory: the folds of what is durable. */
export interface LedgerReads {
  summary(): JournalSummary
  /** When the newest record was written by its own clock, Unix ms; 0 before the first. */
  readonly newestAtMs: number
  /** Returns the unexplained findings on the account, the halts on trading, and the actions under way on it. */
  account(): AccountState
  /** Open intents, oldest first: what recovery starts from. */
  openIntents(): readonly IntentState[]
  /**
   * Folded intents, newest first: all open ones, and of all the newest 1,000 and those of the last 25 hours, at most 25,600.
   * `Journal.intents` has the older ones too.
   */
  recentIntents(query?: IntentQuery): readonly IntentState[]
  /** One of them, or undefined when it is older, or there is none. */
  recentIntent(intentId: string): IntentState | undefined
  /**
   * Compares the clock with what the records say and with its own course. What is asked for by a time below goes by it: a clock that was set back
   * makes nothing younger or older, so that what it wrote while it was ahead counts as of the step, for its window and no longer.
   */
  lookAt(clock: Clocks): void
  /** Gives how far the clock was set back since an open or recent intent was accepted, ms. */
  setBackSince(intentId: string): number
  /** Returns the ends of intents since then (Unix ms), in the order of their writing; reaches back at least a day. */
  endingsSince(sinceMs: number): readonly Ending[]
  /** Sums of what closed intents did to positions, one for each side that one of them touched. */
  closedFills(): readonly Fill[]
  /** The book of every strategy: whose part of each position is whose, and what it brought. */
  books(): BookReads
  /** Returns the change that ended edits and batches made to a resting order of ours; undefined when none named it. */
  changeOf(orderKey: string): OrderChange | undefined
  /** Tells whether this decision was accepted before. */
  hasDecision(strategy: string, decisionKey: string): boolean
  /** Tells whether this intent ever armed this digest. */
  hasArmed(intentId: string, digest: string): boolean
  /** Tells whether another intent's landed attempt created this order. */
  explains(orderKey: string, exceptIntentId: string): boolean
  /** Returns the events that an instance with a memory has not received yet; none for one that never remembered anything. */
  ownEvents(strategy: string): OwnEvents
  /** Intents accepted since then (Unix ms), oldest first; a day back at least. */
  acceptedSince(sinceMs: number): readonly Intent[]
}

/** Reads of what is kept, however old: each may wait for a disk or a network. */
export interface HistoryReads {
  /** Folded intents, newest first. */
  intents(query?: IntentQuery): Promise<readonly IntentState[]>
  /** All records of one intent in order; empty when there is no such intent. */
  records(intentId: string): Promise<readonly StoredRecord[]>
  /** The intent with this id, or undefined. */
  intent(intentId: string): Promise<IntentState | undefined>
}

/** Fold of all records. */
export interface JournalHistory {
  readonly intents: readonly IntentState[]
  /** With the results of every day. */
  readonly books: BookReads
}

/** Reads only; may stand beside a running or a dead daemon. */
export interface JournalReader extends HistoryReads {
  summary(): Promise<JournalSummary>
  account(): Promise<AccountState>
  /** Returns the ends of intents since then (Unix ms), in the order of their writing. */
  endingsSince(sinceMs: number): Promise<readonly Ending[]>
  /** The book of every strategy, with the results of the newest days. */
  books(): Promise<BookReads>
  /** Reads all records from the first on: closed trades, and books with the results of every day. */
  tradingHistory(): Promise<TradingHistory>
  /** Reads all intents, newest first, and the books of every day in one pass: either alone costs as much. */
  history(): Promise<JournalHistory>
  close(): Promise<void>
}

/** The one writer's right to a journal. */
export interface JournalLease {
  /** Grows by one with every opening; 1 at the first. */
  readonly epoch: number
  /** Gives the fault by which the right was lost, or cannot be confirmed any more; undefined while it is held. Asked right before the key is used. */
  lost(): JournalFaultError | undefined
  /**
   * Confirms the right with the store.
   *
   * @throws JournalFaultError JOURNAL_FENCED when another has it, and what keeps the store from answering.
   */
  renew(): Promise<void>
}

/** The one writer's journal: a ledger in memory over a store. */
export interface Journal extends LedgerReads, HistoryReads {
  /**
   * Writes one record and resolves when it is durable (fsynced). Records appended in the same turn of the event loop
   * share one commit, in the order they were appended.
   *
   * @throws DuplicateDecisionError for an `intent.accepted` whose (strategy, decisionKey) exists already.
   * @throws JournalFaultError when the record may not be durable; the daemon then stops on purpose.
   */
  append(record: JournalRecord): Promise<StoredRecord>
  /** The same for a record of the account. */
  appendAccount(record: AccountRecord): Promise<void>
  /**
   * Writes records of intents and of the account in one commit, in their order: a crash leaves all of them or none. Resolves
   * with their numbers. Throws as `append`: the caller knows that none of them is refused alone.
   */
  appendTogether(records: readonly AnyRecord[]): Promise<readonly number[]>
  /**
   * Returns closed trades and the results of every day by all records up to now. It reads what it has not folded yet, page by page, so that nothing
   * waits for the whole; a fold that is not asked for during a quarter of an hour is dropped.
   */
  tradingHistory(): Promise<TradingHistory>
  /** The table of what was given to the key, kept where the journal is. Throws GuardError. */
  openGuardTable(): Promise<GuardTable>
  /**
   * Resolves with the fault that ended it, if one ever does: a daemon without a journal stops at once, and not at the next record. One that was
   * closed never ends so.
   */
  readonly failed: Promise<unknown>
  /** True once only the last part of its space is left, which is reserved for records that must be written; others are not written then. */
  isShort(): boolean
  readonly lease: JournalLease
  /** The server that keeps it, as it was seen last; absent: a file does, or memory. */
  server?(): JournalServer
  readonly path: string
  /**
   * Commits what waits, keeps a snapshot if one is due, and gives the lease back. Safe to call twice.
   *
   * @throws JournalFaultError when the snapshot cannot be written; no record is lost by that.
   */
  close(): Promise<void>
}

/** The same decision was accepted before; nothing was written. */
export class DuplicateDecisionError extends BaseError {
  constructor(strategy: string, decisionKey: string) {
    super('This decision was accepted before; perpd does not accept it twice.', {
      code: 'DUPLICATE_DECISION',
      facts: { strategy, decisionKey },
    })
  }
}

/** The journal could not be opened or written. The daemon stops: it never trades without its journal. */
export class JournalFaultError extends BaseError {}
