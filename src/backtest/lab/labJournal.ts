/**
 * A journal on a lab's time. Its records are in memory until somebody asks the file for them or the journal is closed: nothing that a lab
 * lives through ends the process, so that no record waits for a disk.
 */
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
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

/** Opens `journal.db` in a folder, or makes it; without a folder the journal is in memory alone. Throws what `openSqliteStore` throws. */
export function openLabJournal(
  folder: string | undefined,
  parts: { readonly scheduler: Scheduler; readonly clock: Clock; readonly holder: string },
): Journal {
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

function openHeldStore(folder: string, parts: { readonly clock: Clock; readonly holder: string }) {
  const { clock, holder } = parts
  const opened = openSqliteStore(
    { path: join(folder, 'journal.db'), clockNow: clock.now, holder, freeBytes: () => 2 ** 40 },
    {},
  )
  return { ...opened, store: heldStore(opened.store, opened.ledger.seq) }
}

/** A store that writes many records at once: when there are many, and before anything is read. */
function heldStore(store: JournalStore, seq: number): JournalStore {
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
    intents: (query) => written(() => store.intents(query)),
    endingsSince: (sinceMs) => written(() => store.endingsSince(sinceMs)),
    close: () => written(() => store.close()),
  }
}
