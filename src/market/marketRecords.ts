/** The journal's records about a chain's markets: their fold, and the one place that writes them while the daemon runs. */

import type { WallClock } from '../base/clock.ts'
import { ACCOUNT_ID } from '../domain/accountRecords/accountRecord.ts'
import {
  applyMarketEntry,
  emptyMarketFold,
  type MarketEntry,
  type MarketFold,
} from '../domain/accountRecords/marketEntry.ts'
import { RECORD_VERSION } from '../domain/accountRecords/recordVersion.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'

/** Durable records about markets. */
export interface MarketRecords {
  /** Returns the fold of those that are durable. */
  fold(): MarketFold
  /** Writes one; resolves when it is durable and folded. Throws what the journal throws. */
  write(entry: MarketEntry): Promise<void>
}

/** Opens them over a journal. */
export function createMarketRecords({
  journal,
  clock,
}: {
  readonly journal: HasJournal['journal']
  readonly clock: WallClock
}): MarketRecords {
  let fold = journal.account().markets ?? emptyMarketFold
  return {
    fold: () => fold,
    async write(entry) {
      const atMs = clock.now()
      await journal.appendAccount({ ...entry, v: RECORD_VERSION, atMs, intentId: ACCOUNT_ID })
      fold = applyMarketEntry(fold, entry, atMs)
    },
  }
}
