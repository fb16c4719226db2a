/** Books as people and scripts see them: rows of parts of positions, and of results. Pure projections of the books. */

import { madeOnce } from '../base/madeOnce.ts'
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { Address } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import type { Position } from '../protocol/position.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'
import type { Book, BookDay } from './books.ts'
import { addFigures, type Figures, noFigures, resultOf } from './figures.ts'
import { type Part, UNATTRIBUTED } from './sideParts.ts'
import { centsThatAddUp, toCents } from './wholeCents.ts'

/** The name that people read where no strategy of ours opened it. */
export const NOBODY = 'unattributed'

/** One book. USD has 30 decimals; amounts are in base units of their token. Null: not known, or there is none. */
export interface BookRow {
  /** `unattributed`: nobody's of ours. */
  readonly strategy: string
  readonly marketToken: Address
  readonly direction: Direction
  readonly collateralToken: Address
  readonly sizeUsd: Usd
  readonly sizeInTokens: TokenAmount
  readonly costUsd: Usd
  readonly collateral: TokenAmount
  /** USD per whole index token, by the book's own payments. */
  readonly entryPrice: Usd | null
  /** By the position's own price, before fees that are still to come, USD, signed. */
  readonly unrealizedUsd: Usd | null
  /** Share of the sum of all books of the side, bps. */
  readonly shareBps: number | null
  /** All that it brought so far. */
  readonly results: Results
}

/** Results, after all costs, and their parts. */
export interface Results extends Figures {
  /** Price PnL, price impact and swaps less all fees and the cost of sending, USD, signed. */
  readonly pnlUsd: Usd
}

/** Returns figures with their sum. */
export function resultsOf(figures: Figures): Results {
  return { pnlUsd: resultOf(figures), ...figures }
}

/** The sum of many. */
export function sumOf(all: Iterable<Figures>): Figures {
  let sum = noFigures
  for (const each of all) sum = addFigures(sum, each)
  return sum
}

/** The name of a book for people. */
export function bookName(strategy: string): string {
  return strategy === UNATTRIBUTED ? NOBODY : strategy
}

/** Fields that a position's row needs for its books. */
export type ValuedPosition = PositionSide &
  Pick<Position, 'sizeInUsd' | 'sizeInTokens' | 'pnlUsd' | 'entryPrice'>

/** Returns all books as rows; those of positions with their entry and their unrealized result. */
export function bookRows(books: readonly Book[], positions: readonly ValuedPosition[]): readonly BookRow[] {
  const bySide = new Map(positions.map((position) => [sideKeyOf(position), position]))
  const heldUsd = new Map<string, Usd>()
  for (const book of books) {
    const key = sideKeyOf(book)
    heldUsd.set(key, (heldUsd.get(key) ?? 0n) + book.sizeUsd)
  }
  return books.map((book): BookRow => {
    const { marketToken, direction, collateralToken, sizeUsd, sizeInTokens, costUsd, collateral } = book
    const key = sideKeyOf(book)
    const wholeUsd = heldUsd.get(key) ?? 0n
    const share = wholeUsd > 0n && sizeUsd !== 0n ? Number((sizeUsd * 10_000n) / wholeUsd) : null
    return {
      strategy: bookName(book.strategy),
      marketToken,
      direction,
      collateralToken,
      sizeUsd,
      sizeInTokens,
      costUsd,
      collateral,
      ...worthOf(book, bySide.get(key)),
      shareBps: share,
      results: resultsOf(book.figures),
    }
  })
}

/** The last row of each side; made once for a list: each decision of each strategy asks. */
const lastRowsOf = madeOnce((positions: readonly ValuedPosition[]) => {
  return new Map(positions.map((position) => [sideKeyOf(position), position]))
})

/** Sums the results of parts at their positions' prices, before fees still to come, USD, signed; a part without a position counts as zero. */
export function openResultUsd(
  parts: readonly (PositionSide & Part)[],
  positions: readonly ValuedPosition[],
): Usd {
  if (parts.length === 0) return 0n
  const bySide = lastRowsOf(positions)
  return parts.reduce(
    (sum, part) => sum + (worthOf(part, bySide.get(sideKeyOf(part))).unrealizedUsd ?? 0n),
    0n,
  )
}

/** Sums the same over all parts of each strategy, by name; zero sums are left out. */
export function openResultsOf(
  books: readonly Book[],
  positions: readonly ValuedPosition[],
): Readonly<Record<string, Usd>> {
  const own = books.filter(({ strategy, sizeUsd }) => strategy !== UNATTRIBUTED && sizeUsd > 0n)
  const results = [...Map.groupBy(own, ({ strategy }) => strategy)].map(
    ([strategy, parts]) => [strategy, openResultUsd(parts, positions)] as const,
  )
  return Object.fromEntries(results.filter(([, resultUsd]) => resultUsd !== 0n))
}

/** Values by the position's own measures: its entry is its size by its tokens, and its PnL is their worth beyond it. */
function worthOf(
  { direction, sizeInTokens, costUsd }: Pick<Book, 'direction' | 'sizeInTokens' | 'costUsd'>,
  position: ValuedPosition | undefined,
): { readonly entryPrice: Usd | null; readonly unrealizedUsd: Usd | null } {
  const none = { entryPrice: null, unrealizedUsd: null }
  if (position === undefined || sizeInTokens <= 0n || position.sizeInTokens <= 0n) return none
  const { sizeInUsd, pnlUsd, entryPrice } = position
  const sign = direction === 'long' ? 1n : -1n
  const worthUsd = ((sizeInUsd + sign * pnlUsd) * sizeInTokens) / position.sizeInTokens
  return {
    entryPrice:
      entryPrice === undefined || sizeInUsd <= 0n
        ? null
        : (costUsd * position.sizeInTokens * entryPrice) / (sizeInTokens * sizeInUsd),
    unrealizedUsd: sign * (worthUsd - costUsd),
  }
}

/** Sums of a strategy's books: their positions and results. */
export interface StrategyBooks {
  readonly strategy: string
  readonly heldUsd: Usd
  /** After all costs, USD, signed. */
  readonly pnlUsd: Usd
  readonly trades: number
  readonly wins: number
}

/** Under this name stand strategies that do not run. */
const OTHERS = 'other'

/** Books by strategy, for series: as many as run, and the names that there always are. */
export function strategyBooks(
  rows: readonly BookRow[],
  running: readonly { readonly name: string }[],
): readonly StrategyBooks[] {
  const names = new Set([...running.map(({ name }) => name), '@operator', NOBODY])
  const nameOf = ({ strategy }: BookRow): string => (names.has(strategy) ? strategy : OTHERS)
  return [...Map.groupBy(rows, nameOf)].map(([strategy, group]): StrategyBooks => {
    const { pnlUsd, trades, wins } = resultsOf(sumOf(group.map(({ results }) => results)))
    return { strategy, heldUsd: group.reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n), pnlUsd, trades, wins }
  })
}

/** Parts of a day's change of equity, USD in whole cents, signed: they add up to the rounded change. Deposits and withdrawals are in none. */
export interface DayParts {
  /** Price and impact of reductions, and swaps, by the books. */
  readonly closedUsd: Usd
  /** Change of the unrealized results of open parts since the day's first figure. */
  readonly openUsd: Usd
  /** Fees, funding, borrowing and sending less what came back, by the books; below 0 for a cost. */
  readonly costsUsd: Usd
  /**
   * The rest: tokens that became dearer or cheaper, fees of open positions that are pending, positions of others, and what no equity counts: fees
   * that came back in the gas coin, and funding that waits to be claimed.
   */
  readonly restUsd: Usd
}

/** The names of the parts, in the order in which they are shown. */
export const dayPartNames = ['closedUsd', 'openUsd', 'costsUsd', 'restUsd'] as const

/**
 * Splits a day's change of equity.
 *
 * @param changeUsd equity less the day's first figure
 * @param days results of all books on that day
 * @param openUsd change of the unrealized results of open parts
 */
export function dayPartsOf(changeUsd: Usd, days: readonly BookDay[], openUsd: Usd): DayParts {
  const figures = sumOf(days.map((day) => day.figures))
  const closed = figures.pricePnlUsd + figures.impactUsd + figures.swapUsd
  const costs = resultOf(figures) - closed
  const rest = changeUsd - closed - openUsd - costs
  const [closedUsd = 0n, open = 0n, costsUsd = 0n, restUsd = 0n] = centsThatAddUp(
    [closed, openUsd, costs, rest],
    toCents(changeUsd),
  )
  return { closedUsd, openUsd: open, costsUsd, restUsd }
}
