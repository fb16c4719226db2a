/** Own orders of a list as they are in force by the journal, without those that a message of ours may be changing. */
import type { OwnOrder } from '../../domain/account/changedOrders.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { signedOrderIn, touches } from '../../domain/order/signedOrder.ts'
import { type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { isBusy, settleMs } from '../account/lag.ts'
import type { EngineContext } from '../context/engineContext.ts'

/** Tells of listed orders, by lower-case key, how they were signed; one that is not ours, not known or not still is left out. */
export type OwnOrders = (listed: readonly Hex[]) => ReadonlyMap<string, OwnOrder>

/** Makes the look-up. What it found is kept while no message of ours names the order: the journal is not read at every pass. */
export function createOwnOrders({
  clock,
  journal,
  orderManager,
}: Pick<EngineContext, 'clock' | 'journal' | 'orderManager'>): OwnOrders {
  const startedMs = clock.monotonicMs()
  let known: ReadonlyMap<string, OwnOrder> = new Map()

  return (listed) => {
    // What ended right before the start is among the recently landed no more.
    if (clock.monotonicMs() - startedMs < settleMs) return new Map()
    const nowMs = clock.now()
    const open = orderManager.open().map(({ state }) => state)
    const landed = orderManager.recentlyLanded()
    const named = [...open, ...landed]
    // A list may not show yet what just landed.
    const unsettled = [
      ...open,
      ...landed.filter(({ intent }) => orderManager.closedAgoMs(intent.intentId) < settleMs),
    ]
    const own = new Map<string, OwnOrder>()
    const kept = new Map<string, OwnOrder>()
    for (const orderKey of listed) {
      const key = hexKey(orderKey)
      const maker = open.find((state) => made(state, orderKey))
      if (maker === undefined) continue
      // A message of ours that ended since the last pass is among these for some minutes.
      const isNamed = named.some((state) => touches(state, orderKey))
      const signed = (isNamed ? undefined : known.get(key)?.signed) ?? signedOrderIn(journal, orderKey)
      if (signed === undefined) continue
      const found = { signed, indexDecimals: maker.intent.terms.indexToken.decimals }
      kept.set(key, found)
      if (!isBusy(maker, nowMs) && !unsettled.some((state) => touches(state, orderKey))) own.set(key, found)
    }
    known = kept
    return own
  }
}

function made({ attempts }: IntentState, orderKey: Hex): boolean {
  return attempts.some(({ children }) => children.some((child) => sameHex(child.orderKey, orderKey)))
}
