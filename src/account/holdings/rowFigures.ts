/**
 * Figures of positions on which keepers act: collateral, distance to liquidation, leverage. One host's row alone endangers no position. If another
 * host's fresh row of the same size differs, the row counts that matches the last agreement of both. The mark is the price on which most hosts agree.
 * Without any other source a row counts as it is. A position in danger is therefore protected while the second source is slow or gone.
 */
import { lastMade } from '../../base/sameAgain.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { liquidationDistanceBps, type Position } from '../../protocol/position.ts'
import { absOf, bps, type Usd } from '../../protocol/units.ts'

/** The sources that rows are compared with. */
export interface RowSources {
  /** Every host's newest list. */
  readonly lists: readonly (readonly Position[])[]
  /** The price that most hosts agreed on just now, USD per whole token; undefined where none is known. */
  readonly priceOf: (marketToken: string) => Usd | undefined
}

/** Rows over time. */
export interface RowFigures {
  /** Returns the rows with figures that more than one host supports, as far as there is another. */
  judged(rows: readonly Position[], sources: RowSources): readonly Position[]
}

/** Figures that agree may be this far apart: fees and funding move them between two reads, bps. */
const SAME_BPS = 100
/** A row's mark may lie this far from the price that most hosts agree on, bps. */
const MARK_BPS = 200

/** Figures of rows, of which no two hosts agreed yet. */
export function createRowFigures(): RowFigures {
  const agreed = new Map<string, Position>()
  const lastOf = lastMade<readonly Position[]>()

  function judgedRow(
    row: Position,
    bySide: ReadonlyMap<string, readonly Position[]>,
    price: Usd | undefined,
  ): Position {
    const key = sideKeyOf(row)
    const others = (bySide.get(key) ?? []).filter((other) => other.sizeInUsd === row.sizeInUsd)
    if (others.length > 1 && others.every((other) => saysSame(row, other))) {
      agreed.set(key, row)
      return withMark(row, price)
    }
    const before = agreed.get(key)
    const isAsBefore = (each: Position) =>
      before !== undefined &&
      before.sizeInUsd === each.sizeInUsd &&
      saysSame(before, each) &&
      !isRuinedByWord(each, price)
    const found = [row, ...others].find(isAsBefore) ?? row
    return withMark(found, price)
  }

  return {
    judged(rows, { lists, priceOf }) {
      const prices = rows.map(({ marketToken }) => priceOf(marketToken))
      // Judged again by the same inputs, rows and agreements stay: every turn of every strategy requests this.
      return lastOf([rows, ...lists, ...prices], () => {
        const bySide = Map.groupBy(lists.flat(), sideKeyOf)
        const judged = rows.map((row, index) => judgedRow(row, bySide, prices[index]))
        return judged.every((row, index) => row === rows[index]) ? rows : judged
      })
    },
  }
}

/** Tells whether two rows agree on the figures that do not move with the market. */
function saysSame(one: Position, other: Position): boolean {
  return (
    isNear(one.collateralAmount, other.collateralAmount) &&
    isNear(one.liquidationPrice ?? 0n, other.liquidationPrice ?? 0n)
  )
}

/** Judges whether a row says that nothing is left while the price is on the good side of its liquidation price. */
function isRuinedByWord(row: Position, price: Usd | undefined): boolean {
  if (row.leverageBps !== undefined) return false
  return (liquidationDistanceBps(withMark(row, price)) ?? 0) > 0
}

function withMark(row: Position, price: Usd | undefined): Position {
  const isOff = price !== undefined && absOf(row.markPrice - price) > bps(price, MARK_BPS)
  return isOff ? { ...row, markPrice: price } : row
}

function isNear(one: bigint, other: bigint): boolean {
  const [less, more] = one < other ? [one, other] : [other, one]
  return more - less <= bps(more, SAME_BPS)
}
