/** Open orders as the rest of the daemon reads them, and hints about them for whoever follows them. */
import { madeOnce } from '../base/madeOnce.ts'
import type { IntentState, Label } from '../domain/order/intent.ts'
import type { Order } from '../protocol/position.ts'
import type { Reading } from '../protocol/reading.ts'

/** Hints about open orders: they bring a look at one forward, or make it needless, and prove nothing. */
export interface OrderHints {
  /** Something moved an order of an open intent, or is about to: it is looked at soon. */
  pollSoon(intentId: string): void
  /** Receives a reading of the account's resting orders: while it shows an order of ours, nobody is queried for that one alone. */
  sawOrders(list: Reading<readonly Order[]>): void
}

/** Open orders, and the newest that ended. */
export interface OpenOrders extends OrderHints {
  /** Open intents as they are now, oldest first. */
  open(): readonly { readonly state: IntentState; readonly label: Label; readonly observedStatus?: string }[]
  /** Intents that closed after a landing in the last minutes: fills that a position list may not show yet. */
  recentlyLanded(): readonly IntentState[]
  /**
   * Returns the time since one of those closed, ms: by the monotonic clock, because the wall clock may be set back or forth in between. Infinity for
   * any other intent.
   */
  closedAgoMs(intentId: string): number
}

/** The states in a list of open intents; made once for a list: each turn of each strategy asks for them. */
const statesIn = madeOnce((open: ReturnType<OpenOrders['open']>) => open.map(({ state }) => state))

/** Returns the states of the open intents, oldest first: the same list again until one of them changes. */
export function openStatesOf(openOrders: OpenOrders): readonly IntentState[] {
  return statesIn(openOrders.open())
}
