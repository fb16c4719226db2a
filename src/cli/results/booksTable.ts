/** Whose part of each position is whose, as a table under the positions. */

import type { BookRow } from '../../books/bookView.ts'
import { NOBODY } from '../../books/bookView.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'

import { managersOf } from '../../protocol/marketName.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { moneyCell } from '../output/moneyCell.ts'
import { type PriceText, pricesIn } from '../output/pricePlaces.ts'

/** A book as the daemon's answer has it. */
export type PlainBook = Plain<BookRow>

/** A position as far as its books are told by it. */
interface Held {
  readonly market: string
  readonly marketToken: string
  readonly direction: string
  readonly collateralToken: string
}

interface Line extends PlainBook {
  readonly market: string
}

const columnsOf = (priceText: PriceText<Line>): readonly Column<Line>[] => [
  { title: 'PART OF', rank: 0, wraps: true, of: ({ market, direction }) => `${market} ${direction}` },
  { title: 'STRATEGY', rank: 0, wraps: true, isName: true, of: ({ strategy }) => authorText(strategy) },
  { title: 'SIZE', rank: 0, isFigure: true, of: ({ sizeUsd }) => moneyCell(BigInt(sizeUsd)) },
  { title: 'SHARE', rank: 2, isFigure: true, of: ({ shareBps }) => percent(shareBps) },
  { title: 'ENTRY', rank: 1, isFigure: true, of: (row) => priceText(row, row.entryPrice) },
  { title: 'PNL', rank: 0, isFigure: true, of: ({ unrealizedUsd }) => dollars(unrealizedUsd) },
]

/** Tells whether a body is the response of `/api/books`. */
export function isBooks(body: unknown): body is readonly PlainBook[] {
  return Array.isArray(body) && body.every((each) => typeof each?.sizeUsd === 'string')
}

/** The books of one position that hold something. */
export function booksOf<T extends PlainBook>(
  position: Omit<Held, 'market'>,
  books: readonly T[],
): readonly T[] {
  const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
  return books.filter(
    (book) =>
      BigInt(book.sizeUsd) !== 0n &&
      book.direction === position.direction &&
      same(book.marketToken, position.marketToken) &&
      same(book.collateralToken, position.collateralToken),
  )
}

/** A running strategy as far as its positions are told by it. */
interface Runner {
  readonly name: string
  readonly symbols: readonly string[]
  readonly opensPositions: boolean
}

/** Tells whether a strategy has a part of a position in its book, or is a keeper that watches its market. */
export function managesIt(runner: Runner, position: Held, books: readonly PlainBook[]): boolean {
  return runner.opensPositions
    ? booksOf(position, books).some(({ strategy }) => strategy === runner.name)
    : managersOf([runner], position.market).length > 0
}

/** The table of those positions that several books share, or that are nobody's; empty where there is none. */
export function booksTable(positions: readonly Held[], books: readonly PlainBook[], width: number): string {
  const lines = positions.flatMap((position): readonly Line[] => {
    const own = booksOf(position, books)
    const isTold = own.length > 1 || own.some(({ strategy }) => strategy === NOBODY)
    return isTold ? own.map((book) => ({ ...book, market: position.market })) : []
  })
  if (lines.length === 0) return ''
  const priceText = pricesIn(
    lines,
    ({ market }) => market,
    ({ entryPrice }) => [entryPrice],
  )
  return fitTable(columnsOf(priceText), lines, width)
}

function percent(shareBps: number | null): string {
  return shareBps === null ? '' : `${(shareBps / 100).toFixed(1)}%`
}

function dollars(value: string | null): string {
  return value === null ? '' : moneyCell(BigInt(value))
}
