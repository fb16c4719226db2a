/** Fees and rates as the official client shows them (the client's `getPositionFee`). */
import { fac } from '../integer.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  otherSide,
  type Side,
} from '../marketState.ts'
import { clientBalanceInterest } from './clientImpact.ts'

/** Referral terms of an account, 30 decimals. */
export interface ClientReferral {
  readonly totalRebateFactor: bigint
  readonly discountFactor: bigint
}

/** A position fee in USD, net of its discount. */
export interface ClientPositionFee {
  readonly positionFeeUsd: bigint
  readonly discountUsd: bigint
  readonly totalRebateUsd: bigint
  readonly uiFeeUsd: bigint
}

/** Position fee of a size, USD. */
export function clientPositionFee(
  settings: MarketSettings,
  sizeDeltaUsd: bigint,
  balanceWasImproved: boolean,
  referral?: ClientReferral,
  uiFeeFactor = 0n,
): ClientPositionFee {
  const factor = balanceWasImproved
    ? settings.positionFeeFactorForBalanceWasImproved
    : settings.positionFeeFactorForBalanceWasNotImproved
  const gross = fac(sizeDeltaUsd, factor)
  const totalRebateUsd = fac(gross, referral?.totalRebateFactor ?? 0n)
  const discountUsd = fac(totalRebateUsd, referral?.discountFactor ?? 0n)
  return {
    positionFeeUsd: gross - discountUsd,
    discountUsd,
    totalRebateUsd,
    uiFeeUsd: fac(sizeDeltaUsd, uiFeeFactor),
  }
}

/** Funding factor of a period, 30 decimals; negative: the side pays. */
export function fundingFactorPerPeriod(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  rate: { readonly factorPerSecond: bigint; readonly longsPayShorts: boolean },
  side: Side,
  periodSeconds: bigint,
): bigint {
  const paying: Side = rate.longsPayShorts ? 'long' : 'short'
  if (side === paying) return -rate.factorPerSecond * periodSeconds
  const receiving = clientBalanceInterest(settings, state, otherSide(paying), prices)
  if (receiving === 0n) return 0n
  const payingUsd = clientBalanceInterest(settings, state, paying, prices)
  return ((rate.factorPerSecond * payingUsd) / receiving) * periodSeconds
}

/** Fee of closing a whole position in collateral token units, net of its discount. */
export function clientClosingFeeAmounts(
  fee: ClientPositionFee,
  collateralPrice: { readonly min: bigint },
): {
  readonly positionFeeAmount: bigint
  readonly traderDiscountAmount: bigint
  readonly uiFeeAmount: bigint
} {
  return {
    positionFeeAmount: fee.positionFeeUsd / collateralPrice.min,
    traderDiscountAmount: fee.discountUsd / collateralPrice.min,
    uiFeeAmount: fee.uiFeeUsd / collateralPrice.min,
  }
}

/** Gas limits of one chain. */
export interface GasLimits {
  readonly singleSwap: bigint
  readonly increaseOrder: bigint
  readonly decreaseOrder: bigint
  readonly swapOrder: bigint
  readonly estimatedGasFeeBaseAmount: bigint
  readonly estimatedGasFeePerOraclePrice: bigint
  readonly estimatedFeeMultiplierFactor: bigint
}

/** Terms of an execution fee. */
export interface ExecutionFeeTerms {
  readonly kind: 'increase' | 'decrease' | 'swap'
  readonly swapsCount: bigint
  readonly callbackGasLimit: bigint
  readonly hasDecreaseSwap: boolean
  readonly gasPrice: bigint
  /** Contract price of the native token. */
  readonly nativePrice: { readonly min: bigint }
  readonly numberOfParts: bigint
}

/** USD from which the client calls an execution fee high, and very high. */
const HIGH_FEE_USD = 5n * 10n ** 30n
const VERY_HIGH_FEE_USD = 10n * 10n ** 30n

/** The keeper's fee of an order. */
export function executionFee(
  limits: GasLimits,
  terms: ExecutionFeeTerms,
): {
  readonly estimatedGasLimit: bigint
  readonly oraclePriceCount: bigint
  readonly gasLimit: bigint
  readonly feeTokenAmount: bigint
  readonly feeUsd: bigint
  readonly isFeeHigh: boolean
  readonly isFeeVeryHigh: boolean
} {
  const order = {
    increase: limits.increaseOrder,
    decrease: limits.decreaseOrder,
    swap: limits.swapOrder,
  }[terms.kind]
  const swaps = terms.swapsCount + (terms.kind === 'decrease' && terms.hasDecreaseSwap ? 1n : 0n)
  const estimatedGasLimit = order + swaps * limits.singleSwap + terms.callbackGasLimit
  const oraclePriceCount = 3n + terms.swapsCount
  const gasLimit =
    limits.estimatedGasFeeBaseAmount +
    limits.estimatedGasFeePerOraclePrice * oraclePriceCount +
    fac(estimatedGasLimit, limits.estimatedFeeMultiplierFactor)
  const feeTokenAmount = gasLimit * terms.gasPrice * terms.numberOfParts
  const feeUsd = feeTokenAmount * terms.nativePrice.min
  return {
    estimatedGasLimit,
    oraclePriceCount,
    gasLimit,
    feeTokenAmount,
    feeUsd,
    isFeeHigh: feeUsd > HIGH_FEE_USD,
    isFeeVeryHigh: feeUsd > VERY_HIGH_FEE_USD,
  }
}
