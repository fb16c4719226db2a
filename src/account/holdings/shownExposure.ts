/**
 * The exposure that people see, and the fills that a list of positions does not show yet. Admission counts more carefully
 * (`risk/exposure/accountExposure.ts`). Here two figures that are known to be one thing count once, and a possible double count is reported as such.
 * Pure.
 */
import { sideKeyOf, sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import { type Fill, fillsOf } from '../../domain/accountRecords/fills.ts'
import { type HeldSides, largerOf, shownSides } from '../../domain/accountRecords/held.ts'
import { comingOf } from '../../domain/machine/intentExposure.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { formatDollars, maxOf, minOf, type Usd } from '../../protocol/units.ts'

/** Held and still to come, USD. */
export interface ShownExposure {
  readonly exposureUsd: Usd
  /** Part that a list shows beyond the journal while an order is in flight there: it may be that order's fill, counted twice. */
  readonly maybeTwiceUsd: Usd
}

/** One side of one market, both collateral tokens together: its position and possible additions by open orders, USD. */
export interface ShownSide {
  readonly marketToken: Position['marketToken']
  readonly direction: Position['direction']
  readonly sizeUsd: Usd
}

/** Returns the sides of rows and journal, the larger of each, with possible additions by open orders. */
export function shownSideSizes(
  rows: readonly Position[],
  journal: HeldSides,
  open: readonly IntentState[],
): readonly ShownSide[] {
  const sides = new Map<string, ShownSide>()
  const add = ({ marketToken, direction }: Omit<ShownSide, 'sizeUsd'>, addedUsd: Usd): void => {
    const key = `${hexKey(marketToken)}:${direction}`
    sides.set(key, { marketToken, direction, sizeUsd: (sides.get(key)?.sizeUsd ?? 0n) + addedUsd })
  }
  for (const side of largerOf(shownSides(rows), journal).values()) add(side, side.sizeUsd)
  for (const state of open) add(state.intent.terms, comingOf(state))
  return [...sides.values()]
}

/**
 * Returns the exposure of rows and journal, the larger of each side, and of possible additions by open orders. A fill in the journal counts as held
 * and no longer as coming, also while the chain may take it back.
 */
export function shownExposure(
  rows: readonly Position[],
  journal: HeldSides,
  open: readonly IntentState[],
): ShownExposure {
  const shown = shownSides(rows)
  const exposureUsd = shownSideSizes(rows, journal, open).reduce((sum, side) => sum + side.sizeUsd, 0n)
  const comingBySide = new Map<string, Usd>()
  for (const state of open) {
    const comingUsd = comingOf(state)
    const key = sideKeyOf(sideOfIntent(state.intent))
    if (lastAttempt(state)?.armed !== undefined)
      comingBySide.set(key, (comingBySide.get(key) ?? 0n) + comingUsd)
  }
  let maybeTwiceUsd = 0n
  for (const [key, comingUsd] of comingBySide) {
    const beyondUsd = (shown.get(key)?.sizeUsd ?? 0n) - maxOf(0n, journal.get(key)?.sizeUsd ?? 0n)
    maybeTwiceUsd += maxOf(0n, minOf(comingUsd, beyondUsd))
  }
  return { exposureUsd, maybeTwiceUsd }
}

/** A side where rows and journal disagree because of fills that the rows do not show yet. */
interface UnlistedSide {
  readonly direction: Position['direction']
  readonly marketToken: Position['marketToken']
  readonly name: string
  /** Held by the journal, never below 0, and by the rows, USD. */
  readonly knownUsd: Usd
  readonly shownUsd: Usd
  /** First characters of the orders' ids. */
  readonly ids: Set<string>
}

/** Joint view of positions by rows, journal and orders that changed recently: lists may predate a fill for some seconds, and the journal knows it. */
export interface ShownHoldings {
  /** The rows without positions that own orders closed in full. */
  readonly positions: readonly Position[]
  /** Sides as they are by the rows, and by the journal where it knows of a fill that they do not show. None is 0. */
  readonly sides: readonly {
    readonly direction: Position['direction']
    readonly name: string
    readonly sizeUsd: Usd
  }[]
  /** Fills that the rows do not show, a sentence for each side. */
  readonly unlistedFills: readonly string[]
  /** Positions that own orders closed in full and the list shows still, a sentence for each. */
  readonly closedFills: readonly string[]
}

/** @param recent intents with a change in the time that lists may lag */
export function shownHoldings(
  rows: readonly Position[],
  journal: HeldSides,
  recent: readonly IntentState[],
  symbols: Readonly<Record<string, string>> = {},
): ShownHoldings {
  const unlisted = unlistedSides(rows, journal, recent)
  const isClosed = (row: Position) => unlisted.get(sideKeyOf(row))?.knownUsd === 0n
  const positions = rows.filter((row) => !isClosed(row))
  const listed = positions.filter((row) => row.sizeInUsd > 0n && !unlisted.has(sideKeyOf(row)))
  const sides = [...unlisted.values()]
  const ids = (side: UnlistedSide) => [...side.ids].join(', ')
  return {
    positions,
    sides: [
      ...listed.map(({ direction, marketToken, sizeInUsd: sizeUsd }) => {
        return { direction, name: symbols[hexKey(marketToken)] ?? marketToken, sizeUsd }
      }),
      ...sides
        .filter(({ knownUsd }) => knownUsd > 0n)
        .map(({ direction, name, knownUsd: sizeUsd }) => ({ direction, name, sizeUsd })),
    ],
    unlistedFills: sides
      .filter(({ knownUsd }) => knownUsd > 0n)
      .map((side) => {
        const { direction, name, knownUsd, shownUsd } = side
        return `${direction} ${name} is ${formatDollars(knownUsd)} by its fills, but ${formatDollars(shownUsd)} in the list, which does not show the fill of ${ids(side)} yet`
      }),
    closedFills: sides
      .filter(({ knownUsd }) => knownUsd === 0n)
      .map((side) => {
        const { direction, name, shownUsd } = side
        return `${direction} ${name} was closed by ${ids(side)}, but the list still shows its ${formatDollars(shownUsd)}`
      }),
  }
}

function unlistedSides(
  rows: readonly Position[],
  journal: HeldSides,
  recent: readonly IntentState[],
): ReadonlyMap<string, UnlistedSide> {
  const shown = shownSides(rows)
  const byKey = new Map(rows.map((row) => [sideKeyOf(row), row]))
  const sides = new Map<string, UnlistedSide>()
  for (const state of recent) {
    const { intentId, terms } = state.intent
    for (const fill of fillsOf(state)) {
      const key = sideKeyOf(fill)
      const knownUsd = maxOf(0n, journal.get(key)?.sizeUsd ?? 0n)
      const shownUsd = shown.get(key)?.sizeUsd ?? 0n
      if (knownUsd === shownUsd || isListed(fill, byKey.get(key))) continue
      const { direction, marketToken } = fill
      const name = hexKey(marketToken) === hexKey(terms.marketToken) ? terms.symbol : marketToken
      const known = sides.get(key) ?? { direction, marketToken, name, knownUsd, shownUsd, ids: new Set() }
      known.ids.add(intentId.replace(/^0x/, '').slice(0, 8))
      sides.set(key, known)
    }
  }
  return sides
}

/** Tells whether a row is certainly from after a fill: the venue changed it then, or later. */
function isListed({ sizeDeltaUsd = 0n, atSeconds }: Fill, row: Position | undefined): boolean {
  if (row === undefined || atSeconds === undefined) return false
  const { increasedAtSeconds, decreasedAtSeconds } = row
  return sizeDeltaUsd > 0n
    ? increasedAtSeconds >= atSeconds || decreasedAtSeconds > atSeconds
    : decreasedAtSeconds >= atSeconds || increasedAtSeconds > atSeconds
}
