/** The size that an accepted increase may have now, when the venue warned that it has no capacity for all of it. */

import type { Decision } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { OrderTerms } from '../domain/order/orderTerms.ts'
import { BPS_ONE, maxOf, minOf, mulDivUp, type Usd } from '../protocol/units.ts'
import { isDenial, marketViewOf } from './exposure/admissionContext.ts'
import { type SizingContext, sizeIncrease } from './sizing/sizing.ts'

/**
 * Sizes the increase anew, by all limits and the capacity on `desk`, whose book must not count the intent itself: at most its own
 * size, and at most `atMostUsd` less headroom when that is less. Never below the market's or the strategy's minimum. Refuses
 * with the codes of `sizeIncrease`. Throws TypeError for a decision that is no increase.
 */
export function resizeIncrease(
  { decision, terms }: { readonly decision: Decision; readonly terms: OrderTerms },
  atMostUsd: Usd,
  context: SizingContext,
): Usd | Denial {
  if (decision.kind !== 'increase') throw new TypeError(`resizeIncrease: ${decision.kind}`)
  const { limits } = context
  const headroomUsd = mulDivUp(maxOf(0n, atMostUsd), BigInt(limits.capacityHeadroomBps ?? 0), BigInt(BPS_ONE))
  const mostUsd =
    atMostUsd >= terms.sizeDeltaUsd ? terms.sizeDeltaUsd : minOf(terms.sizeDeltaUsd, atMostUsd - headroomUsd)
  if (mostUsd <= 0n) {
    return { code: 'NO_CAPACITY', reason: 'The venue has no capacity left on this side of the market.' }
  }
  // The size was cut for its leverage when it was admitted; it is not cut for it again.
  const leverageBps = Math.min(
    decision.leverageBps,
    limits.maxLeverageBps ?? decision.leverageBps,
    marketViewOf(context, decision)?.market.maxLeverageBps ?? decision.leverageBps,
  )
  const sized = sizeIncrease({ ...decision, sizeDeltaUsd: mostUsd, leverageBps }, context)
  return isDenial(sized) ? sized : sized.sizeDeltaUsd
}
