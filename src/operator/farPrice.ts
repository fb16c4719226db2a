/** Tells how far an entry that waits lies from the price. Pure. */
import type { IncreaseDecision } from '../domain/order/decision.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { absOf, BPS_ONE, mulDiv } from '../protocol/units.ts'
import { referencePriceOf } from '../risk/sizing/sizing.ts'

/** Distance beyond which an entry must be confirmed, bps: a digit too many or too few lies further. */
const FAR_BPS = 500

/** Returns the distance of an entry that waits from the price now, bps of it, where it is more than 5 %; undefined: it is near, or no price is known. */
export function farBpsOf(
  snapshot: Snapshot,
  { marketToken, direction, triggerPrice }: IncreaseDecision,
): number | undefined {
  const view = marketOf(snapshot, marketToken)
  const price = view && referencePriceOf(view, direction, 'increase')
  if (price === undefined || triggerPrice === undefined) return undefined
  const awayBps = Number(mulDiv(absOf(triggerPrice - price), BigInt(BPS_ONE), price))
  return awayBps > FAR_BPS ? awayBps : undefined
}
