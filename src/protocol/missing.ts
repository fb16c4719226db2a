/**
 * Rows of a list that could not be read. The list is incomplete then, and says so: that something is not in it shows
 * nothing, neither that a position is closed nor that an order rests no longer.
 */
import { type Address, type Hex, sameHex } from './address.ts'
import type { Direction } from './market.ts'
import type { Usd } from './units.ts'

/** One row that could not be read, with what can be told of it. A part that cannot be told is absent. */
export interface MissingRow {
  /** Fault of the row, as a clause with its place: `[3].sizeInUsd is not an unsigned whole number ...`. */
  readonly problem: string
  /** The market that it is of. */
  readonly marketToken?: Address
  /** The token that it is of: of prices, tokens and balances. */
  readonly token?: Address
  readonly direction?: Direction
  /** Key of the order that it is of. */
  readonly orderKey?: Hex
  /** The collateral token of its position. */
  readonly collateralToken?: Address
  /** Size of the position that it is of, USD with 30 decimals. */
  readonly sizeInUsd?: Usd
}

/** Tells whether a list may lack a row of this market: an unreadable row names it, or names none. */
export function lacksMarket(missing: readonly MissingRow[] | undefined, marketToken: string): boolean {
  return (missing ?? []).some((row) => row.marketToken === undefined || sameHex(row.marketToken, marketToken))
}

/** Tells whether a list may lack a row of this order. */
export function lacksOrder(missing: readonly MissingRow[] | undefined, orderKey: string): boolean {
  return (missing ?? []).some((row) => row.orderKey === undefined || sameHex(row.orderKey, orderKey))
}
