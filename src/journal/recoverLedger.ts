/** How a store's records become a ledger again: its newest snapshot, and what came after it. */
import type { JournalStore } from './journalStore.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { decodeSnapshot } from './ledgerState.ts'

/**
 * The ledger of all that a store holds. A snapshot that is of another version is left aside, and all records are read.
 *
 * @throws JournalFaultError as the store does; BaseError JOURNAL_OUT_OF_ORDER when a record cannot follow its story.
 */
export async function recoverLedger(store: Pick<JournalStore, 'read' | 'snapshot'>): Promise<Ledger> {
  const kept = await store.snapshot()
  const ledger = createLedger(kept === undefined ? undefined : decodeSnapshot(kept))
  for await (const page of store.read(ledger.seq)) for (const { record } of page) ledger.fold(record)
  return ledger
}
