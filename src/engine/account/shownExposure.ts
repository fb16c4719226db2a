/**
 * The exposure that people are shown, and the fills that a list of positions does not show yet. Admission counts more carefully
 * (`risk/exposure/accountExposure.ts`); here what is known to be one thing counts once, and what may be one is told as that. Pure.
 */
import { sideKeyOf } from '../../domain/account/accountRecord.ts'
import { fillsOf } from '../../domain/account/fills.ts'
import { type HeldSides, largerOf, shownSides } from '../../domain/account/held.ts'
import { reservedOf } from '../../domain/machine/intentExposure.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { formatDollars, maxOf, minOf, type Usd } from '../../protocol/units.ts'

/** Held and still to come, USD. */
export interface ShownExposure {
  readonly exposureUsd: Usd
  /** What of it a list shows beyond the journal while an order is under way there: it may be that order's fill, counted twice. */
  readonly maybeTwiceUsd: Usd
}

/**
 * The exposure of rows and journal, of each side the larger, and of what open orders may still add. A fill that the journal holds is
 * held and no longer to come, also while the chain may take it back.
 */
export function shownExposure(
  rows: readonly Position[],
  journal: HeldSides,
  open: readonly IntentState[],
): ShownExposure {
  const shown = shownSides([rows])
  let exposureUsd = [...largerOf(shown, journal).values()].reduce((sum, side) => sum + side.sizeUsd, 0n)
  const comingBySide = new Map<string, Usd>()
  for (const state of open) {
    const comingUsd = comingOf(state)
    exposureUsd += comingUsd
    const { marketToken, direction, collateralToken } = state.intent.terms
    const key = sideKeyOf({ marketToken, direction, collateralToken: collateralToken.address })
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

/** What of a reservation is not filled yet by the journal, USD. */
function comingOf(state: IntentState): Usd {
  const reservedUsd = reservedOf(state)
  const filledUsd = fillsOf(state).reduce((sum, { sizeDeltaUsd = 0n }) => sum + maxOf(0n, sizeDeltaUsd), 0n)
  const stillReservedUsd = filledUsd - (state.intent.reservationUsd - reservedUsd)
  return maxOf(0n, reservedUsd - maxOf(0n, stillReservedUsd))
}

/**
 * Fills that the rows do not show, a sentence for each side: orders filled so lately that lists may be of before, where rows and
 * journal disagree. `recent`: intents with a change in the time that lists may lag.
 */
export function unlistedFills(
  rows: readonly Position[],
  journal: HeldSides,
  recent: readonly IntentState[],
): readonly string[] {
  const shown = shownSides([rows])
  const orders = new Map<string, { readonly words: string; readonly ids: Set<string> }>()
  for (const state of recent) {
    const { intentId, terms } = state.intent
    for (const fill of fillsOf(state)) {
      const key = sideKeyOf(fill)
      const knownUsd = maxOf(0n, journal.get(key)?.sizeUsd ?? 0n)
      const shownUsd = shown.get(key)?.sizeUsd ?? 0n
      if (knownUsd === shownUsd) continue
      const name = hexKey(fill.marketToken) === hexKey(terms.marketToken) ? terms.symbol : fill.marketToken
      const words = `${fill.direction} ${name} is ${formatDollars(knownUsd)} by its fills and ${formatDollars(shownUsd)} in the list`
      const known = orders.get(key) ?? { words, ids: new Set() }
      known.ids.add(intentId.replace(/^0x/, '').slice(0, 8))
      orders.set(key, known)
    }
  }
  return [...orders.values()].map(
    ({ words, ids }) => `${words}, which does not show the fill of ${[...ids].join(', ')} yet`,
  )
}
