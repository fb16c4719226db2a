/**
 * What an instance has at rest that would add when one of the closings of its file comes near (`protect.closings`): it is cancelled, so that
 * nothing of it fills around the closing. Orders by hand, and those of other instances, are not its own. Pure.
 */
import type { Protections } from '../../domain/account/protection.ts'
import type { CancelDecision } from '../../domain/order/decision.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { hexKey } from '../../protocol/address.ts'
import { isIncreaseOrder } from '../../protocol/position.ts'
import { nearClosingText } from '../../risk/checks/protectCheck.ts'
import { restingOrdersOf } from '../../strategy/resting.ts'

/** Most orders that one message cancels; the others follow. */
const CANCEL_MOST = 20

/** The cancels that a closing calls for now, one for each side of a market; none away from one. `nowMs`: Unix ms. */
export function closingCancels(
  protect: Protections | undefined,
  snapshot: Snapshot,
  own: readonly IntentState[],
  nowMs: number,
): readonly CancelDecision[] {
  const where = nearClosingText(protect?.closings, nowMs)
  if (where === undefined) return []
  const adding = new Set(
    snapshot.orders.value.filter(isIncreaseOrder).map(({ orderKey }) => hexKey(orderKey)),
  )
  const entries = restingOrdersOf(snapshot, own).filter(
    ({ orderKey, isChanging }) => !isChanging && adding.has(hexKey(orderKey)),
  )
  const sides = Map.groupBy(entries, ({ marketToken, direction }) => `${hexKey(marketToken)} ${direction}`)
  return [...sides.values()].flatMap((orders): CancelDecision[] => {
    const [first] = orders
    if (first === undefined) return []
    const { marketToken, direction } = first
    const orderKeys = orders.slice(0, CANCEL_MOST).map(({ orderKey }) => orderKey)
    const reason = `By its file ${where}: what waits to add is cancelled.`
    return [{ kind: 'cancel', marketToken, direction, orderKeys, reason }]
  })
}
