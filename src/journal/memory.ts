/** A journal that ends with the process: for backtests, simulations and `journal.path memory:`. Same rules as a file, no disk. */
import { type Ending, endingOf } from '../domain/accountRecords/spend.ts'
import { COMPACT_AFTER, type GuardTable, type SignEntry } from '../domain/guardTable.ts'
import { foldRecords } from '../domain/machine/fold.ts'
import { type IntentState, isOpen } from '../domain/order/intent.ts'
import { decodeAnyRecord, isAccountRecord, type StoredRecord } from '../domain/records.ts'
import { createJournal } from './groupCommit.ts'
import type { IntentQuery, Journal, JournalLease } from './journal.ts'
import { closedFault } from './journalFaults.ts'
import { createLedger } from './journalLedger.ts'
import type { JournalStore, KeptRecord, StoreEntry } from './journalStore.ts'
import type { KeptSnapshot, LedgerSnapshot } from './ledgerState.ts'
import { defaultMaintenance } from './maintenance.ts'

/** Records of a page. */
const PAGE = 1_000

/** Makes an empty journal in memory, over an empty store. Its epoch is 1. */
export function createMemoryJournal(store: JournalStore = createMemoryStore()): Journal {
  return createJournal({
    store,
    ledger: createLedger(),
    snapshotSeq: 0,
    // Nothing ever starts from it.
    maintenance: {
      ...defaultMaintenance,
      snapshotEveryRecords: Number.POSITIVE_INFINITY,
      later: () => () => {},
    },
    soon: (commit) => commit(),
    rereads: true,
  })
}

/** An empty store in memory. */
export function createMemoryStore(): JournalStore {
  return new MemoryStore()
}

class MemoryStore implements JournalStore {
  readonly path = ':memory:'
  readonly lease: JournalLease = { epoch: 1, lost: () => undefined, renew: async () => {} }
  readonly #bodies: string[] = []
  /** Numbers of the records of each intent, in the order in which intents were accepted. */
  readonly #stories = new Map<string, number[]>()
  #snapshot: KeptSnapshot | undefined
  #signed: SignEntry[] = []
  #isClosed = false

  async append(entries: readonly StoreEntry[]): Promise<number> {
    if (this.#isClosed) throw closedFault(this.path)
    for (const { record, body } of entries) {
      const seq = this.#bodies.push(body)
      if (isAccountRecord(record)) continue
      const story = this.#stories.get(record.intentId)
      if (story === undefined) this.#stories.set(record.intentId, [seq])
      else story.push(seq)
    }
    return this.#bodies.length
  }

  async *read(afterSeq: number): AsyncIterable<readonly KeptRecord[]> {
    for (let from = afterSeq; from < this.#bodies.length; from += PAGE) {
      yield this.#bodies
        .slice(from, from + PAGE)
        .map((body, index) => ({ seq: from + index + 1, record: decodeAnyRecord(body) }))
    }
  }

  async snapshot(): Promise<KeptSnapshot | undefined> {
    return this.#snapshot
  }

  async keep({ seq, head, part, fromSeq }: LedgerSnapshot): Promise<void> {
    if (this.#isClosed) throw closedFault(this.path)
    const before = fromSeq === 0 ? [] : (this.#snapshot?.parts ?? [])
    this.#snapshot = { seq, head, parts: [...before, part] }
  }

  async maintain(): Promise<void> {}

  async openGuardTable(): Promise<GuardTable> {
    const entries = [...this.#signed]
    return {
      path: this.path,
      entries,
      append: async (entry, kept) => {
        this.#signed.push(entry)
        if (this.#signed.length > COMPACT_AFTER) this.#signed = [...kept()]
      },
      close: () => undefined,
    }
  }

  isShort(): boolean {
    return false
  }

  async records(intentId: string): Promise<readonly StoredRecord[]> {
    return this.#recordsOf(intentId)
  }

  async intent(intentId: string): Promise<IntentState | undefined> {
    return this.#fold(intentId)
  }

  async intents({ openOnly = false, strategy, limit }: IntentQuery = {}): Promise<readonly IntentState[]> {
    const chosen = [...this.#stories.keys()]
      .toReversed()
      .flatMap((intentId) => this.#fold(intentId) ?? [])
      .filter((state) => strategy === undefined || state.intent.strategy === strategy)
      .filter((state) => !openOnly || isOpen(state))
    return limit === undefined ? chosen : chosen.slice(0, limit)
  }

  async endingsSince(sinceMs: number): Promise<readonly Ending[]> {
    return [...this.#stories.keys()]
      .flatMap((intentId): Ending[] => {
        const state = this.#fold(intentId)
        const ending = state === undefined ? undefined : endingOf(state)
        if (ending === undefined || ending.closedAtMs < sinceMs) return []
        return [{ ...ending, seq: this.#stories.get(intentId)?.at(-1) ?? 0 }]
      })
      .toSorted((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #recordsOf(intentId: string): readonly StoredRecord[] {
    return (this.#stories.get(intentId) ?? []).flatMap((seq): StoredRecord[] => {
      const record = decodeAnyRecord(this.#bodies[seq - 1] ?? '')
      return isAccountRecord(record) ? [] : [{ seq, record }]
    })
  }

  #fold(intentId: string): IntentState | undefined {
    return foldRecords(this.#recordsOf(intentId).map(({ record }) => record))
  }
}
