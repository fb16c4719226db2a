/** Amounts of a decrease as the official client foresees it (the client's `getDecreasePositionAmounts`). */
import { fac, max, min } from '../integer.ts'
import type { MarketPrices, MarketSettings, MarketState, PricePair } from '../marketState.ts'
import {
  type AcceptablePriceTerms,
  acceptablePriceInfo,
  BPS,
  defaultImpactBps,
  markPriceOf,
} from './acceptablePrice.ts'
import { type ClientReferral, clientPositionFee } from './clientFees.ts'
import { clientNetImpact } from './clientImpact.ts'
import { clientPnl, leverageBps } from './clientPosition.ts'
import { ANY_HIGH_PRICE } from './increaseAmounts.ts'
import type { ShownPosition } from './positionInfo.ts'
import { profitSwapCostUsd } from './profitSwap.ts'

/** Terms of a decrease. */
export interface DecreaseAmountsTerms {
  readonly position: ShownPosition
  readonly closeSizeUsd: bigint
  readonly keepLeverage: boolean
  readonly indexDecimals: number
  readonly collateralPrice: PricePair
  /** Undefined: a market order. */
  readonly trigger?:
    | {
        readonly type: 'LimitDecrease' | 'StopLossDecrease'
        /** API form. */
        readonly price: bigint
        readonly setAcceptablePrice: boolean
        readonly fixedImpactBps?: bigint | undefined
      }
    | undefined
  readonly uiFeeFactor: bigint
  readonly referral?: ClientReferral | undefined
  /** True when profit is swapped into the collateral token as the order executes; default: false. */
  readonly swapsProfit?: boolean | undefined
}

/** A remaining position below this size is too small to keep and is closed as well: the client's own constant, USD. */
const DUST_USD = 10n ** 30n

/**
 * Tells whether the client closes the whole position: dust would be left, or it estimates too little collateral. `remainingCollateralUsd` is the
 * collateral that stays before any cost: all of it, or its share when the leverage is kept.
 */
function closesWhole(
  settings: MarketSettings,
  position: ShownPosition,
  closeSizeUsd: bigint,
  pnlUsd: bigint,
  remainingCollateralUsd: bigint,
): boolean {
  const left = position.sizeInUsd - closeSizeUsd
  if (left < DUST_USD) return true
  const realised = (pnlUsd * closeSizeUsd) / position.sizeInUsd
  if (realised >= 0n) return false
  // The client adds the loss, and takes the open interest multiplier for a factor (the client's
  // `getDecreasePositionAmounts`).
  const remainingUsd = remainingCollateralUsd - realised
  const factor = max(settings.minCollateralFactor, settings.minCollateralFactorForOpenInterest[position.side])
  if (remainingUsd >= fac(position.sizeInUsd, factor)) return false
  return remainingUsd + (pnlUsd - realised) < settings.minCollateralUsd || left < settings.minPositionSizeUsd
}

/** The price that collateral is valued at, times 10^index decimals, and its way between USD and token units. */
function collateralUnits({ trigger, position, collateralPrice: pair, indexDecimals }: DecreaseAmountsTerms) {
  const scale = 10n ** BigInt(indexDecimals)
  // A trigger price of the same token prices the collateral too; kept in API form, as it need not be a contract price.
  const collateralPrice =
    trigger !== undefined && position.collateralIsIndexToken ? trigger.price : pair.min * scale
  const usdOf = (amount: bigint): bigint => (amount * collateralPrice) / scale
  const amountOf = (usd: bigint): bigint => (usd * scale) / collateralPrice
  return { collateralPrice, usdOf, amountOf }
}

/** The size that is closed, USD and index tokens; a long's tokens are rounded up, a short's down. */
function closedSize(
  { side, sizeInUsd, sizeInTokens }: ShownPosition,
  closeSizeUsd: bigint,
  isFullClose: boolean,
): { readonly sizeDeltaUsd: bigint; readonly sizeDeltaInTokens: bigint } {
  const sizeDeltaUsd = isFullClose ? sizeInUsd : closeSizeUsd
  const product = sizeInTokens * sizeDeltaUsd
  const sizeDeltaInTokens = isFullClose
    ? sizeInTokens
    : side === 'long'
      ? (product + sizeInUsd - 1n) / sizeInUsd
      : product / sizeInUsd
  return { sizeDeltaUsd, sizeDeltaInTokens }
}

/** The acceptable price: what the market bears, any at all for a stop-loss, or a limit's own budget of impact. API form. */
function acceptableOf(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  trigger: DecreaseAmountsTerms['trigger'],
  priceTerms: AcceptablePriceTerms,
) {
  const info = acceptablePriceInfo(settings, state, prices, priceTerms)
  const { side, indexPrice, sizeDeltaUsd } = priceTerms
  let { acceptablePrice, acceptablePriceDeltaBps } = info
  let recommendedAcceptablePriceDeltaBps = 0n
  if (trigger !== undefined && (trigger.type === 'StopLossDecrease' || !trigger.setAcceptablePrice)) {
    acceptablePrice = side === 'long' ? 0n : ANY_HIGH_PRICE
  } else if (trigger !== undefined) {
    recommendedAcceptablePriceDeltaBps = defaultImpactBps(
      indexPrice,
      sizeDeltaUsd,
      info.priceImpactDeltaUsd,
      priceTerms,
    )
    const budget = acceptablePriceInfo(settings, state, prices, {
      ...priceTerms,
      maxNegativeImpactBps: trigger.fixedImpactBps ?? recommendedAcceptablePriceDeltaBps,
    })
    acceptablePrice = budget.acceptablePrice
    acceptablePriceDeltaBps = budget.acceptablePriceDeltaBps
  }
  return { info, acceptablePrice, acceptablePriceDeltaBps, recommendedAcceptablePriceDeltaBps }
}

/** Collateral that keeps the leverage of before on what is left of the size, USD; none where there was no leverage. */
function keptCollateralUsd(before: Parameters<typeof leverageBps>[0], sizeDeltaUsd: bigint): bigint {
  const leverage = leverageBps(before) ?? 0n
  return leverage === 0n ? 0n : ((before.sizeInUsd - sizeDeltaUsd) * BPS) / leverage
}

/** On which side of its trigger price the order executes; undefined: it has none. */
function thresholdOf(
  trigger: DecreaseAmountsTerms['trigger'],
  side: ShownPosition['side'],
): '>' | '<' | undefined {
  if (trigger === undefined) return undefined
  return (trigger.type === 'LimitDecrease') === (side === 'long') ? '>' : '<'
}

/** Amounts of the order. Prices in API form, USD with 30 decimals. */
export function decreaseAmounts(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  terms: DecreaseAmountsTerms,
) {
  const { position, trigger, referral } = terms
  const { side, sizeInUsd, sizeInTokens, collateralAmount } = position
  const direction = { side, isIncrease: false }
  const scale = 10n ** BigInt(terms.indexDecimals)
  const indexPrice = trigger?.price ?? markPriceOf(prices.index, direction) * scale
  const minPrice = terms.collateralPrice.min
  const { collateralPrice, usdOf, amountOf } = collateralUnits(terms)
  const pnlUsd = clientPnl(settings, state, side, position, (sizeInTokens * indexPrice) / scale, prices)
  const fundingUsd = position.fundingFeeAmount * minPrice
  const collateralUsd = usdOf(collateralAmount)
  const pendingFeesUsd = fundingUsd + position.pendingBorrowingFeesUsd
  const sharedUsd = terms.keepLeverage ? (terms.closeSizeUsd * collateralUsd) / sizeInUsd : 0n
  const isFullClose = closesWhole(settings, position, terms.closeSizeUsd, pnlUsd, collateralUsd - sharedUsd)
  const { sizeDeltaUsd, sizeDeltaInTokens } = closedSize(position, terms.closeSizeUsd, isFullClose)
  const realizedPnl = sizeInTokens === 0n ? 0n : (pnlUsd * sizeDeltaInTokens) / sizeInTokens
  const priceTerms = { ...direction, indexPrice, sizeDeltaUsd, sizeDeltaInTokens }
  const { info, acceptablePrice, acceptablePriceDeltaBps, recommendedAcceptablePriceDeltaBps } = acceptableOf(
    settings,
    state,
    prices,
    trigger,
    priceTerms,
  )
  const net = clientNetImpact(settings, state, position, sizeDeltaUsd, info.priceImpactDeltaUsd, prices)

  const gained = max(0n, realizedPnl) + max(0n, net.totalImpactUsd)
  const profitAmount = amountOf(gained)
  const fee = clientPositionFee(settings, sizeDeltaUsd, info.balanceWasImproved, referral, terms.uiFeeFactor)
  // The client goes through whole token units at the min price, then values them at its own collateral price.
  const costOf = (usd: bigint): bigint => usdOf(usd / minPrice)
  const positionFeeUsd = costOf(fee.positionFeeUsd)
  const borrowingFeeUsd = costOf(position.pendingBorrowingFeesUsd)
  const fundingFeeUsd = costOf(fundingUsd)
  const swapProfitFeeUsd =
    terms.swapsProfit === true ? profitSwapCostUsd(settings, state, prices, side, gained) : 0n
  const costUsd =
    positionFeeUsd +
    borrowingFeeUsd +
    fundingFeeUsd +
    fee.uiFeeUsd +
    swapProfitFeeUsd +
    max(0n, -realizedPnl) +
    max(0n, -net.totalImpactUsd)
  const costAmount = amountOf(costUsd)
  const paidOutput = min(profitAmount, costAmount)
  const paidCollateral = min(collateralAmount, costAmount - paidOutput)
  const output = profitAmount - paidOutput
  const remaining = collateralAmount - paidCollateral
  let collateralDeltaUsd = 0n
  let collateralDeltaAmount = 0n
  let receiveTokenAmount = output
  if (isFullClose) {
    collateralDeltaUsd = collateralUsd
    collateralDeltaAmount = collateralAmount
    receiveTokenAmount = output + remaining
  } else if (terms.keepLeverage && remaining > 0n) {
    const before = { sizeInUsd, collateralUsd, pendingFeesUsd }
    collateralDeltaUsd = usdOf(remaining) - keptCollateralUsd(before, sizeDeltaUsd)
    collateralDeltaAmount = amountOf(collateralDeltaUsd)
    receiveTokenAmount = output + collateralDeltaAmount
  }
  return {
    isFullClose,
    sizeDeltaUsd,
    sizeDeltaInTokens,
    collateralDeltaUsd,
    collateralDeltaAmount,
    indexPrice,
    /** Contract price times 10^index decimals, as a trigger price need not be a whole contract price. */
    collateralPriceScaled: collateralPrice,
    acceptablePrice,
    acceptablePriceDeltaBps,
    recommendedAcceptablePriceDeltaBps,
    proportionalPendingImpactDeltaUsd: net.proportionalPendingImpactUsd,
    closePriceImpactDeltaUsd: info.priceImpactDeltaUsd,
    totalPendingImpactDeltaUsd: net.totalImpactUsd,
    priceImpactDiffUsd: net.priceImpactDiffUsd,
    balanceWasImproved: info.balanceWasImproved,
    estimatedPnl: pnlUsd,
    realizedPnl,
    positionFeeUsd,
    uiFeeUsd: fee.uiFeeUsd,
    feeDiscountUsd: costOf(fee.discountUsd),
    borrowingFeeUsd,
    fundingFeeUsd,
    swapProfitFeeUsd,
    payedOutputUsd: usdOf(paidOutput),
    payedRemainingCollateralUsd: usdOf(paidCollateral),
    payedRemainingCollateralAmount: paidCollateral,
    receiveTokenAmount,
    receiveUsd: usdOf(receiveTokenAmount),
    triggerThresholdType: thresholdOf(trigger, side),
  }
}
