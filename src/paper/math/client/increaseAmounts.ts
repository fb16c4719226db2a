/** Amounts of an increase as the official client sizes it, without a swap (the client's `getIncreasePositionAmounts`). */
import { ceilDiv, fac, min } from '../integer.ts'
import type { MarketPrices, MarketSettings, MarketState, PricePair, Side } from '../marketState.ts'
import { acceptablePriceInfo, BPS, defaultImpactBps, markPriceOf } from './acceptablePrice.ts'
import { type ClientReferral, clientPositionFee } from './clientFees.ts'
import { clientCappedImpact, clientPendingImpact } from './clientImpact.ts'
import { entryPrice, leverageBps, liquidationPrice } from './clientPosition.ts'
import type { ShownPosition } from './positionInfo.ts'
import { wholeCloseImpact } from './withdraw.ts'

/** Any price: the widest limit of the contracts. */
export const ANY_HIGH_PRICE = 2n ** 256n - 1n

/** Terms of an increase. Amounts that the strategy does not start from are ignored. */
export interface IncreaseAmountsTerms {
  readonly side: Side
  readonly strategy: 'leverageBySize' | 'leverageByCollateral' | 'independent'
  readonly leverageBps?: bigint | undefined
  /** Collateral token units. */
  readonly collateralAmount: bigint
  /** Index token units. */
  readonly indexTokenAmount: bigint
  readonly indexDecimals: number
  readonly collateralPrice: PricePair
  readonly collateralIsIndexToken: boolean
  /** Undefined: a market order. */
  readonly limit?:
    | {
        readonly type: 'LimitIncrease' | 'StopIncrease'
        /** API form. */
        readonly triggerPrice: bigint
        readonly setAcceptablePrice: boolean
        readonly fixedImpactBps?: bigint | undefined
        readonly bufferBps?: bigint | undefined
      }
    | undefined
  readonly uiFeeFactor: bigint
  readonly referral?: ClientReferral | undefined
  readonly position?: ShownPosition | undefined
}

/** Direction in which the price must move to wake a limit order of a side. */
function thresholdOf(type: 'LimitIncrease' | 'StopIncrease', side: Side): '<' | '>' {
  return (type === 'LimitIncrease') === (side === 'long') ? '<' : '>'
}

/** Index token units that an increase opens at an API price; `scale` is 10^decimals. */
function tokensOpened(side: Side, sizeDeltaUsd: bigint, price: bigint, scale: bigint): bigint {
  return side === 'long' ? (sizeDeltaUsd * scale) / price : ceilDiv(sizeDeltaUsd * scale, price)
}

/** Part of a negative impact beyond the largest share of a size, USD, not negative. */
function excessOf(settings: MarketSettings, sizeUsd: bigint, impactUsd: bigint): bigint {
  const lowest = -fac(sizeUsd, settings.maxPositionImpactFactorNegative)
  return impactUsd < lowest ? lowest - impactUsd : 0n
}

/** Amounts of the order. Prices in API form, USD with 30 decimals, leverage and deltas in bps. */
export function increaseAmounts(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  terms: IncreaseAmountsTerms,
) {
  const { side, limit, position, referral, uiFeeFactor, strategy } = terms
  const direction = { side, isIncrease: true }
  const scale = 10n ** BigInt(terms.indexDecimals)
  const indexPrice = limit?.triggerPrice ?? markPriceOf(prices.index, direction) * scale
  const collateralPrice = terms.collateralPrice.min
  const leverage = terms.leverageBps ?? 0n
  const borrowingFeeUsd = position?.pendingBorrowingFeesUsd ?? 0n
  const fundingFeeUsd = (position?.fundingFeeAmount ?? 0n) * collateralPrice
  const feeOf = (sizeUsd: bigint) => {
    const tokens = tokensOpened(side, sizeUsd, indexPrice, scale)
    const impact = clientCappedImpact(settings, state, side, sizeUsd, tokens, prices)
    return clientPositionFee(settings, sizeUsd, impact.balanceWasImproved, referral, uiFeeFactor)
  }
  let initialCollateralAmount = terms.collateralAmount
  let initialCollateralUsd = initialCollateralAmount * collateralPrice
  let indexTokenAmount = terms.indexTokenAmount
  let sizeDeltaUsd = (indexTokenAmount * indexPrice) / scale
  if (strategy === 'leverageByCollateral') {
    const base = feeOf((initialCollateralUsd * leverage) / BPS)
    sizeDeltaUsd = ((initialCollateralUsd - base.positionFeeUsd - base.uiFeeUsd) * leverage) / BPS
    indexTokenAmount = tokensOpened(side, sizeDeltaUsd, indexPrice, scale)
  }
  const fee = feeOf(sizeDeltaUsd)
  const costUsd = fee.positionFeeUsd + borrowingFeeUsd + fundingFeeUsd + fee.uiFeeUsd
  let collateralDeltaUsd = initialCollateralUsd - costUsd
  if (strategy === 'leverageBySize') {
    collateralDeltaUsd = leverage === 0n ? 0n : (sizeDeltaUsd * BPS) / leverage
    initialCollateralAmount = (collateralDeltaUsd + costUsd) / collateralPrice
    initialCollateralUsd = initialCollateralAmount * collateralPrice
  }
  const sizeDeltaInTokens = tokensOpened(side, sizeDeltaUsd, indexPrice, scale)
  const priceTerms = { ...direction, indexPrice, sizeDeltaUsd, sizeDeltaInTokens }
  const info = acceptablePriceInfo(settings, state, prices, priceTerms)
  let { acceptablePrice, acceptablePriceDeltaBps } = info
  let recommendedAcceptablePriceDeltaBps = 0n
  if (limit !== undefined && (limit.type === 'StopIncrease' || !limit.setAcceptablePrice)) {
    acceptablePrice = side === 'long' ? ANY_HIGH_PRICE : 0n
  } else if (limit !== undefined) {
    recommendedAcceptablePriceDeltaBps = defaultImpactBps(
      indexPrice,
      sizeDeltaUsd,
      info.priceImpactDeltaUsd,
      direction,
      limit.bufferBps,
    )
    const budget = acceptablePriceInfo(settings, state, prices, {
      ...priceTerms,
      maxNegativeImpactBps: limit.fixedImpactBps ?? recommendedAcceptablePriceDeltaBps,
    })
    acceptablePrice = budget.acceptablePrice
    acceptablePriceDeltaBps = budget.acceptablePriceDeltaBps
  }
  const impactUsd = info.priceImpactDeltaUsd
  return {
    initialCollateralAmount,
    initialCollateralUsd,
    collateralDeltaAmount: collateralDeltaUsd / collateralPrice,
    collateralDeltaUsd,
    indexTokenAmount,
    sizeDeltaUsd,
    sizeDeltaInTokens,
    estimatedLeverage:
      strategy === 'independent'
        ? leverageBps({ sizeInUsd: sizeDeltaUsd, collateralUsd: collateralDeltaUsd, pendingFeesUsd: 0n })
        : terms.leverageBps,
    indexPrice,
    collateralPrice,
    acceptablePrice,
    acceptablePriceDeltaBps,
    recommendedAcceptablePriceDeltaBps,
    positionFeeUsd: fee.positionFeeUsd,
    uiFeeUsd: fee.uiFeeUsd,
    feeDiscountUsd: fee.discountUsd,
    borrowingFeeUsd,
    fundingFeeUsd,
    positionPriceImpactDeltaUsd: impactUsd,
    potentialPriceImpactDiffUsd: excessOf(settings, sizeDeltaUsd, impactUsd),
    triggerThresholdType: limit === undefined ? undefined : thresholdOf(limit.type, side),
  }
}

/** The position after an increase, as the official client foresees it. */
export function positionAfterIncrease(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  terms: IncreaseAmountsTerms,
  amounts: ReturnType<typeof increaseAmounts>,
) {
  const { position, side, referral, indexDecimals } = terms
  const price = terms.collateralPrice.min
  const nextSizeUsd = (position?.sizeInUsd ?? 0n) + amounts.sizeDeltaUsd
  const nextSizeInTokens = (position?.sizeInTokens ?? 0n) + amounts.sizeDeltaInTokens
  const nextCollateralUsd = (position?.collateralAmount ?? 0n) * price + amounts.collateralDeltaUsd
  const held =
    position === undefined ? 0n : clientPendingImpact(position, position.sizeInUsd, prices.index).usd
  const nextPendingImpactDeltaUsd = min(
    held + amounts.positionPriceImpactDeltaUsd,
    state.positionImpactPoolAmount * prices.index.min,
  )
  const pendingImpactAmount = position?.pendingImpactAmount ?? 0n
  const nextPosition = {
    side,
    sizeInUsd: nextSizeUsd,
    sizeInTokens: nextSizeInTokens,
    pendingImpactAmount,
  }
  return {
    nextSizeUsd,
    nextSizeInTokens,
    nextCollateralUsd,
    nextEntryPrice: entryPrice(nextSizeUsd, nextSizeInTokens, indexDecimals),
    nextLeverage: leverageBps({
      sizeInUsd: nextSizeUsd,
      collateralUsd: nextCollateralUsd,
      pendingFeesUsd: 0n,
    }),
    nextLiqPrice: liquidationPrice(settings, {
      side,
      sizeInUsd: nextSizeUsd,
      sizeInTokens: nextSizeInTokens,
      collateralAmount: nextCollateralUsd / price,
      collateralUsd: nextCollateralUsd,
      collateralIsIndexToken: terms.collateralIsIndexToken,
      pendingFeesUsd: 0n,
      closingFeeUsd: clientPositionFee(settings, nextSizeUsd, false, referral).positionFeeUsd,
      impactUsd: wholeCloseImpact(settings, state, nextPosition, prices),
      indexDecimals,
    }),
    nextPendingImpactDeltaUsd,
    potentialPriceImpactDiffUsd: excessOf(settings, nextSizeUsd, nextPendingImpactDeltaUsd),
  }
}
