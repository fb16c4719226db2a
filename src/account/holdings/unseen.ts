/** Fills that the lists may not show yet: admission counts them in addition to a snapshot's positions. */

import type { WallClock } from '../../base/clock.ts'
import { madeOnce } from '../../base/madeOnce.ts'
import { sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import { type HeldSides, isTakenOff } from '../../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { Intent, IntentState } from '../../domain/order/intent.ts'
import { positionOf, type Snapshot } from '../../domain/snapshot.ts'
import type { OpenOrders } from '../../execution/openOrders.ts'
import { sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'

/** Returns intents that a snapshot's positions may not show; of one strategy alone where it is named. */
export type UnseenIntents = (snapshot: Snapshot, strategy?: string) => readonly IntentState[]

/** Fills and changes that the lists may not show yet. */
export interface Unseen {
  /** Tells whether a fill shows in the positions, or a change in the orders. True also once it is so old that the lists are believed without it. */
  isSeen(state: IntentState, snapshot: Snapshot): boolean
  /**
   * Open intents, and landed ones that closed too shortly before the positions were read to be surely in them: the exposure counts them on top of a
   * snapshot's positions. Of one strategy alone where it is named.
   */
  readonly in: UnseenIntents
  /** Intents that changed in the time that lists may lag, open ones and landed ones. */
  recent(): readonly IntentState[]
}

/** Returns a landed intent as it was while open. The same state gives the same object, because derived data are cached by it. */
const asOpen = madeOnce(({ intent, attempts, updatedAtMs }: IntentState): IntentState => {
  return { intent, attempts, updatedAtMs }
})

/** Over the intents that are followed. `journal`: sizes by the journal, signed. */
export function createUnseen(openOrders: OpenOrders, clock: WallClock, journal: () => HeldSides): Unseen {
  function readAgo({ positions }: Snapshot): number {
    return Math.max(0, clock.now() - positions.atMs)
  }

  function isSeen(
    { intent, closing }: IntentState,
    snapshot: Snapshot,
    sides: () => HeldSides = journal,
    readAgoMs = readAgo(snapshot),
  ): boolean {
    if (openOrders.closedAgoMs(intent.intentId) - readAgoMs >= LIST_LAG_MS) return true
    const { terms, kind } = intent
    if (kind === 'edit' || kind === 'cancel') return showsChange(intent, snapshot)
    // A market with unreadable rows shows nothing, least of all that a position is gone.
    if (lacksMarket(snapshot.positions.missing, terms.marketToken)) return false
    const row = positionOf(snapshot, sideOfIntent(intent))
    const adds = kind === 'increase' || kind === 'collateral-in'
    // An increase whose size was taken off again shows in no row.
    if (row === undefined && adds) return isTakenOff(sides(), intent)
    const filledAtSeconds = closing?.settlement?.timestampSeconds
    if (filledAtSeconds === undefined) return false
    if (row === undefined) return true
    const { increasedAtSeconds, decreasedAtSeconds } = row
    // A row that changed later, either way, is of after the fill: a position that was opened again has no decrease yet.
    return adds
      ? increasedAtSeconds >= filledAtSeconds || decreasedAtSeconds > filledAtSeconds
      : decreasedAtSeconds >= filledAtSeconds || increasedAtSeconds > filledAtSeconds
  }
  return {
    isSeen,
    recent: () => [
      ...openOrders
        .open()
        .map(({ state }) => state)
        .filter(({ updatedAtMs }) => Math.abs(clock.now() - updatedAtMs) < LIST_LAG_MS),
      ...openOrders
        .recentlyLanded()
        .filter(({ intent }) => openOrders.closedAgoMs(intent.intentId) < LIST_LAG_MS),
    ],
    in(snapshot, strategy) {
      // Asked for once for all of them, and not at all where every row shows.
      let known: HeldSides | undefined
      const sides = () => {
        known ??= journal()
        return known
      }
      const isAsked = ({ intent }: IntentState) => strategy === undefined || intent.strategy === strategy
      const readAgoMs = readAgo(snapshot)
      const found: IntentState[] = []
      for (const { state } of openOrders.open()) if (isAsked(state)) found.push(state)
      for (const state of openOrders.recentlyLanded())
        if (isAsked(state) && !isSeen(state, snapshot, sides, readAgoMs)) found.push(asOpen(state))
      return found
    },
  }
}

/** Tells whether the orders of a snapshot are as an edit or a cancel left them. */
function showsChange({ kind, terms }: Intent, { orders }: Snapshot): boolean {
  if (lacksMarket(orders.missing, terms.marketToken)) return false
  const rowOf = (orderKey: string) => orders.value.find((row) => sameHex(row.orderKey, orderKey))
  if (kind === 'cancel') return (terms.cancelOrderKeys ?? []).every((key) => rowOf(key) === undefined)
  const row = terms.edit === undefined ? undefined : rowOf(terms.edit.orderKey)
  return (
    row === undefined ||
    (row.sizeDeltaUsd === terms.edit?.sizeDeltaUsd &&
      row.triggerContractPrice === terms.edit.triggerContractPrice)
  )
}
