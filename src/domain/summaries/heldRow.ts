/** Notes on a position for a screen: its owners, the exits that rest for it, and the tokens that back it. One row a position. Pure. */
import type { Direction } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import { maxOf, minOf, type TokenAmount, type Usd } from '../../protocol/units.ts'
import { type PositionSide, sideKeyOf } from '../accountRecords/accountRecord.ts'
import type { OwnerKind, RestingRow } from './restingRow.ts'

/** An owner of a part of a position, or of a resting order. */
export interface Owner {
  readonly kind: OwnerKind
  /** The instance's name, the task's id; empty for a part that nobody of perpd opened. */
  readonly name: string
}

/** Exits of one sort that rest for a position. */
export interface RestingExits {
  /** Trigger of the one that the price reaches first, USD per whole index token; null where no trigger is known. */
  readonly nearest: Usd | null
  readonly count: number
}

/** Notes on one position, in the order of the positions. */
export interface HeldRow extends PositionSide {
  /** The market's symbol, or its token where no list names it. */
  readonly market: string
  /** Owners of its parts by the books, and tasks that keep exits of it. */
  readonly owners: readonly Owner[]
  /** Stops and targets that can fire; one that the venue has frozen is none. */
  readonly stops: RestingExits
  readonly targets: RestingExits
  /** Size that no stop would close, USD: 0 where all of it is protected, or meant to be without. Null before the first look at the orders. */
  readonly uncoveredUsd: Usd | null
  /** Symbol of the collateral token, empty where no list names it, with its decimals and the amount in base units. */
  readonly collateral: {
    readonly symbol: string
    readonly decimals: number | null
    readonly amount: TokenAmount
  }
}

/** Facts that rows are made of. */
export interface HeldFacts {
  readonly positions: readonly Position[]
  readonly resting: readonly RestingRow[]
  /** Sides of which stops would not close all; undefined before the first look at the orders. */
  readonly withoutStop: readonly (PositionSide & { readonly uncoveredUsd: Usd })[] | undefined
  readonly ownersOf: (side: PositionSide) => readonly Owner[]
  readonly symbolOf: (side: PositionSide) => string | undefined
  readonly tokenOf: (side: PositionSide) => { readonly symbol: string; readonly decimals: number } | undefined
}

/** The rows. */
export function heldRows(facts: HeldFacts): readonly HeldRow[] {
  const bare =
    facts.withoutStop && new Map(facts.withoutStop.map((side) => [sideKeyOf(side), side.uncoveredUsd]))
  return facts.positions.map((position): HeldRow => {
    const { marketToken, direction, collateralToken, collateralAmount } = position
    const side = { marketToken, direction, collateralToken }
    const key = sideKeyOf(side)
    const exits = facts.resting.filter((row) => !row.isFrozen && sideKeyOf(row) === key)
    const token = facts.tokenOf(side)
    return {
      ...side,
      market: facts.symbolOf(side) ?? marketToken,
      owners: facts.ownersOf(side),
      stops: exitsOf(exits, 'stop', direction),
      targets: exitsOf(exits, 'target', direction),
      uncoveredUsd: bare === undefined ? null : (bare.get(key) ?? 0n),
      collateral: {
        symbol: token?.symbol ?? '',
        decimals: token?.decimals ?? null,
        amount: collateralAmount,
      },
    }
  })
}

function exitsOf(rows: readonly RestingRow[], type: 'stop' | 'target', direction: Direction): RestingExits {
  const own = rows.filter((row) => row.type === type)
  const triggers = own.flatMap(({ triggerPrice }) => (triggerPrice === null ? [] : [triggerPrice]))
  // The price of a long falls to its stops and rises to its targets.
  const nearestOf = (direction === 'long') === (type === 'stop') ? maxOf : minOf
  const [first, ...rest] = triggers
  return {
    nearest: first === undefined ? null : rest.reduce((one, other) => nearestOf(one, other), first),
    count: own.length,
  }
}
