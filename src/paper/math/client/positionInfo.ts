/** Every derived value of one position as the official client shows it (the client's `getPositionsInfo`). */
import type { MarketPrices, MarketSettings, MarketState, PricePair, Side } from '../marketState.ts'
import { BPS, markPriceOf } from './acceptablePrice.ts'
import { type ClientReferral, clientPositionFee } from './clientFees.ts'
import { clientCappedImpact, clientNetImpact, clientPendingImpact } from './clientImpact.ts'
import {
  clientPnl,
  entryPrice,
  leverageBps,
  liquidationPrice,
  maxAllowedLeverage,
  netValues,
} from './clientPosition.ts'
import { wholeCloseImpact } from './withdraw.ts'

/** A position with its pending costs. */
export interface ShownPosition {
  readonly side: Side
  readonly sizeInUsd: bigint
  readonly sizeInTokens: bigint
  readonly collateralAmount: bigint
  readonly pendingImpactAmount: bigint
  readonly pendingBorrowingFeesUsd: bigint
  /** Collateral token units. */
  readonly fundingFeeAmount: bigint
  readonly claimableLongTokenAmount: bigint
  readonly claimableShortTokenAmount: bigint
  readonly collateralIsIndexToken: boolean
}

/** Further inputs of the values. */
export interface ShownPositionTerms {
  readonly collateralPrice: PricePair
  readonly indexDecimals: number
  readonly referral?: ClientReferral | undefined
  readonly uiFeeFactor?: bigint | undefined
  readonly showPnlInLeverage: boolean
}

/** Derived values; prices in API form, percentages and leverage in bps, undefined where there is none. */
export function positionInfo(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  position: ShownPosition,
  terms: ShownPositionTerms,
) {
  const { side, sizeInUsd, sizeInTokens } = position
  const price = terms.collateralPrice.min
  const scale = 10n ** BigInt(terms.indexDecimals)
  const mark = markPriceOf(prices.index, { side, isIncrease: false })
  const pnl = clientPnl(settings, state, side, position, sizeInTokens * mark, prices)
  const collateralUsd = position.collateralAmount * price
  const pendingFundingFeesUsd = position.fundingFeeAmount * price
  const pendingFeesUsd = position.pendingBorrowingFeesUsd + pendingFundingFeesUsd
  const close = clientCappedImpact(settings, state, side, -sizeInUsd, sizeInTokens, prices)
  const net = clientNetImpact(settings, state, position, sizeInUsd, close.impactUsd, prices)
  const fee = clientPositionFee(
    settings,
    sizeInUsd,
    close.balanceWasImproved,
    terms.referral,
    terms.uiFeeFactor ?? 0n,
  )
  const values = netValues({
    collateralUsd,
    pnlUsd: pnl,
    pendingFeesUsd,
    netImpactUsd: net.totalImpactUsd,
    closingFeeUsd: fee.positionFeeUsd,
  })
  const remainingCollateralUsd = collateralUsd - pendingFeesUsd
  const leverage = (pnlUsd: bigint | undefined) =>
    leverageBps({ sizeInUsd, collateralUsd, pnlUsd, pendingFeesUsd })
  const leverageWithPnl = leverage(pnl)
  const leverageWithoutPnl = leverage(undefined)
  const shownLeverage = terms.showPnlInLeverage ? leverageWithPnl : leverageWithoutPnl
  const allowed = maxAllowedLeverage(
    settings.minCollateralFactor,
    settings.minCollateralFactorForLiquidation,
    settings.positionFeeFactorForBalanceWasNotImproved,
  )
  const ofCollateral = (usd: bigint): bigint => (collateralUsd === 0n ? 0n : (usd * BPS) / collateralUsd)
  return {
    markPrice: mark * scale,
    entryPrice: entryPrice(sizeInUsd, sizeInTokens, terms.indexDecimals),
    liquidationPrice: liquidationPrice(settings, {
      side,
      sizeInUsd,
      sizeInTokens,
      collateralAmount: position.collateralAmount,
      collateralUsd,
      collateralIsIndexToken: position.collateralIsIndexToken,
      pendingFeesUsd,
      closingFeeUsd: clientPositionFee(settings, sizeInUsd, false, terms.referral).positionFeeUsd,
      impactUsd: wholeCloseImpact(settings, state, position, prices),
      indexDecimals: terms.indexDecimals,
    }),
    collateralUsd,
    remainingCollateralUsd,
    remainingCollateralAmount: remainingCollateralUsd / price,
    hasLowCollateral: (leverageWithoutPnl ?? 0n) > allowed,
    leverage: shownLeverage,
    leverageWithPnl,
    leverageWithoutPnl,
    pnl,
    pnlPercentage: ofCollateral(pnl),
    pnlAfterFees: values.pnlAfterFees,
    pnlAfterFeesPercentage: ofCollateral(values.pnlAfterFees),
    netValue: values.netValue,
    netValueAfterAllFees: values.netValueAfterAllFees,
    pnlAfterAllFees: values.pnlAfterAllFees,
    pnlAfterAllFeesPercentage: ofCollateral(values.pnlAfterAllFees),
    // The wire's own spelling.
    netPriceImapctDeltaUsd: net.totalImpactUsd,
    priceImpactDiffUsd: net.priceImpactDiffUsd,
    pendingImpactUsd: clientPendingImpact(position, sizeInUsd, prices.index).usd,
    closePriceImpactDeltaUsd: close.impactUsd,
    closingFeeUsd: fee.positionFeeUsd,
    uiFeeUsd: fee.uiFeeUsd,
    pendingFundingFeesUsd,
    pendingClaimableFundingFeesUsd:
      position.claimableLongTokenAmount * prices.long.min +
      position.claimableShortTokenAmount * prices.short.min,
  }
}
