/** Decisions that must not become orders even within caps: a size far beyond the account's equity is a mistake of the requester. */
import type { Limits } from '../../domain/limits/limits.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { BPS_ONE, bps, formatDollars, maxOf, mulDivUp, type Usd } from '../../protocol/units.ts'
import type { AdmissionContext } from '../exposure/admissionContext.ts'

/** From here on the age of the equity is said, ms: lists that settle after a fill give no newer one. */
const OLD_MS = 20_000

/**
 * WISH_ABOVE_EQUITY: an increase requests a size above `maxWishEquityBps` of the equity, or brings collateral above `maxWishCollateralEquityBps` of
 * it; or an edit makes an opening order so large. The request is judged before any cap: cut to the caps, a size with zeros too many would trade all
 * the same. Without a figure of the equity it denies nothing: the caps hold.
 */
export function checkDecisionSize(
  decision: Decision,
  adds: boolean,
  { equity }: AdmissionContext,
  limits: Limits,
): Denial | undefined {
  if (!adds || equity === undefined) return undefined
  const { equityUsd, ageMs = 0 } = equity
  if (decision.kind !== 'increase' && decision.kind !== 'edit') return undefined
  const sizeUsd = decision.sizeDeltaUsd
  if (sizeUsd === undefined || sizeUsd <= 0n) return undefined
  const worthUsd = maxOf(0n, equityUsd)
  const age = ageMs < OLD_MS ? '' : `, ${Math.round(ageMs / 1_000)} s ago`
  const above = (what: string, wantedUsd: Usd, shareBps: number | undefined): Denial | undefined => {
    if (shareBps === undefined || wantedUsd <= bps(worthUsd, shareBps)) return undefined
    return {
      code: 'WISH_ABOVE_EQUITY',
      reason: `The requested ${what} is more than ${shareBps / BPS_ONE} times the equity (${formatDollars(worthUsd)}${age}); perpd denies it as a mistake instead of cutting it.`,
      wanted: formatDollars(wantedUsd),
      allowed: formatDollars(bps(worthUsd, shareBps)),
    }
  }
  const ofSize = above('size', sizeUsd, limits.maxWishEquityBps)
  if (ofSize !== undefined || decision.kind === 'edit') return ofSize
  const { leverageBps } = decision
  // A missing leverage is refused with a separate code.
  if (!Number.isSafeInteger(leverageBps) || leverageBps <= 0) return undefined
  const collateralUsd = mulDivUp(sizeUsd, BigInt(BPS_ONE), BigInt(leverageBps))
  return above('collateral', collateralUsd, limits.maxWishCollateralEquityBps)
}
