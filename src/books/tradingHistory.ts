/** The history of trading as commands and the control port read it. */
import type { Facts } from '../protocol/catalogue.ts'
import type { BookReads } from './books.ts'
import type { ClosedTrade } from './closedTrades.ts'
import type { TripSums } from './roundTrips.ts'

/** Closed trades and results of every day by all records up to one. */
export interface TradingHistory {
  /** Number of the newest record in it. */
  readonly seq: number
  /** With the results of every day. */
  readonly books: BookReads
  /** Closed trades, newest end first; `facts` name their markets. */
  closedTrades(facts: Facts): readonly ClosedTrade[]
  /** Each strategy's split of its result into closed trades, what is open, and neither. */
  readonly sums: readonly TripSums[]
}
