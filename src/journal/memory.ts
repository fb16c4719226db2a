/** A journal that ends with the process: for backtests and simulations. Same rules as the file, no disk. */
import {
  type AccountRecord,
  type AccountState,
  applyAccountRecord,
  emptyAccountState,
} from '../domain/account/accountRecord.ts'
import { type Fill, fillsOf } from '../domain/account/fills.ts'
import { type Ending, endingOf } from '../domain/account/spend.ts'
import { type IntentState, isOpen } from '../domain/order/intent.ts'
import {
  decodeAnyRecord,
  decodeRecord,
  encodeRecord,
  type JournalRecord,
  type StoredRecord,
} from '../domain/records.ts'
import { hexKey } from '../protocol/address.ts'
import type { IntentQuery, Journal, JournalSummary } from './journal.ts'
import { journalFault } from './journalFaults.ts'
import { type AdmissionView, admitRecord } from './recordAdmission.ts'

/** Makes an empty journal in memory. Its epoch is 1. */
export function createMemoryJournal(): Journal {
  return new MemoryJournal()
}

class MemoryJournal implements Journal {
  readonly path = ':memory:'
  readonly leaseEpoch = 1
  #recordCount = 0
  #closed = false
  #account = emptyAccountState
  readonly #states = new Map<string, IntentState>()
  readonly #open = new Map<string, IntentState>()
  readonly #records = new Map<string, StoredRecord[]>()
  readonly #decisions = new Set<string>()
  readonly #digests = new Map<string, string>()
  /** Intents by the keys of the orders that they created. */
  readonly #children = new Map<string, Set<string>>()
  readonly #view: AdmissionView = {
    state: (intentId) => this.#states.get(intentId),
    hasDecision: (strategy, decisionKey) => this.hasDecision(strategy, decisionKey),
    digestOwner: (router, digest) => this.#digests.get(keyOf(hexKey(router), hexKey(digest))),
  }

  async append(record: JournalRecord): Promise<StoredRecord> {
    if (this.#closed) {
      throw journalFault(
        'JOURNAL_CLOSED',
        this.path,
        'The journal was closed; the record was not written.',
        'Nothing is sent after this. A journal in memory ends with the process.',
      )
    }
    // What is kept is what a file would keep, so that nothing works here that would not survive a restart there.
    const kept = decodeRecord(encodeRecord(record))
    const state = admitRecord(this.#view, kept)
    this.#recordCount += 1
    const stored = { seq: this.#recordCount, record: kept }
    this.#keep(stored, state)
    return stored
  }

  isShort(): boolean {
    return false
  }

  async appendAccount(record: AccountRecord): Promise<void> {
    this.#recordCount += 1
    this.#account = applyAccountRecord(this.#account, decodeAnyRecord(encodeRecord(record)) as AccountRecord)
  }

  account(): AccountState {
    return this.#account
  }

  closedFills(): readonly Fill[] {
    return [...this.#states.values()].filter((state) => !isOpen(state)).flatMap(fillsOf)
  }

  endingsSince(sinceMs: number): readonly Ending[] {
    return [...this.#states.values()]
      .flatMap((state) => {
        const ending = endingOf(state)
        const seq = this.#records.get(state.intent.intentId)?.at(-1)?.seq ?? 0
        return ending === undefined || ending.closedAtMs < sinceMs ? [] : [{ ...ending, seq }]
      })
      .sort((one, other) => one.seq - other.seq)
  }

  changesSince(sinceMs: number): readonly IntentState[] {
    const lastSeq = ({ intent }: IntentState) => this.#records.get(intent.intentId)?.at(-1)?.seq ?? 0
    return [...this.#states.values()]
      .filter(({ intent: { kind } }) => kind === 'edit' || kind === 'batch')
      .filter((state) => !isOpen(state) && (state.closedAtMs ?? state.updatedAtMs) >= sinceMs)
      .sort((one, other) => lastSeq(one) - lastSeq(other))
  }

  #keep(stored: StoredRecord, state: IntentState): void {
    const { record } = stored
    const { intentId } = record
    const story = this.#records.get(intentId)
    if (story) story.push(stored)
    else this.#records.set(intentId, [stored])
    this.#states.set(intentId, state)
    if (isOpen(state)) this.#open.set(intentId, state)
    else this.#open.delete(intentId)
    if (record.kind === 'intent.accepted') {
      this.#decisions.add(keyOf(record.intent.strategy, record.intent.decisionKey))
    }
    if (record.kind === 'attempt.armed') {
      this.#digests.set(keyOf(hexKey(record.armed.router), hexKey(record.armed.digest)), intentId)
    }
    if (record.kind === 'landed') {
      for (const orderKey of record.orderKeys.map(hexKey)) {
        this.#children.set(orderKey, (this.#children.get(orderKey) ?? new Set()).add(intentId))
      }
    }
  }

  summary(): JournalSummary {
    return { records: this.#recordCount, intents: this.#states.size, openIntents: this.#open.size }
  }

  intents(query: IntentQuery = {}): readonly IntentState[] {
    const chosen = [...(query.openOnly ? this.#open : this.#states).values()]
      .filter((state) => query.strategy === undefined || state.intent.strategy === query.strategy)
      .toReversed()
    return query.limit === undefined ? chosen : chosen.slice(0, query.limit)
  }

  openIntents(): readonly IntentState[] {
    return [...this.#open.values()]
  }

  records(intentId: string): readonly StoredRecord[] {
    return [...(this.#records.get(intentId) ?? [])]
  }

  intent(intentId: string): IntentState | undefined {
    return this.#states.get(intentId)
  }

  hasDecision(strategy: string, decisionKey: string): boolean {
    return this.#decisions.has(keyOf(strategy, decisionKey))
  }

  explains(orderKey: string, exceptIntentId: string): boolean {
    const owners = this.#children.get(hexKey(orderKey)) ?? new Set()
    return [...owners].some((intentId) => intentId !== exceptIntentId)
  }

  acceptedSince(sinceMs: number, strategy?: string): number {
    let accepted = 0
    for (const { intent } of this.#states.values()) {
      if (intent.acceptedAtMs >= sinceMs && (strategy === undefined || intent.strategy === strategy))
        accepted += 1
    }
    return accepted
  }

  close(): void {
    this.#closed = true
  }
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
