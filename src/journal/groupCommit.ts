/**
 * The writer's journal: a ledger in memory over a store.
 *
 * - Group commit: records appended in one turn of the event loop, or while a commit is under way, share one commit.
 * - A record that may not be written (a repeated decision, a record out of order) is refused alone; its neighbours commit.
 * - The ledger is folded when the commit returned, never before.
 * - Anything else that fails a commit ends the journal: every later append rejects with the same fault, since after a
 *   failed flush nobody knows what the store holds. It says so at once, whoever waits for a record or not.
 * - Maintenance waits for a pause, so that an order never waits for it; only a long busy stretch forces it. The snapshot that
 *   keeps the next start short is kept with it.
 */
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { type AnyRecord, decodeAnyRecord, encodeRecord, isAccountRecord } from '../domain/records.ts'
import { createHistoryReader } from './historyReader.ts'
import { type Journal, JournalFaultError } from './journal.ts'
import { closedFault } from './journalFaults.ts'
import type { Ledger } from './journalLedger.ts'
import type { JournalStore, StoreEntry } from './journalStore.ts'
import { type Maintenance, planMaintenance } from './maintenance.ts'
import { createAdmission } from './recordAdmission.ts'

/** Parts of a journal. */
export interface JournalParts {
  readonly store: JournalStore
  /** All that the store holds, folded. */
  readonly ledger: Ledger
  /** Number of the record of the store's newest snapshot; 0 without one. */
  readonly snapshotSeq: number
  readonly maintenance: Maintenance
  /** Begins a commit: in a later turn, so that what is appended in this one shares it, or at once. */
  readonly soon: (commit: () => void) => void
  /** True: the journal folds each record from its stored text, so that nothing works that would not survive a restart. */
  readonly rereads?: boolean
}

interface Pending {
  readonly record: AnyRecord
  readonly body: string
  readonly resolve: (seq: number) => void
  readonly reject: (error: unknown) => void
}

/** Makes the journal; it owns the store from then on. */
export function createJournal(parts: JournalParts): Journal {
  const { store, ledger, maintenance, soon, rereads = false } = parts
  let { snapshotSeq } = parts
  let queue: Pending[] = []
  /** The store is at work; what is appended meanwhile waits for the next commit. */
  let isBusy = false
  let work: Promise<void> = Promise.resolve()
  let fault: unknown
  const failed = Promise.withResolvers<unknown>()
  let closing: Promise<void> | undefined
  const plan = planMaintenance(maintenance, maintain)

  /** Hands in records that stand next to each other in one commit. */
  function enqueue(records: readonly AnyRecord[]): Promise<number>[] {
    const isFirst = queue.length === 0
    const numbers = records.map(
      (record) =>
        new Promise<number>((resolve, reject) => {
          if (fault !== undefined) throw fault
          if (closing !== undefined) throw closedFault(store.path)
          const body = encodeRecord(record)
          queue.push({ record: rereads ? decodeAnyRecord(body) : record, body, resolve, reject })
        }),
    )
    if (isFirst && queue.length > 0 && !isBusy) soon(flush)
    return numbers
  }

  async function enqueueOne(record: AnyRecord): Promise<number> {
    const [seq] = await Promise.all(enqueue([record]))
    if (seq === undefined) throw new TypeError('a record was not handed in')
    return seq
  }

  /** Commits what waits. */
  function flush(): void {
    if (isBusy || queue.length === 0) return
    // Where each commit begins as the one before it ends, no timer ever finds the store at rest.
    if (closing === undefined && plan.isOverdue()) {
      maintain()
      return
    }
    const group = queue
    queue = []
    isBusy = true
    work = commit(group).catch((error: unknown) => fail(error, group))
  }

  async function commit(group: readonly Pending[]): Promise<void> {
    const admission = createAdmission(ledger)
    const entries: StoreEntry[] = []
    const settled: (() => void)[] = []
    for (const { record, body, resolve, reject } of group) {
      try {
        const state = isAccountRecord(record) ? undefined : admission.admit(record)
        entries.push({ record, body, ...defined({ state }) })
        const seq = ledger.seq + entries.length
        settled.push(() => resolve(seq))
      } catch (refusal) {
        if (!(refusal instanceof BaseError)) throw refusal
        settled.push(() => reject(refusal))
      }
    }
    const newest = await store.append(entries)
    for (const { record, state } of entries) ledger.fold(record, state)
    if (ledger.seq !== newest)
      throw new TypeError(`the store has ${newest} records, the ledger ${ledger.seq}`)
    isBusy = false
    for (const settle of settled) settle()
    if (queue.length > 0) soon(flush)
    plan.committed()
  }

  /** A failed commit is never tried again, and nothing is written after it. */
  function fail(error: unknown, group: readonly Pending[]): void {
    fault ??= error
    failed.resolve(fault)
    isBusy = false
    plan.cancel()
    for (const { reject } of [...group, ...queue.splice(0)]) reject(error)
  }

  const history = createHistoryReader(store, maintenance.later)

  void store.ended?.then((ended) => fail(ended, []))

  async function keepSnapshotIfDue(): Promise<void> {
    if (ledger.seq - snapshotSeq < maintenance.snapshotEveryRecords) return
    // The space that is left is for records. With some again it is kept in the next pause, or at the next start.
    if (store.isShort()) return
    const snapshot = ledger.snapshot()
    await store.keep(snapshot)
    ledger.kept(snapshot)
    snapshotSeq = snapshot.seq
  }

  /** In a pause. When the store is at work after all, the next commit plans it again. */
  function maintain(): void {
    if (isBusy || fault !== undefined || closing !== undefined) return
    isBusy = true
    work = keepSnapshotIfDue()
      .then(() => store.maintain())
      .catch((error: unknown) => {
        // Without space it waits for the next pause; the records are where they were.
        if (!(error instanceof JournalFaultError && error.code === 'JOURNAL_FULL')) throw error
      })
      .then(() => {
        isBusy = false
        plan.made()
        if (queue.length > 0) soon(flush)
      })
      .catch((error: unknown) => fail(error, []))
  }

  async function finish(): Promise<void> {
    flush()
    while (isBusy) {
      await work
      flush()
    }
    plan.cancel()
    try {
      if (fault === undefined) await keepSnapshotIfDue()
    } finally {
      await store.close()
    }
  }

  return {
    summary: () => ledger.summary(),
    get newestAtMs() {
      return ledger.newestAtMs
    },
    account: () => ledger.account(),
    openIntents: () => ledger.openIntents(),
    recentIntents: (query) => ledger.recentIntents(query),
    recentIntent: (intentId) => ledger.recentIntent(intentId),
    endingsSince: (sinceMs) => ledger.endingsSince(sinceMs),
    closedFills: () => ledger.closedFills(),
    books: () => ledger.books(),
    changeOf: (orderKey) => ledger.changeOf(orderKey),
    hasDecision: (strategy, decisionKey) => ledger.hasDecision(strategy, decisionKey),
    hasArmed: (intentId, digest) => ledger.hasArmed(intentId, digest),
    explains: (orderKey, exceptIntentId) => ledger.explains(orderKey, exceptIntentId),
    ownEvents: (strategy) => ledger.ownEvents(strategy),
    acceptedSince: (sinceMs) => ledger.acceptedSince(sinceMs),
    setBackSince: (intentId) => ledger.setBackSince(intentId),
    lookAt: (clock) => ledger.lookAt(clock),
    intents: (query) => store.intents(query),
    records: (intentId) => store.records(intentId),
    intent: async (intentId) => ledger.recentIntent(intentId) ?? (await store.intent(intentId)),
    async append(record) {
      return { seq: await enqueueOne(record), record }
    },
    async appendAccount(record) {
      await enqueueOne(record)
    },
    appendTogether: (records) => Promise.all(enqueue(records)),
    tradingHistory: () => history.read(),
    openGuardTable: () => store.openGuardTable(),
    failed: failed.promise,
    isShort: () => store.isShort(),
    lease: store.lease,
    ...(store.server !== undefined && { server: store.server.bind(store) }),
    path: store.path,
    close() {
      closing ??= finish()
      return closing
    },
  }
}
