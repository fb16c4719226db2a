/** Reads the history of trading beside the writer: what is not folded yet, in slices, and for as long as somebody asks. */
import type { TradingHistory } from '../books/tradingHistory.ts'
import type { RecordReads } from './journalStore.ts'
import type { Maintenance } from './maintenance.ts'
import { createHistoryFold, type HistoryFold } from './tradeHistory.ts'

/** Records that are folded at once before other work goes on: some milliseconds. */
const SLICE = 50
/** A fold that nobody asked for so long is dropped: it holds as much as the ledger, ms. */
const KEPT_MS = 900_000

/** The history, read on demand. */
export interface HistoryReader {
  /** Returns the history of all records up to now. Requests that come while it reads share the reading. Throws as `RecordReads.read`. */
  read(): Promise<TradingHistory>
}

/** Reads from a store; records that are committed meanwhile are read too. */
export function createHistoryReader(store: RecordReads, later: Maintenance['later']): HistoryReader {
  let fold: HistoryFold | undefined
  let known: TradingHistory | undefined
  let reading: Promise<TradingHistory> | undefined
  let keepOn = () => {}

  async function catchUp(): Promise<TradingHistory> {
    const own = fold ?? createHistoryFold()
    // A fold that a fault left in the middle of a page is not gone on with.
    fold = undefined
    for await (const page of store.read(own.seq)) {
      for (const [place, { record }] of page.entries()) {
        own.fold(record)
        if (place % SLICE === SLICE - 1) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    fold = own
    if (known === undefined || known.seq !== own.seq) known = own.read()
    keepOn()
    keepOn = later(KEPT_MS, drop)
    return known
  }

  function drop(): void {
    if (reading !== undefined) return
    fold = undefined
    known = undefined
  }

  return {
    read() {
      reading ??= catchUp().finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}
