/**
 * Referral and tier discounts on a position fee, in collateral token units (contract `PositionPricingUtils`,
 * `getPositionFees`).
 */
import { fac, max, ONE } from '../../src/paper/math/integer.ts'

/** Referral terms of an account. */
export interface ReferralTerms {
  readonly totalRebateBps: bigint
  readonly discountShareBps: bigint
  /** Replaces the tier's share when not 0. */
  readonly customDiscountShareBps: bigint
  /** 30 decimals. */
  readonly minAffiliateRewardFactor: bigint
}

/** What is taken off a position fee, and what of it an affiliate earns. */
export interface Discounts {
  readonly traderDiscountAmount: bigint
  readonly proDiscountAmount: bigint
  readonly totalDiscountAmount: bigint
  readonly affiliateRewardAmount: bigint
  readonly protocolFeeAmount: bigint
}

const ONE_BPS = ONE / 10_000n

/** Discounts of a position fee; the larger of the referral's and the tier's counts. */
export function discountsOf(
  positionFeeAmount: bigint,
  referral: ReferralTerms | undefined,
  proDiscountFactor: bigint | undefined,
): Discounts {
  const pro = proDiscountFactor ?? 0n
  const proDiscountAmount = fac(positionFeeAmount, pro)
  let traderDiscountAmount = 0n
  let affiliateRewardAmount = 0n
  if (referral !== undefined) {
    const { totalRebateBps, customDiscountShareBps, discountShareBps } = referral
    const shareBps = customDiscountShareBps !== 0n ? customDiscountShareBps : discountShareBps
    const rebateFactor = totalRebateBps * ONE_BPS
    const traderFactor = ((totalRebateBps * shareBps) / 10_000n) * ONE_BPS
    traderDiscountAmount = fac(positionFeeAmount, traderFactor)
    let affiliateFactor = rebateFactor - traderFactor
    if (pro > traderFactor) {
      affiliateFactor =
        pro > rebateFactor
          ? referral.minAffiliateRewardFactor
          : max(referral.minAffiliateRewardFactor, rebateFactor - pro)
    }
    affiliateRewardAmount = fac(positionFeeAmount, affiliateFactor)
  }
  const totalDiscountAmount = max(proDiscountAmount, traderDiscountAmount)
  return {
    traderDiscountAmount,
    proDiscountAmount,
    totalDiscountAmount,
    affiliateRewardAmount,
    protocolFeeAmount: positionFeeAmount - affiliateRewardAmount - totalDiscountAmount,
  }
}
