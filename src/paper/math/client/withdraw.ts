/** Collateral that may leave a position, as the official client counts it (the client's `getMaxWithdrawCollateral`). */
import { fac, max } from '../integer.ts'
import {
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type Side,
} from '../marketState.ts'
import { type ClientReferral, clientPositionFee } from './clientFees.ts'
import { clientCappedImpact, clientPendingImpact } from './clientImpact.ts'
import { liquidationImpact } from './clientPosition.ts'

/** A position as the limit reads it; USD with 30 decimals. */
export interface WithdrawTerms {
  readonly side: Side
  readonly sizeInUsd: bigint
  readonly sizeInTokens: bigint
  readonly pendingImpactAmount: bigint
  readonly collateralUsd: bigint
  readonly pnlUsd: bigint
  readonly pendingFeesUsd: bigint
  /** Contract price of the collateral token, min. */
  readonly collateralPrice: bigint
  readonly referral?: ClientReferral | undefined
}

/** Capped impact of closing a whole position now plus its stored impact, as liquidation estimates count it. */
export function wholeCloseImpact(
  settings: MarketSettings,
  state: MarketState,
  position: Pick<WithdrawTerms, 'side' | 'sizeInUsd' | 'sizeInTokens' | 'pendingImpactAmount'>,
  prices: MarketPrices,
): bigint {
  const close = clientCappedImpact(
    settings,
    state,
    position.side,
    -position.sizeInUsd,
    position.sizeInTokens,
    prices,
  )
  const pending = clientPendingImpact(position, position.sizeInUsd, prices.index)
  return liquidationImpact(settings, position.sizeInUsd, close.impactUsd + pending.usd)
}

/** Largest withdrawal, collateral token units. */
export function maxWithdraw(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  position: WithdrawTerms,
): {
  readonly minCollateralFactor: bigint
  readonly minRequiredCollateralUsd: bigint
  readonly maxWithdrawAmount: bigint
} {
  const { side, sizeInUsd } = position
  const minCollateralFactor = max(
    settings.minCollateralFactor,
    fac(interestUsd(settings, state, side), settings.minCollateralFactorForOpenInterest[side]),
  )
  const closingFeeUsd = clientPositionFee(settings, sizeInUsd, false, position.referral).positionFeeUsd
  const forLiquidation = max(
    fac(sizeInUsd, settings.minCollateralFactorForLiquidation),
    settings.minCollateralUsd,
  )
  const impactUsd = wholeCloseImpact(settings, state, position, prices)
  const minRequiredCollateralUsd =
    max(
      max(fac(sizeInUsd, minCollateralFactor), settings.minCollateralUsd),
      forLiquidation - position.pnlUsd - impactUsd + closingFeeUsd,
    ) + position.pendingFeesUsd
  const roomUsd = position.collateralUsd - minRequiredCollateralUsd
  return {
    minCollateralFactor,
    minRequiredCollateralUsd,
    maxWithdrawAmount: roomUsd <= 0n ? 0n : roomUsd / position.collateralPrice,
  }
}
