/**
 * Cancels an instance's resting orders that would add exposure while the `protect` block of its file holds entries back. That covers times outside
 * its windows, pauses after stops, a result too far below its peak, and closings. They are cancelled so that nothing of them fills meanwhile. A
 * cooldown after an exit cancels nothing. Orders by hand, and those of other instances, are left alone. Pure.
 */
import type { CancelDecision } from '../domain/order/decision.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { type Hex, hexKey, sameHex } from '../protocol/address.ts'
import { isIncreaseOrder } from '../protocol/position.ts'
import { takesBack } from '../risk/checks/protectCheck.ts'
import type { Protection } from '../risk/exposure/admissionContext.ts'
import { restingOrdersOf } from '../strategy/resting.ts'

/** Most orders that one message cancels; the others follow. */
const CANCEL_MOST = 20

/** The cancels that a file's rules call for now, one for each side of a market; none while nothing keeps entries back. `nowMs`: Unix ms. */
export function entryCancels(
  protection: Protection | undefined,
  snapshot: Snapshot,
  own: readonly IntentState[],
  nowMs: number,
): readonly CancelDecision[] {
  const taken = protection === undefined ? undefined : takesBack(protection, nowMs)
  if (taken === undefined) return []
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
    const reason = `Entries are cancelled by the file of the strategy: ${taken.because}.`
    return [{ kind: 'cancel', marketToken, direction, orderKeys, reason, facts: { protect: taken.rule } }]
  })
}

/** The rule of its file (`protect.tradingWindows`) by which an order of an instance was taken back, of its newest intents; undefined: none was. */
export function takenBackBy(own: readonly IntentState[], orderKey: Hex): string | undefined {
  const cancel = own.find(
    ({ intent: { kind, decision, terms } }) =>
      kind === 'cancel' &&
      decision.facts?.protect !== undefined &&
      terms.cancelOrderKeys?.some((key) => sameHex(key, orderKey)) === true,
  )
  const rule = cancel?.intent.decision.facts?.protect
  return rule === undefined ? undefined : `protect.${rule}`
}
