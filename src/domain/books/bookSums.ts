/** The books of a side against what the journal expects of it: they are two folds of the same records, and agree to the last unit. Pure. */
import type { Usd } from '../../protocol/units.ts'
import { type AccountState, type PositionSide, sideKeyOf } from '../account/accountRecord.ts'
import { type Fill, fillsOf } from '../account/fills.ts'
import { journalSides } from '../account/held.ts'
import type { IntentState } from '../order/intent.ts'
import type { BookReads } from './books.ts'

/** A side whose books do not add up. */
export interface WrongSum extends PositionSide {
  readonly booksUsd: Usd
  readonly expectedUsd: Usd
}

/** What a ledger is asked, all in one turn. */
export interface SummedLedger {
  books(): Pick<BookReads, 'all'>
  closedFills(): readonly Fill[]
  openIntents(): readonly IntentState[]
  account(): Pick<AccountState, 'findings'>
}

/** Sides whose books do not add up to the journal's size: a mistake of perpd's own. */
export function wrongSums(ledger: SummedLedger): readonly WrongSum[] {
  const fills = [...ledger.closedFills(), ...ledger.openIntents().flatMap(fillsOf)]
  const sums = new Map<string, WrongSum>()
  for (const [key, { sizeUsd, ...side }] of journalSides(fills, ledger.account()))
    sums.set(key, { ...side, booksUsd: 0n, expectedUsd: sizeUsd })
  for (const { marketToken, direction, collateralToken, sizeUsd } of ledger.books().all()) {
    const side = { marketToken, direction, collateralToken }
    const key = sideKeyOf(side)
    const sum = sums.get(key) ?? { ...side, booksUsd: 0n, expectedUsd: 0n }
    sums.set(key, { ...sum, booksUsd: sum.booksUsd + sizeUsd })
  }
  return [...sums.values()].filter(({ booksUsd, expectedUsd }) => booksUsd !== expectedUsd)
}
