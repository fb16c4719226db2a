/**
 * Sizes held on each side, by independent sources: the journal, the lists of the configured hosts, and the chain where it proves others' trades (the
 * journal's discrepancies). A list alone is the statement of one host, which may hide a position. Limits therefore count the largest of all
 * (docs/reference/evidence.md, "What counts as held"). Pure.
 */
import { madeOnce } from '../../base/madeOnce.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import type { Rows } from '../../protocol/reading.ts'
import { maxOf, type Usd } from '../../protocol/units.ts'
import type { Intent } from '../order/intent.ts'
import {
  type Discrepancies,
  expectedDeltaOf,
  type PositionSide,
  sideKeyOf,
  sideOfIntent,
} from './accountRecord.ts'
import type { Fill } from './fills.ts'

/** One side and its size, USD. */
export interface HeldSide extends PositionSide {
  readonly sizeUsd: Usd
}

/** A side that is held and of which a list shows no row that can be read. */
export interface UnlistedSide extends HeldSide {
  /** The reason, as a clause: `its row cannot be read: ...`. */
  readonly why: string
}

/** Sides by `sideKeyOf`. */
export type HeldSides = ReadonlyMap<string, HeldSide>

/** A side of which a list shows less than the journal knows. */
export interface HiddenSide extends PositionSide {
  /** Sizes that the list shows and that the journal knows, USD. */
  readonly shownUsd: Usd
  readonly knownUsd: Usd
}

/**
 * Sizes by the journal, USD, signed: our own executed orders (sums for closed intents, single fills for open ones), and others' changes that were
 * proven or that an operator adopted. A fill without a size counts as none.
 */
export function journalSides(fills: readonly Fill[], account: Discrepancies): HeldSides {
  const sides = new Map<string, HeldSide>()
  const add = ({ marketToken, direction, collateralToken }: PositionSide, deltaUsd: Usd): void => {
    const side = { marketToken, direction, collateralToken }
    const key = sideKeyOf(side)
    sides.set(key, { ...side, sizeUsd: (sides.get(key)?.sizeUsd ?? 0n) + deltaUsd })
  }
  for (const fill of fills) add(fill, fill.sizeDeltaUsd ?? 0n)
  for (const state of account.discrepancies.values()) add(state.discrepancy, expectedDeltaOf(state))
  return sides
}

/** Returns the size held on an order's side, USD, never below 0. */
export function heldOfOrder(sides: HeldSides, intent: Intent): Usd {
  return maxOf(sides.get(sideKeyOf(sideOfIntent(intent)))?.sizeUsd ?? 0n, 0n)
}

/**
 * Tells whether the journal knows that nothing is left on an order's side: everything added there was taken off again. A list shows no row in that
 * case, nor before the fill.
 */
export function isTakenOff(sides: HeldSides, intent: Intent): boolean {
  const side = sides.get(sideKeyOf(sideOfIntent(intent)))
  return side !== undefined && side.sizeUsd <= 0n
}

/** Sizes by a list, USD: of each side the largest that it shows. Made once for a list: every turn of every strategy asks some times. */
export const shownSides = madeOnce((rows: readonly Position[]): HeldSides => {
  const sides = new Map<string, HeldSide>()
  for (const { marketToken, direction, collateralToken, sizeInUsd } of rows) {
    const side = { marketToken, direction, collateralToken }
    const key = sideKeyOf(side)
    sides.set(key, { ...side, sizeUsd: maxOf(sizeInUsd, sides.get(key)?.sizeUsd ?? 0n) })
  }
  return sides
})

/** Returns the larger size of each side among several sources; none is below 0. */
export function largerOf(...sources: readonly HeldSides[]): HeldSides {
  const sides = new Map<string, HeldSide>()
  for (const [key, side] of sources.flatMap((source) => [...source])) {
    const sizeUsd = maxOf(side.sizeUsd, sides.get(key)?.sizeUsd ?? 0n)
    if (sizeUsd > 0n) sides.set(key, { ...side, sizeUsd })
  }
  return sides
}

/**
 * Sides of which a list shows less than the journal knows. A difference that an operator chose to ignore, with these very sizes, does not count.
 * Neither does one on a market with an unreadable row, which is reported separately (`DATA_INCOMPLETE`).
 */
export function hiddenIn(
  list: Rows<readonly Position[]>,
  known: HeldSides,
  account: Discrepancies,
): readonly HiddenSide[] {
  const shown = shownSides(list.value)
  return [...known].flatMap(([key, { sizeUsd: knownUsd, ...side }]) => {
    const shownUsd = shown.get(key)?.sizeUsd ?? 0n
    if (shownUsd >= knownUsd) return []
    const isUnread = (list.missing ?? []).some(
      ({ marketToken }) => marketToken === undefined || sameHex(marketToken, side.marketToken),
    )
    const isIgnored =
      account.discrepancies.get(positionDiscrepancyId(side, knownUsd, shownUsd))?.end === 'ignored'
    return isUnread || isIgnored ? [] : [{ ...side, shownUsd, knownUsd }]
  })
}

/**
 * The positions that are held and stand in no row that can be read: sides that the journal knows, and such of rows that cannot be read as say
 * whose they are and how large. Of a side that both know the journal's size counts. `isHidden`: whether a side without any row is hidden, and no lag.
 */
export function unlistedIn(
  list: Rows<readonly Position[]>,
  known: HeldSides,
  isHidden: (key: string) => boolean,
): readonly UnlistedSide[] {
  const shown = shownSides(list.value)
  const sides = new Map<string, UnlistedSide>()
  for (const { marketToken, direction, collateralToken, sizeInUsd = 0n, problem } of list.missing ?? []) {
    if (marketToken === undefined || direction === undefined || collateralToken === undefined) continue
    const side = { marketToken, direction, collateralToken }
    // The journal knows that nothing is left of a side it knew.
    if (sizeInUsd > 0n && !known.has(sideKeyOf(side)))
      sides.set(sideKeyOf(side), { ...side, sizeUsd: sizeInUsd, why: unreadable(problem) })
  }
  for (const [key, side] of known) {
    if (side.sizeUsd <= 0n) continue
    const row = (list.missing ?? []).find(
      ({ marketToken, direction = side.direction }) =>
        marketToken === undefined || (sameHex(marketToken, side.marketToken) && direction === side.direction),
    )
    if (row !== undefined) sides.set(key, { ...side, why: unreadable(row.problem) })
    else if (!shown.has(key) && isHidden(key)) sides.set(key, { ...side, why: 'no list shows it' })
  }
  return [...sides].flatMap(([key, side]) => (shown.has(key) ? [] : [side]))
}

function unreadable(problem: string): string {
  return `its row cannot be read: ${problem}`
}

/** Returns the id of the discrepancy of a side with an unexpected size. */
export function positionDiscrepancyId(side: PositionSide, expectedUsd: Usd, foundUsd: Usd): string {
  return `position:${sideKeyOf(side)}:${expectedUsd}:${foundUsd}`
}
