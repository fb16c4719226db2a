/** The stop-losses among the created orders of an intent, and the side that each protects. Pure. */

import type { Hex } from '../../protocol/address.ts'
import { type ChildPhase, type IntentState, lastAttempt } from '../order/intent.ts'
import { type PositionSide, sideOfIntent } from './accountRecord.ts'

/** StopLossDecrease (contract `Order`, `OrderType`). */
export const STOP_LOSS = 6

/** Each of them, whatever became of it. */
export function stopChildrenOf(
  state: IntentState,
): readonly ({ readonly orderKey: Hex; readonly phase: ChildPhase } & { readonly side: PositionSide })[] {
  const { terms } = state.intent
  const attempt = lastAttempt(state)
  return (attempt?.children ?? []).flatMap(({ index, orderKey, phase, role }) => {
    const created = attempt?.armed?.creates[index]
    const isStop =
      created?.orderType === undefined
        ? role === 'stop-loss' || (role === 'main' && terms.orderType === 'stop-loss')
        : created.orderType === STOP_LOSS
    if (!isStop) return []
    return [{ orderKey, phase, side: created?.kept ?? sideOfIntent(state.intent) }]
  })
}
