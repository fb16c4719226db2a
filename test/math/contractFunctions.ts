/** Vector functions whose authority is the contracts, run on the venue's model. */
import { borrowingFactorPerSecond } from '../../src/paper/math/borrowing.ts'
import { legacyAvailableLiquidity, tradingCapacity } from '../../src/paper/math/capacity.ts'
import { clientClosingFeeAmounts, clientPositionFee } from '../../src/paper/math/client/clientFees.ts'
import { clientCappedImpact } from '../../src/paper/math/client/clientImpact.ts'
import { fundingStep, nextFundingRate } from '../../src/paper/math/funding.ts'
import { ceilDiv, fac, min } from '../../src/paper/math/integer.ts'
import { balanceInterest, maxReservedUsd, reservedUsd } from '../../src/paper/math/marketState.ts'
import { positionFees } from '../../src/paper/math/positionFees.ts'
import {
  capImpactByImpactPool,
  capImpactByMaxFactor,
  executionOfDecrease,
  executionOfIncrease,
  impactCurveUsd,
  pendingImpactOf,
  positionPriceImpact,
  settledImpact,
} from '../../src/paper/math/positionImpact.ts'
import { checkLiquidation, positionPnl, tokensClosed } from '../../src/paper/math/positionMath.ts'
import { fallbackPositionValue, simulatedPositionValue } from '../../src/paper/math/positionValue.ts'
import { ProtocolRevert } from '../../src/paper/math/protocolRevert.ts'
import { isTriggered, orderTypes } from '../../src/paper/state/orderTypes.ts'
import type { Any } from '../paper/support.ts'
import { discountsOf } from './discounts.ts'
import {
  big,
  maybeBig,
  pairOf,
  positionOf,
  pricesOf,
  referralOf,
  scaleOf,
  setLatest,
  settingsOf,
  sideOf,
  stateOf,
} from './input.ts'
import { runLifecycle } from './lifecycle.ts'

/** A function of the schema: input in, named results out. */
export type VectorFunction = (input: Any) => Record<string, unknown>

const triggerTypes: Readonly<Record<string, number>> = {
  LimitIncrease: orderTypes.limitIncrease,
  StopIncrease: orderTypes.stopIncrease,
  LimitDecrease: orderTypes.limitDecrease,
  StopLossDecrease: orderTypes.stopLossDecrease,
}

/** By name. */
export const contractFunctions: Readonly<Record<string, VectorFunction>> = {
  impactCurveUsd: (input) => ({
    impactUsd: impactCurveUsd(big(input.diffUsd), big(input.impactFactor), big(input.impactExponentFactor)),
  }),
  positionPriceImpactUsd: (input) => {
    const prices = pricesOf(input.market)
    const size = big(input.sizeDeltaUsd)
    const sign = size < 0n ? -1n : 1n
    const side = sideOf(input.isLong)
    const opened = side === 'long' ? (sign * size) / prices.index.max : ceilDiv(sign * size, prices.index.min)
    const tokens = maybeBig(input.sizeDeltaInTokens) ?? opened
    const { impactUsd, balanceWasImproved } = positionPriceImpact(
      settingsOf(input.market),
      stateOf(input.market),
      side,
      size,
      sign * tokens,
      prices,
    )
    return { priceImpactDeltaUsd: impactUsd, balanceWasImproved }
  },
  capImpactByMaxFactor: (input) => ({
    impactUsd: capImpactByMaxFactor(settingsOf(input), big(input.impactUsd), big(input.sizeDeltaUsd)),
  }),
  capImpactByImpactPool: (input) => ({
    impactUsd: capImpactByImpactPool(
      settingsOf(input),
      stateOf(input),
      pricesOf(input),
      big(input.impactUsd),
    ),
  }),
  pendingImpactForDecrease: (input) => ({
    ...pendingImpactOf(
      { sizeInUsd: big(input.sizeInUsd), pendingImpactAmount: big(input.pendingImpactAmount) },
      big(input.sizeDeltaUsd),
      pricesOf(input),
    ),
  }),
  netImpactForDecrease: (input) => {
    const prices = pricesOf(input)
    const size = big(input.sizeDeltaUsd)
    const pending = pendingImpactOf(
      { sizeInUsd: big(input.sizeInUsd), pendingImpactAmount: big(input.pendingImpactAmount) },
      size,
      prices,
    )
    const settled = settledImpact(
      settingsOf(input),
      stateOf(input),
      prices,
      size,
      pending.usd + big(input.closePriceImpactUsd),
    )
    return { ...settled, proportionalPendingImpactUsd: pending.usd }
  },
  positionFeeAmounts: (input) => {
    const settings = settingsOf(input, input)
    const position = input.position
    const state = setLatest(stateOf({}), position)
    const uiFeeFactor = maybeBig(input.uiFeeFactor)
    const price = pairOf(input.collateralToken)
    const fees = positionFees(settings, state, positionOf(position), price, {
      sizeDeltaUsd: big(input.sizeDeltaUsd),
      balanceWasImproved: input.balanceWasImproved,
      isLiquidation: input.isLiquidation,
      ...(uiFeeFactor === undefined ? {} : { uiFeeFactor: min(uiFeeFactor, big(input.maxUiFeeFactor)) }),
    })
    const referral = input.referral && {
      totalRebateBps: big(input.referral.totalRebateBps),
      discountShareBps: big(input.referral.discountShareBps),
      customDiscountShareBps: big(input.referral.customDiscountShareBps),
      minAffiliateRewardFactor: big(input.referral.minAffiliateRewardFactor),
    }
    const off = discountsOf(fees.positionFeeAmount, referral ?? undefined, maybeBig(input.proDiscountFactor))
    const share = input.receiverFactors
    const feeReceiverAmount =
      fac(off.protocolFeeAmount, big(share.position)) +
      fac(fees.borrowingFeeAmount, big(share.borrowing)) +
      fac(fees.liquidationFeeAmount, big(share.liquidation))
    return {
      ...fees,
      ...off,
      feeReceiverAmount,
      feeAmountForPool:
        off.protocolFeeAmount + fees.borrowingFeeAmount + fees.liquidationFeeAmount - feeReceiverAmount,
      totalCostAmountExcludingFunding: fees.totalCostAmountExcludingFunding - off.totalDiscountAmount,
      totalCostAmount: fees.totalCostAmount - off.totalDiscountAmount,
    }
  },
  positionAccruedFees: (input) => {
    const state = setLatest(stateOf(input.market), input.position)
    const fees = positionFees(
      settingsOf(input.market),
      state,
      positionOf(input.position),
      pairOf(input.collateralToken),
      { sizeDeltaUsd: 0n, balanceWasImproved: false },
    )
    const { market, position } = input
    const size = big(position.sizeInUsd)
    const close = clientCappedImpact(
      settingsOf(market),
      state,
      sideOf(position.isLong),
      -size,
      big(position.sizeInTokens),
      pricesOf(market),
    )
    const fee = clientPositionFee(
      settingsOf(market),
      size,
      close.balanceWasImproved,
      referralOf(input.referral),
    )
    return {
      ...fees,
      ...clientClosingFeeAmounts(fee, pairOf(input.collateralToken)),
      pendingBorrowingFeesUsd: fees.borrowingFeeUsd,
    }
  },
  borrowingFactorPerSecond: ({ market, isLong }) => ({
    borrowingFactorPerSecond: borrowingFactorPerSecond(
      settingsOf(market),
      stateOf(market),
      sideOf(isLong),
      pricesOf(market),
    ),
  }),
  nextFundingFactorPerSecond: ({ market, savedFundingFactorPerSecond, durationInSeconds }) => {
    const settings = settingsOf(market)
    const state = stateOf(market)
    const prices = pricesOf(market)
    const rate = nextFundingRate(
      settings,
      balanceInterest(settings, state, 'long', prices),
      balanceInterest(settings, state, 'short', prices),
      big(savedFundingFactorPerSecond),
      big(durationInSeconds),
    )
    return {
      fundingFactorPerSecond: rate.factorPerSecond,
      longsPayShorts: rate.longsPayShorts,
      nextSavedFundingFactorPerSecond: rate.saved,
    }
  },
  nextFundingAmountPerSize: ({ market, savedFundingFactorPerSecond, durationInSeconds }) => {
    const state = stateOf({ ...market, savedFundingFactorPerSecond })
    const step = fundingStep(settingsOf(market), state, pricesOf(market), big(durationInSeconds))
    return {
      fundingFactorPerSecond: step.factorPerSecond,
      nextSavedFundingFactorPerSecond: step.saved,
      longsPayShorts: step.longsPayShorts,
      feePerSizeLongWithLongToken: step.fee.long[0],
      feePerSizeLongWithShortToken: step.fee.long[1],
      feePerSizeShortWithLongToken: step.fee.short[0],
      feePerSizeShortWithShortToken: step.fee.short[1],
      claimablePerSizeLongInLongToken: step.claimable.long[0],
      claimablePerSizeLongInShortToken: step.claimable.long[1],
      claimablePerSizeShortInLongToken: step.claimable.short[0],
      claimablePerSizeShortInShortToken: step.claimable.short[1],
    }
  },
  executionPriceIncrease: ({ market, isLong, sizeDeltaUsd, acceptablePrice }) => {
    const scale = scaleOf(market.indexToken)
    const acceptable = maybeBig(acceptablePrice)
    const done = executionOfIncrease(
      settingsOf(market),
      stateOf(market),
      sideOf(isLong),
      big(sizeDeltaUsd),
      acceptable === undefined ? undefined : acceptable / scale,
      pricesOf(market),
    )
    return {
      executionPrice: done.executionPrice * scale,
      sizeDeltaInTokens: done.sizeDeltaInTokens,
      balanceWasImproved: done.balanceWasImproved,
      priceImpactUsd: done.impactUsd,
      priceImpactAmount: done.impactAmount,
    }
  },
  executionPriceDecrease: ({ market, position, sizeDeltaUsd, acceptablePrice }) => {
    const scale = scaleOf(market.indexToken)
    const acceptable = maybeBig(acceptablePrice)
    const held = positionOf(position)
    const sizeDeltaInTokens = tokensClosed(held, big(sizeDeltaUsd))
    const done = executionOfDecrease(
      settingsOf(market),
      stateOf(market),
      held.side,
      held,
      big(sizeDeltaUsd),
      sizeDeltaInTokens,
      acceptable === undefined ? undefined : acceptable / scale,
      pricesOf(market),
    )
    return {
      executionPrice: done.executionPrice * scale,
      priceImpactUsd: done.impactUsd,
      balanceWasImproved: done.balanceWasImproved,
      sizeDeltaInTokens,
    }
  },
  orderTriggerReached: ({ orderType, isLong, triggerPrice, minPrice, maxPrice }) => ({
    reached: isTriggered(triggerTypes[orderType] ?? -1, isLong, big(triggerPrice), {
      min: big(minPrice),
      max: big(maxPrice),
    }),
  }),
  sizeDeltaInTokensForIncrease: ({ sizeDeltaUsd, decimals, price, isLong }) => {
    const contractPrice = big(price) / 10n ** BigInt(decimals)
    return {
      sizeDeltaInTokens: isLong
        ? big(sizeDeltaUsd) / contractPrice
        : ceilDiv(big(sizeDeltaUsd), contractPrice),
    }
  },
  positionPnlUsd: (input) => ({
    pnlUsd: positionPnl(
      settingsOf(input.market),
      stateOf(input.market),
      {
        side: sideOf(input.isLong),
        sizeInUsd: big(input.sizeInUsd),
        sizeInTokens: big(input.sizeInTokens),
      },
      pricesOf(input.market),
    ).usd,
  }),
  tradingCapacity: ({ market, isLong, maxReservedUsdWithJit }) => {
    const whole = { shortToken: market.longToken, longToken: market.shortToken, ...market }
    const settings = settingsOf(whole)
    const state = stateOf(whole)
    const prices = pricesOf(whole)
    const side = sideOf(isLong)
    const jit = maybeBig(maxReservedUsdWithJit)
    return {
      ...tradingCapacity(settings, state, side, prices, jit),
      reservedUsd: reservedUsd(settings, state, side, prices),
      maxReservedUsd: maxReservedUsd(settings, state, side, prices),
    }
  },
  availableLiquidityLegacy: ({ market, isLong }) => {
    const whole = { shortToken: market.longToken, longToken: market.shortToken, ...market }
    return {
      availableLiquidity: legacyAvailableLiquidity(
        settingsOf(whole),
        stateOf(whole),
        sideOf(isLong),
        pricesOf(whole),
      ),
    }
  },
  isPositionLiquidatable: (input) => {
    const { market, position, forLiquidation, validateMinCollateralUsd } = input
    const settings = settingsOf(market, input)
    const check = checkLiquidation(
      settings,
      setLatest(stateOf(market), position),
      positionOf(position),
      pricesOf(market),
      { forLiquidation, checkMinCollateralUsd: validateMinCollateralUsd },
    )
    return { ...check, minCollateralUsd: validateMinCollateralUsd ? settings.minCollateralUsd : 0n }
  },
  positionValueInUsd: ({ market, position }) => {
    const settings = settingsOf(market)
    const state = setLatest(stateOf(market), position)
    const held = positionOf(position)
    const prices = pricesOf(market)
    const fallbackPositionValueInUsd = fallbackPositionValue(settings, state, held, prices)
    try {
      const { valueUsd, execution, fees, ...rest } = simulatedPositionValue(settings, state, held, prices)
      return {
        ...rest,
        ...fees,
        positionValueInUsd: valueUsd,
        priceImpactUsd: execution.impactUsd,
        executionPrice: execution.executionPrice * scaleOf(market.indexToken),
        fallbackPositionValueInUsd,
      }
    } catch (error) {
      if (!(error instanceof ProtocolRevert)) throw error
      return { revert: error.errorName, fallbackPositionValueInUsd }
    }
  },
  positionLifecycle: runLifecycle,
}
