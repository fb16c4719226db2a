/** The history of trading as commands and the control port read it. */
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { Facts } from '../protocol/catalogue.ts'
import type { Usd } from '../protocol/units.ts'
import type { BookReads } from './books.ts'
import type { ClosedTrade } from './closedTrades.ts'
import type { TripSums } from './roundTrips.ts'

/** A change of one book by one fill. */
export interface BookFill extends PositionSide {
  /** Key of the order, or id of the discrepancy. */
  readonly id: string
  /** Absent: no order of ours. */
  readonly intentId?: string
  readonly atMs: number
  readonly strategy: string
  /** USD, signed. */
  readonly sizeDeltaUsd: Usd
  /** Realized by price, impact, fees, funding and borrowing; sending counts apart, on the day of its message. USD, signed. */
  readonly resultUsd: Usd
}

/** Closed trades and results of every day by all records up to one. */
export interface TradingHistory {
  /** Number of the newest record in it. */
  readonly seq: number
  /** With the results of every day. */
  readonly books: BookReads
  /** Closed trades, newest end first; `facts` name their markets. */
  closedTrades(facts: Facts): readonly ClosedTrade[]
  /** Changes of books by fills, oldest first. */
  readonly fills: readonly BookFill[]
  /** Each strategy's split of its result into closed trades, what is open, and neither. */
  readonly sums: readonly TripSums[]
}
