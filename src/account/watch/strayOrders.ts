/** Unmanaged resting orders that perpd made: a keeper that tidies may edit them (docs/keepers.md, "What the order janitor may do"). */

import type { IntentState } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { exposureOf, type OwnOrder } from '../../risk/exposure/accountExposure.ts'
import type { HasStrategies, HasTrading } from '../accountParts.ts'
import { isOfRunning } from '../runningTasks.ts'

/**
 * Returns the judgement, as of now, whether a running instance or task manages an order. Orders placed by an operator, and those left by an instance
 * that no longer runs, are unmanaged.
 */
export function isKept({ strategies, trading }: HasStrategies & HasTrading): (order: OwnOrder) => boolean {
  const { tasks } = trading.accountJournal.state()
  const running = new Set(strategies().map(({ name }) => name))
  return ({ strategy, decisionKey }) => isOfRunning(tasks, decisionKey) || running.has(strategy)
}

/** Returns the keys of the unmanaged resting orders for which no change is in flight; `open`: the account's open intents. */
export function strayOrdersOf(
  context: HasStrategies & HasTrading,
  snapshot: Snapshot,
  open: readonly IntentState[],
): readonly Hex[] {
  const { ownOrders } = exposureOf(snapshot, open)
  const isManaged = isKept(context)
  return snapshot.orders.value
    .map(({ orderKey }) => orderKey)
    .filter((orderKey) => {
      const own = ownOrders.get(hexKey(orderKey))
      return own !== undefined && own.changedBy === undefined && !isManaged(own)
    })
}
