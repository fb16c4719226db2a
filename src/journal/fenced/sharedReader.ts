/** Reading a journal on a server from outside, beside a running or a dead daemon. */
import type { Clock } from '../../base/clock.ts'
import { Books } from '../../books/books.ts'
import { keepsAll } from '../../books/booksState.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { JournalReader } from '../journal.ts'
import { createLedger, type Ledger } from '../journalLedger.ts'
import { recoverLedger } from '../recoverLedger.ts'
import { createHistoryFold } from '../tradeHistory.ts'
import { SharedReads } from './sharedReads.ts'
import type { SharedServer } from './sharedServer.ts'
import { createSteady } from './steady.ts'

/** A command waits this long for a server, ms. */
const SETTLE_MS = 10_000

/** The reader over one connection, which it owns. Its reads throw JournalFaultError JOURNAL_UNREACHABLE, JOURNAL_CORRUPT or JOURNAL_NEWER. */
export function createSharedReader(server: SharedServer, clock: Clock): JournalReader {
  const reads = new SharedReads(server, createSteady(server.name, clock, SETTLE_MS))

  async function ledger(): Promise<Ledger> {
    return (await recoverLedger(reads, clock.now())).ledger
  }

  /** Folds all records from the first on into books that keep every day. */
  async function whole(books: Books): Promise<readonly IntentState[]> {
    const folded = createLedger(undefined, books)
    const states = new Map<string, IntentState>()
    for await (const page of reads.read(0)) {
      for (const { record } of page) {
        const state = folded.fold(record)
        if (state !== undefined) states.set(record.intentId, state)
      }
    }
    return [...states.values()].reverse()
  }

  return {
    summary: async () => (await ledger()).summary(),
    account: async () => (await ledger()).account(),
    books: async () => (await ledger()).books(),
    intents: (query) => reads.intents(query),
    records: (intentId) => reads.records(intentId),
    intent: (intentId) => reads.intent(intentId),
    endingsSince: (sinceMs) => reads.endingsSince(sinceMs),
    async tradingHistory() {
      const fold = createHistoryFold()
      for await (const page of reads.read(0)) for (const { record } of page) fold.fold(record)
      return fold.read()
    },
    async history() {
      const books = new Books(undefined, keepsAll)
      return { intents: await whole(books), books }
    },
    close: () => server.close(),
  }
}
