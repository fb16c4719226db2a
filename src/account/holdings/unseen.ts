/** Fills that the lists may not show yet: admission counts them in addition to a snapshot's positions. */

import type { WallClock } from '../../base/clock.ts'
import { madeOnce } from '../../base/madeOnce.ts'
import { lastMade } from '../../base/sameAgain.ts'
import { sideKeyOf, sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import { type HeldSides, isTakenOff } from '../../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { Intent, IntentState } from '../../domain/order/intent.ts'
import { rowsBySide, type Snapshot } from '../../domain/snapshot.ts'
import { type OpenOrders, openStatesOf } from '../../execution/openOrders.ts'
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

const sideKeyOfIntent = madeOnce((intent: Intent) => sideKeyOf(sideOfIntent(intent)))

/** Open intents by strategy, made once for a list: every turn of every strategy asks for its own. */
const openByStrategy = madeOnce((open: readonly IntentState[]) => {
  return Map.groupBy(open, ({ intent }) => intent.strategy)
})

const none: readonly IntentState[] = []

/** A landed intent that the lists do not show; `hasRow` false: an increase without a row, which the journal may know to be taken off again. */
interface NotShown {
  readonly state: IntentState
  readonly hasRow: boolean
}

/** Over the intents that are followed. `journal`: sizes by the journal, signed. */
export function createUnseen(openOrders: OpenOrders, clock: WallClock, journal: () => HeldSides): Unseen {
  function readAgo({ positions }: Snapshot): number {
    return Math.max(0, clock.now() - positions.atMs)
  }

  /** Tells whether its age alone lets the lists be believed. */
  function isOld({ intent }: IntentState, readAgoMs: number): boolean {
    return openOrders.closedAgoMs(intent.intentId) - readAgoMs >= LIST_LAG_MS
  }

  function isSeen(state: IntentState, snapshot: Snapshot): boolean {
    if (isOld(state, readAgo(snapshot))) return true
    const shown = isShown(state, snapshot)
    return shown === 'no-row' ? isTakenOff(journal(), state.intent) : shown
  }

  /** Tells the same by the rows alone, whatever the time; `no-row`: an increase whose size was taken off again shows in none. */
  function isShown({ intent, closing }: IntentState, snapshot: Snapshot): boolean | 'no-row' {
    const { terms, kind } = intent
    if (kind === 'edit' || kind === 'cancel') return showsChange(intent, snapshot)
    // A market with unreadable rows shows nothing, least of all that a position is gone.
    if (lacksMarket(snapshot.positions.missing, terms.marketToken)) return false
    const row = rowsBySide(snapshot.positions.value).get(sideKeyOfIntent(intent))
    const adds = kind === 'increase' || kind === 'collateral-in'
    if (row === undefined && adds) return 'no-row'
    const filledAtSeconds = closing?.settlement?.timestampSeconds
    if (filledAtSeconds === undefined) return false
    if (row === undefined) return true
    const { increasedAtSeconds, decreasedAtSeconds } = row
    // A row that changed later, either way, is of after the fill: a position that was opened again has no decrease yet.
    return adds
      ? increasedAtSeconds >= filledAtSeconds || decreasedAtSeconds > filledAtSeconds
      : decreasedAtSeconds >= filledAtSeconds || increasedAtSeconds > filledAtSeconds
  }

  const lastWhole = lastMade<readonly IntentState[]>()
  const lastNotShown = lastMade<readonly NotShown[]>()

  /** The landed intents that these lists do not show: each turn reads the lists of the one before, until they are read again. */
  function notShown(snapshot: Snapshot): readonly NotShown[] {
    const { positions, orders } = snapshot
    const landed = openOrders.recentlyLanded()
    return lastNotShown([landed, positions.value, positions.missing, orders.value, orders.missing], () =>
      landed.flatMap((state) => {
        const shown = isShown(state, snapshot)
        return shown === true ? [] : [{ state, hasRow: shown !== 'no-row' }]
      }),
    )
  }

  return {
    isSeen,
    recent: () => [
      ...openStatesOf(openOrders).filter(
        ({ updatedAtMs }) => Math.abs(clock.now() - updatedAtMs) < LIST_LAG_MS,
      ),
      ...openOrders
        .recentlyLanded()
        .filter(({ intent }) => openOrders.closedAgoMs(intent.intentId) < LIST_LAG_MS),
    ],
    in(snapshot, strategy) {
      // Asked for once for all of them, and not at all where every row shows.
      let known: HeldSides | undefined
      const isGone = (intent: Intent): boolean => {
        known ??= journal()
        return isTakenOff(known, intent)
      }
      const all = openStatesOf(openOrders)
      const open = strategy === undefined ? all : (openByStrategy(all).get(strategy) ?? none)
      const readAgoMs = readAgo(snapshot)
      const landed: IntentState[] = []
      for (const { state, hasRow } of notShown(snapshot)) {
        if (strategy !== undefined && state.intent.strategy !== strategy) continue
        if (!isOld(state, readAgoMs) && (hasRow || !isGone(state.intent))) landed.push(asOpen(state))
      }
      if (landed.length === 0) return open
      const found = [...open, ...landed]
      // The same list again where nothing of it changed: derived data are made by it.
      return strategy === undefined ? lastWhole(found, () => found) : found
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
