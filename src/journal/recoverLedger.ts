/** Makes a store's records a ledger again: its newest snapshot, what came after it, and what a snapshot leaves out. */
import type { IntentState } from '../domain/order/intent.ts'
import { createLedger, type Ledger, reachesBack, recallLimits, recallSinceMs } from './journalLedger.ts'
import type { JournalStore } from './journalStore.ts'
import { decodeSnapshot } from './ledgerState.ts'

/** A ledger, and the record from which the records were read: that of the snapshot, or 0. */
export interface RecoveredLedger {
  readonly ledger: Ledger
  readonly replayedFrom: number
}

/**
 * Recovers the ledger of all that a store holds; `nowMs` is the wall clock, Unix ms. A snapshot that is of another version is left
 * aside, and all records are read.
 *
 * @throws JournalFaultError as the store does; BaseError JOURNAL_OUT_OF_ORDER when a record cannot follow its story.
 */
export async function recoverLedger(
  store: Pick<JournalStore, 'read' | 'snapshot' | 'intents' | 'endingsSince'>,
  nowMs: number,
): Promise<RecoveredLedger> {
  const kept = await store.snapshot()
  const ledger = createLedger(kept === undefined ? undefined : decodeSnapshot(kept))
  const replayedFrom = ledger.seq
  for await (const page of store.read(ledger.seq)) for (const { record } of page) ledger.fold(record)
  if (replayedFrom === 0) return { ledger, replayedFrom }
  let intents: readonly IntentState[] = []
  for (const limit of recallLimits) {
    intents = await store.intents({ limit })
    if (reachesBack(intents, limit)) break
  }
  ledger.recall(intents, await store.endingsSince(recallSinceMs(ledger, nowMs)))
  return { ledger, replayedFrom }
}
