/**
 * What must survive the process: the records of every intent, and the right of one writer.
 * Backends implement this interface and run the same conformance suite.
 */
import { BaseError } from '../base/errors.ts'
import type { AccountRecord, AccountState } from '../domain/account/accountRecord.ts'
import type { Fill } from '../domain/account/fills.ts'
import type { Ending } from '../domain/account/spend.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { JournalRecord, StoredRecord } from '../domain/records.ts'

/** What a journal holds, in numbers. */
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

/** Reads only; may stand beside a running or a dead daemon. */
export interface JournalReader {
  summary(): JournalSummary
  /** Folded intents, newest first. */
  intents(query?: IntentQuery): readonly IntentState[]
  /** All records of one intent in order; empty when there is no such intent. */
  records(intentId: string): readonly StoredRecord[]
  /** The intent with this id, or undefined. */
  intent(intentId: string): IntentState | undefined
  /** What was found on the account that no intent explains, and how far its history was judged. */
  account(): AccountState
  /** How intents ended since then (Unix ms), in the order in which that was written. */
  endingsSince(sinceMs: number): readonly Ending[]
  close(): void
}

/** The one writer's journal. */
export interface Journal extends JournalReader {
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
  /** Sums of what closed intents did to positions, one for each side that one of them touched. */
  closedFills(): readonly Fill[]
  /** Edits and batches that were closed since then (Unix ms), in the order in which they ended. */
  changesSince(sinceMs: number): readonly IntentState[]
  /** Open intents, oldest first: what recovery starts from. */
  openIntents(): readonly IntentState[]
  /** Whether this decision was accepted before. */
  hasDecision(strategy: string, decisionKey: string): boolean
  /** Whether another intent's landed attempt created this order. */
  explains(orderKey: string, exceptIntentId: string): boolean
  /** Intents accepted since then (Unix ms), of one strategy or of all. */
  acceptedSince(sinceMs: number, strategy?: string): number
  /** Whether the last part of the room is reached, which is kept for what must be written; what can wait is not written then. */
  isShort(): boolean
  /** Epoch of this writer; grows by one with every opening. */
  readonly leaseEpoch: number
  readonly path: string
}

/** The same decision was accepted before; nothing was written. */
export class DuplicateDecisionError extends BaseError {
  constructor(strategy: string, decisionKey: string) {
    super('This decision was accepted before; it is not taken twice.', {
      code: 'DUPLICATE_DECISION',
      facts: { strategy, decisionKey },
    })
  }
}

/** The journal could not be opened or written. The daemon stops: it never trades without its journal. */
export class JournalFaultError extends BaseError {}
