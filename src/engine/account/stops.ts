/** Which positions have no stop-loss that rests at the venue. Pure. */
import { type PositionSide, sideKeyOf } from '../../domain/account/accountRecord.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import type { Order, Position } from '../../protocol/position.ts'

/** StopLossDecrease (contract `Order`, `OrderType`). */
const STOP_LOSS = 6

/**
 * Positions for which no stop-loss rests, in their order. A frozen order does not fire, and counts as none.
 *
 * @param open intents with something to come: of orders of ours the journal says whether they rest, for lists are late
 * @param others orders of the venue's list that the journal does not explain: another client made them
 */
export function sidesWithoutStop(
  positions: readonly Position[],
  open: readonly IntentState[],
  others: readonly Order[],
): readonly PositionSide[] {
  const stopped = new Set([
    ...open.flatMap(stopsOf),
    ...others
      .filter(({ orderType, isFrozen }) => orderType === STOP_LOSS && !isFrozen)
      .map((order) => sideKeyOf({ ...order, collateralToken: order.initialCollateralToken })),
  ])
  return positions
    .filter((position) => position.sizeInUsd > 0n && !stopped.has(sideKeyOf(position)))
    .map(({ marketToken, direction, collateralToken }) => ({ marketToken, direction, collateralToken }))
}

/** Sides on which a stop-loss of the intent rests. */
function stopsOf(state: IntentState): readonly string[] {
  const { terms } = state.intent
  const attempt = lastAttempt(state)
  return (attempt?.children ?? []).flatMap(({ index, phase, role = 'main' }) => {
    const created = attempt?.armed?.creates?.[index]
    const isStop =
      created?.orderType === undefined
        ? role === 'stop-loss' || (role === 'main' && terms.orderType === 'stop-loss')
        : created.orderType === STOP_LOSS
    if (phase !== 'OPEN' || !isStop) return []
    const { marketToken, direction } = terms
    return [
      sideKeyOf(created?.kept ?? { marketToken, direction, collateralToken: terms.collateralToken.address }),
    ]
  })
}
