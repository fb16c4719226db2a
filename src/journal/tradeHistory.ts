/** The history of trading: closed trades, and the results of every day, folded over all records from the first on. */
import { defined } from '../base/defined.ts'
import { Books } from '../books/books.ts'
import { keepsAll } from '../books/booksState.ts'
import { bookName } from '../books/bookView.ts'
import { closedTrade } from '../books/closedTrades.ts'
import { venueResultOf } from '../books/figures.ts'
import { createRoundTrips } from '../books/roundTrips.ts'
import type { Posting } from '../books/sideParts.ts'
import { TradeNotes } from '../books/tradeNotes.ts'
import type { BookFill, TradingHistory } from '../books/tradingHistory.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { AnyRecord } from '../domain/records.ts'
import { createLedger } from './journalLedger.ts'

/** The fold of all records into a history. */
export interface HistoryFold {
  /** Number of the newest record that was folded; 0 before the first. */
  readonly seq: number
  /** Folds the next record. Throws as `Ledger.fold`. */
  fold(record: AnyRecord): IntentState | undefined
  /** Returns the history up to here, moves that the chain may take back included; later records do not change it, but for its books. */
  read(): TradingHistory
}

/** Begins before the first record. */
export function createHistoryFold(): HistoryFold {
  const settled = createRoundTrips()
  const notes = new TradeNotes()
  const fills: BookFill[] = []
  const books = new Books(undefined, keepsAll, (posting, side) => {
    settled.take(posting, side)
    fills.push(...fillsOf(posting, side))
  })
  const ledger = createLedger(undefined, books)
  return {
    get seq() {
      return ledger.seq
    },
    fold(record) {
      const state = ledger.fold(record)
      if (state !== undefined) notes.foldIntent(record.kind, state)
      else if (record.kind === 'discrepancy.raised') notes.foldDiscrepancy(record.discrepancy)
      return state
    },
    read() {
      const trips = settled.copy()
      const unsettled = books.unsettled()
      for (const { posting, side } of unsettled) trips.take(posting, side)
      const ended = trips.ended()
      return {
        seq: ledger.seq,
        books,
        fills: [...fills, ...unsettled.flatMap(({ posting, side }) => fillsOf(posting, side))].toSorted(
          (one, other) => one.atMs - other.atMs,
        ),
        sums: trips.sums(books.all()),
        closedTrades: (facts) =>
          ended
            .map((trip) =>
              closedTrade(trip, {
                facts,
                noted: notes.marketOf(trip.marketToken),
                end: notes.endOf(trip),
                firstStop: notes.firstStopOf(trip),
              }),
            )
            .toSorted((one, other) => other.closedAt.localeCompare(one.closedAt)),
      }
    },
  }
}

/** Returns the change of a book; none where a posting leaves its size and its result as they are. */
function fillsOf(
  { move, strategy, figures, sizeDeltaUsd }: Posting,
  side: PositionSide,
): readonly BookFill[] {
  const resultUsd = venueResultOf(figures)
  if (sizeDeltaUsd === 0n && resultUsd === 0n) return []
  const { id, intentId, atMs } = move
  const { marketToken, direction, collateralToken } = side
  const sides = { marketToken, direction, collateralToken }
  return [
    { id, ...defined({ intentId }), atMs, strategy: bookName(strategy), ...sides, sizeDeltaUsd, resultUsd },
  ]
}
