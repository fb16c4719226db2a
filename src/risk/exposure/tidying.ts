/**
 * What a keeper that tidies may cancel of others' orders (docs/strategies.md, "What tidies"): an order that rests and would open or add;
 * and an exit whose side has no position, and nothing that could open one. An exit of a position that is there is never cancelled by it:
 * the position would be left without its stop. Pure.
 */
import type { Denial } from '../../domain/order/intent.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import { sideOf } from './accountExposure.ts'
import type { AdmissionContext } from './admissionContext.ts'

/** Why a keeper that tidies may not cancel an order; undefined: it may. Refuses with ORDER_PROTECTS and ORDER_MAY_PROTECT. */
export function tidyingDenial(
  order: Order,
  { snapshot, exposure }: Pick<AdmissionContext, 'snapshot' | 'exposure'>,
): Denial | undefined {
  const { orderKey, marketToken, direction } = order
  if (isIncreaseOrder(order)) return undefined
  const side = sideOf(exposure, marketToken, direction)
  // A position whose row cannot be read is not gone.
  if (side.heldUsd > 0n || lacksMarket(snapshot.positions.missing, marketToken)) {
    return {
      code: 'ORDER_PROTECTS',
      reason: `The order ${orderKey} is an exit of a position that is there; a keeper that tidies leaves it.`,
    }
  }
  if (side.reservedUsd + side.restingUsd > 0n || side.increases.length > 0) {
    return {
      code: 'ORDER_MAY_PROTECT',
      reason: `Something that opens is under way or rests on the side of the exit ${orderKey}; a keeper that tidies leaves it.`,
    }
  }
  return undefined
}
