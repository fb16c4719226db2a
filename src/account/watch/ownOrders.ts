/** Own orders of a list as they are in force by the journal, without those that a message of ours may be changing. */

import type { OwnOrder } from '../../domain/accountRecords/changedOrders.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import {
  earlierRevisions,
  type OrderChange,
  rowDifference,
  signedOrderIn,
  touches,
} from '../../domain/order/signedOrder.ts'
import type { HasClock, HasJournal } from '../../execution/context/executionParts.ts'
import { type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import type { Order } from '../../protocol/position.ts'
import type { HasOrders } from '../accountParts.ts'
import { isBusy } from '../holdings/lag.ts'

/**
 * Returns how listed orders were signed, by lower-case key. Orders that are not ours, unknown or still changing are left out. So is an order that the
 * list shows as it was before an edit of ours.
 */
export type OwnOrders = (listed: readonly Order[]) => ReadonlyMap<string, OwnOrder>

/**
 * Makes the look-up. What it found is kept while no message of ours names the order and none changed it since: a maker is not looked for
 * at every pass.
 */
export function createOwnOrders({
  clock,
  journal,
  openOrders,
}: HasClock & HasJournal & HasOrders): OwnOrders {
  const startedMs = clock.monotonicMs()
  let known: ReadonlyMap<string, OwnOrder & { readonly change: OrderChange | undefined }> = new Map()
  /** Times when the venue last changed a row that was as it was signed, by lower-case key, Unix seconds of the venue. */
  let agreedAtSeconds: ReadonlyMap<string, number> = new Map()

  /**
   * Tells whether a row predates an edit of ours: it has the very content that the edit replaced, and the venue changed it last before the edit was
   * signed. A list may lag for longer than any wait; another client that restores the old content changes the row anew.
   */
  function isBeforeEdit(row: Order, maker: IntentState): boolean {
    const { orderKey, updatedAtSeconds } = row
    return earlierRevisions(journal.recentIntents(), maker, orderKey).some(
      ({ signed, replacedAtMs }) =>
        rowDifference(row, signed) === undefined &&
        (updatedAtSeconds <= Math.floor(replacedAtMs / 1000) ||
          updatedAtSeconds === agreedAtSeconds.get(hexKey(orderKey))),
    )
  }

  return (listed) => {
    // Orders that ended right before the start are no longer among the recently landed.
    if (clock.monotonicMs() - startedMs < LIST_LAG_MS) return new Map()
    const nowMs = clock.now()
    const open = openOrders.open().map(({ state }) => state)
    const landed = openOrders.recentlyLanded()
    const named = [...open, ...landed]
    // A list may not show a recent landing yet.
    const unsettled = [
      ...open,
      ...landed.filter(({ intent }) => openOrders.closedAgoMs(intent.intentId) < LIST_LAG_MS),
    ]
    const own = new Map<string, OwnOrder>()
    const kept = new Map<string, OwnOrder & { readonly change: OrderChange | undefined }>()
    const agreed = new Map<string, number>()
    for (const row of listed) {
      const { orderKey } = row
      const key = hexKey(orderKey)
      const maker = open.find((state) => made(state, orderKey))
      if (maker === undefined) continue
      // A message of ours that ended since the last pass is among these for some minutes.
      const isNamed = named.some((state) => touches(state, orderKey))
      const before = known.get(key)
      // One that came and went between two passes, as while no list could be read, names it no more and changed it.
      const change = journal.changeOf(orderKey)
      const isKept = !isNamed && before !== undefined && before.change === change
      const signed = isKept ? before.signed : signedOrderIn(journal, orderKey)
      const beforeSeconds = agreedAtSeconds.get(key)
      if (beforeSeconds !== undefined) agreed.set(key, beforeSeconds)
      if (signed === undefined) continue
      const found = { signed, indexDecimals: maker.intent.terms.indexToken.decimals }
      kept.set(key, { ...found, change })
      const isAsSigned = rowDifference(row, signed) === undefined
      if (isAsSigned) agreed.set(key, row.updatedAtSeconds)
      if (isBusy(maker, nowMs) || unsettled.some((state) => touches(state, orderKey))) continue
      if (isAsSigned || !isBeforeEdit(row, maker)) own.set(key, found)
    }
    known = kept
    agreedAtSeconds = agreed
    return own
  }
}

function made({ attempts }: IntentState, orderKey: Hex): boolean {
  return attempts.some(({ children }) => children.some((child) => sameHex(child.orderKey, orderKey)))
}
