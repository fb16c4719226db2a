/**
 * Compares the books of a side with the journal's expectation: they are two folds of the same records, and agree to the last unit, in USD and in
 * tokens. Collateral is no sum to check: the venue subtracts fees and losses from a position's collateral, while books record payments in. Pure.
 */

import { type Discrepancies, type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { type Fill, fillsOf } from '../domain/accountRecords/fills.ts'
import { journalSides } from '../domain/accountRecords/held.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'
import type { Book } from './books.ts'
import type { SideTokens } from './sideLog.ts'

/** A side whose books do not add up. */
export interface WrongSum extends PositionSide {
  readonly booksUsd: Usd
  readonly expectedUsd: Usd
  /** Index tokens, base units; absent where they agree. */
  readonly booksTokens?: TokenAmount
  readonly expectedTokens?: TokenAmount
}

/** Ledger queries, all answered in one turn. */
export interface SummedLedger {
  books(): { all(): readonly Book[]; tokens(): readonly SideTokens[] }
  closedFills(): readonly Fill[]
  openIntents(): readonly IntentState[]
  account(): Discrepancies
}

interface Sum extends PositionSide {
  booksUsd: Usd
  expectedUsd: Usd
  booksTokens: TokenAmount
  /** By the moves alone; absent where a state of before says none. */
  expectedTokens?: TokenAmount
}

/** Sides whose books do not add up to the journal's size, or to the tokens of its moves: a mistake of perpd's own. */
export function wrongSums(ledger: SummedLedger): readonly WrongSum[] {
  const fills = [...ledger.closedFills(), ...ledger.openIntents().flatMap(fillsOf)]
  const books = ledger.books()
  const sums = new Map<string, Sum>()
  const sumOf = ({ marketToken, direction, collateralToken }: PositionSide): Sum => {
    const side = { marketToken, direction, collateralToken }
    const sum = sums.get(sideKeyOf(side)) ?? { ...side, booksUsd: 0n, expectedUsd: 0n, booksTokens: 0n }
    sums.set(sideKeyOf(side), sum)
    return sum
  }
  for (const { sizeUsd, ...side } of journalSides(fills, ledger.account()).values())
    sumOf(side).expectedUsd = sizeUsd
  for (const { sizeInTokens, ...side } of books.tokens()) sumOf(side).expectedTokens = sizeInTokens
  for (const { sizeUsd, sizeInTokens, ...side } of books.all()) {
    const sum = sumOf(side)
    sum.booksUsd += sizeUsd
    sum.booksTokens += sizeInTokens
  }
  return [...sums.values()].flatMap(({ booksTokens, expectedTokens = booksTokens, ...sum }) => {
    const tokens = booksTokens === expectedTokens ? {} : { booksTokens, expectedTokens }
    return sum.booksUsd === sum.expectedUsd && booksTokens === expectedTokens ? [] : [{ ...sum, ...tokens }]
  })
}
