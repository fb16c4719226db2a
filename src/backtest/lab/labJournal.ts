/**
 * A journal on a lab's time. Its records are in memory until somebody asks the file for them or the journal is closed: nothing that a lab
 * lives through ends the process, so that no record waits for a disk.
 */
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { createJournal } from '../../journal/groupCommit.ts'
import type { Journal } from '../../journal/journal.ts'
import { createLedger } from '../../journal/journalLedger.ts'
import type { JournalStore, StoreEntry } from '../../journal/journalStore.ts'
import { defaultMaintenance } from '../../journal/maintenance.ts'
import { createMemoryStore } from '../../journal/memory.ts'
import { openSqliteStore } from '../../journal/sqlite/openSqlite.ts'
import type { Scheduler } from './scheduler.ts'

/** Records that are held back at most. */
const MOST_HELD = 5_000

/** Records after which an opening keeps a snapshot: the next one, at the beginning of the next segment, reads what came after it alone. */
const SNAPSHOT_EVERY = 200

/** The newest states of a journal's intents as they were written, so that the file need not be read to have them. */
export interface WrittenStates {
  /** By id, in the order of their acceptance. */
  readonly byId: Map<string, IntentState>
  /** Number of the newest record that they are of. */
  seq: number
}

/** Makes the states of an empty journal. */
export function createWrittenStates(): WrittenStates {
  return { byId: new Map(), seq: 0 }
}

/** Dependencies of a lab's journal. */
interface LabJournalParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly holder: string
  /** Carried on from the segment before; a journal that has other records reads its file. Absent: none are. */
  readonly states?: WrittenStates
}

/** Opens `journal.db` in a folder, or makes it; without a folder the journal is in memory alone. Throws what `openSqliteStore` throws. */
export function openLabJournal(folder: string | undefined, parts: LabJournalParts): Journal {
  const { store, ledger, snapshotSeq } =
    folder === undefined
      ? { store: createMemoryStore(), ledger: createLedger(), snapshotSeq: 0 }
      : openHeldStore(folder, parts)
  return createJournal({
    ...{ store, ledger, snapshotSeq },
    maintenance: {
      ...defaultMaintenance,
      snapshotEveryRecords: Number.POSITIVE_INFINITY,
      later: () => () => {},
    },
    soon: parts.scheduler.soon,
  })
}

function openHeldStore(folder: string, { clock, holder, states = createWrittenStates() }: LabJournalParts) {
  const opened = openSqliteStore(
    {
      ...{ path: join(folder, 'journal.db'), clockNow: clock.now, holder, freeBytes: () => 2 ** 40 },
      maintenance: { snapshotEveryRecords: SNAPSHOT_EVERY },
    },
    {},
  )
  return { ...opened, store: heldStore(opened.store, opened.ledger.seq, states) }
}

/** A store that writes many records at once: when there are many, and before anything is read. */
function heldStore(store: JournalStore, seq: number, states: WrittenStates): JournalStore {
  const knowsAll = states.seq === seq
  let newest = seq
  let held: StoreEntry[] = []
  const write = async (): Promise<void> => {
    const entries = held
    held = []
    if (entries.length > 0) await store.append(entries)
  }
  const written = async <T>(read: () => Promise<T>): Promise<T> => {
    await write()
    return read()
  }
  return {
    path: store.path,
    lease: store.lease,
    async append(entries) {
      held.push(...entries)
      newest += entries.length
      for (const { state } of entries) if (state !== undefined) states.byId.set(state.intent.intentId, state)
      if (knowsAll) states.seq = newest
      if (held.length >= MOST_HELD) await write()
      return newest
    },
    async *read(afterSeq) {
      await write()
      yield* store.read(afterSeq)
    },
    snapshot: () => store.snapshot(),
    keep: (snapshot) => written(() => store.keep(snapshot)),
    maintain: () => written(() => store.maintain()),
    openGuardTable: () => store.openGuardTable(),
    isShort: () => store.isShort(),
    records: (intentId) => written(() => store.records(intentId)),
    intent: (intentId) => written(() => store.intent(intentId)),
    intents: async (query) =>
      knowsAll && query?.strategy === undefined && query?.openOnly !== true
        ? [...states.byId.values()].reverse().slice(0, query?.limit)
        : written(() => store.intents(query)),
    endingsSince: (sinceMs) => written(() => store.endingsSince(sinceMs)),
    close: () => written(() => store.close()),
  }
}
