/** Vector functions whose authority is the official client, run on the venue's display model. */
import {
  acceptablePriceByImpact,
  acceptablePriceInfo,
  defaultImpactBps,
  impactByAcceptablePrice,
  markPriceOf,
  withSlippage,
} from '../../src/paper/math/client/acceptablePrice.ts'
import {
  clientPositionFee,
  executionFee,
  fundingFactorPerPeriod,
} from '../../src/paper/math/client/clientFees.ts'
import { clientCapBySize, clientCappedImpact } from '../../src/paper/math/client/clientImpact.ts'
import {
  clientPnl,
  entryPrice,
  leverageBps,
  liquidationImpact,
  liquidationPrice,
  maxAllowedLeverage,
  maxLeverageByMinCollateral,
  netValues,
} from '../../src/paper/math/client/clientPosition.ts'
import { decreaseAmounts } from '../../src/paper/math/client/decreaseAmounts.ts'
import {
  type IncreaseAmountsTerms,
  increaseAmounts,
  positionAfterIncrease,
} from '../../src/paper/math/client/increaseAmounts.ts'
import { positionInfo, type ShownPosition } from '../../src/paper/math/client/positionInfo.ts'
import { maxWithdraw, wholeCloseImpact } from '../../src/paper/math/client/withdraw.ts'
import { ceilDiv, fac } from '../../src/paper/math/integer.ts'
import { slotPrice } from '../../src/paper/math/marketState.ts'
import type { Any } from '../paper/support.ts'
import { tickerValues } from './clientTicker.ts'
import type { VectorFunction } from './contractFunctions.ts'
import {
  big,
  maybeBig,
  pairOf,
  positionOf,
  pricesOf,
  referralOf,
  scaleOf,
  settingsOf,
  sideOf,
  stateOf,
} from './input.ts'

/** By name. */
export const clientFunctions: Readonly<Record<string, VectorFunction>> = {
  cappedPositionImpactUsd: (input) => {
    const size = big(input.sizeDeltaUsd)
    const { impactUsd, balanceWasImproved } = clientCappedImpact(
      settingsOf(input.market),
      stateOf(input.market),
      sideOf(input.isLong),
      input.isIncrease ? size : -size,
      maybeBig(input.sizeDeltaInTokens),
      pricesOf(input.market),
      input.shouldCapNegativeImpact,
    )
    return { priceImpactDeltaUsd: impactUsd, balanceWasImproved }
  },
  capImpactByMaxFactor: (input) => ({
    impactUsd: clientCapBySize(settingsOf(input), big(input.impactUsd), big(input.sizeDeltaUsd)),
  }),
  positionFeeUsd: (input) => ({
    ...clientPositionFee(
      settingsOf(input),
      big(input.sizeDeltaUsd),
      input.balanceWasImproved,
      referralOf(input.referral),
      big(input.uiFeeFactor),
    ),
  }),
  fundingRatePerPeriod: (input) => {
    const factor = fundingFactorPerPeriod(
      settingsOf(input),
      stateOf(input),
      pricesOf(input),
      { factorPerSecond: big(input.fundingFactorPerSecond), longsPayShorts: input.longsPayShorts },
      sideOf(input.isLong),
      big(input.periodInSeconds),
    )
    return { factor, feeUsd: fac(big(input.sizeInUsd), factor) }
  },
  borrowingRatePerPeriod: (input) => {
    const perSecond = input.isLong
      ? input.borrowingFactorPerSecondForLongs
      : input.borrowingFactorPerSecondForShorts
    const factor = big(perSecond) * big(input.periodInSeconds)
    return { factor, feeUsd: fac(big(input.sizeInUsd), factor) }
  },
  marketTicker: ({ market, candle24h }) => ({
    ...tickerValues(
      settingsOf(market),
      stateOf(market),
      pricesOf(market),
      {
        fundingFactorPerSecond: big(market.fundingFactorPerSecond),
        longsPayShorts: market.longsPayShorts,
        borrowing: {
          long: big(market.borrowingFactorPerSecondForLongs),
          short: big(market.borrowingFactorPerSecondForShorts),
        },
      },
      {
        open: big(candle24h?.open),
        high: big(candle24h?.high),
        low: big(candle24h?.low),
        close: big(candle24h?.close),
      },
      scaleOf(market.indexToken),
    ),
  }),
  markPrice: (input) => ({
    markPrice: markPriceOf(
      { min: big(input.minPrice), max: big(input.maxPrice) },
      { side: sideOf(input.isLong), isIncrease: input.isIncrease },
    ),
  }),
  acceptablePrice: (input) => {
    const direction = { side: sideOf(input.isLong), isIncrease: input.isIncrease }
    const info = acceptablePriceInfo(
      settingsOf(input.market),
      stateOf(input.market),
      pricesOf(input.market),
      {
        ...direction,
        indexPrice: big(input.indexPrice),
        sizeDeltaUsd: big(input.sizeDeltaUsd),
        sizeDeltaInTokens: maybeBig(input.sizeDeltaInTokens),
        maxNegativeImpactBps: maybeBig(input.maxNegativePriceImpactBps),
      },
    )
    return {
      ...info,
      acceptablePriceWithSlippage: withSlippage(
        info.acceptablePrice,
        big(input.allowedSlippageBps),
        direction,
      ),
    }
  },
  acceptablePriceByPriceImpact: (input) => ({
    ...acceptablePriceByImpact(
      big(input.indexPrice),
      big(input.sizeDeltaUsd),
      big(input.priceImpactDeltaUsd),
      { side: sideOf(input.isLong), isIncrease: input.isIncrease },
    ),
  }),
  priceImpactByAcceptablePrice: (input) => ({
    ...impactByAcceptablePrice(big(input.sizeDeltaUsd), big(input.acceptablePrice), big(input.indexPrice), {
      side: sideOf(input.isLong),
      isIncrease: input.isIncrease,
    }),
  }),
  defaultAcceptablePriceImpactBps: (input) => ({
    bps: defaultImpactBps(
      big(input.indexPrice),
      big(input.sizeDeltaUsd),
      big(input.priceImpactDeltaUsd),
      { side: sideOf(input.isLong), isIncrease: input.isIncrease },
      maybeBig(input.bufferBps),
    ),
  }),
  sizeDeltaInTokensForDecrease: (input) => {
    const [size, tokens, delta] = [big(input.sizeInUsd), big(input.sizeInTokens), big(input.sizeDeltaUsd)]
    if (delta >= size) return { sizeDeltaInTokens: tokens }
    return { sizeDeltaInTokens: input.isLong ? ceilDiv(tokens * delta, size) : (tokens * delta) / size }
  },
  entryPrice: (input) => ({
    entryPrice: entryPrice(big(input.sizeInUsd), big(input.sizeInTokens), input.decimals),
  }),
  positionPnlUsd: (input) => ({
    pnlUsd: clientPnl(
      settingsOf(input.market),
      stateOf(input.market),
      sideOf(input.isLong),
      { sizeInUsd: big(input.sizeInUsd), sizeInTokens: big(input.sizeInTokens) },
      big(input.sizeInTokens) * (big(input.markPrice) / scaleOf(input.market.indexToken)),
      pricesOf(input.market),
    ),
  }),
  leverage: (input) => ({
    leverageBps: leverageBps({
      sizeInUsd: big(input.sizeInUsd),
      collateralUsd: big(input.collateralUsd),
      pnlUsd: maybeBig(input.pnlUsd),
      pendingFeesUsd: big(input.pendingFundingFeesUsd) + big(input.pendingBorrowingFeesUsd),
    }),
  }),
  positionNetValues: (input) => ({
    ...netValues({
      collateralUsd: big(input.collateralUsd),
      pnlUsd: big(input.pnlUsd),
      pendingFeesUsd: big(input.pendingFundingFeesUsd) + big(input.pendingBorrowingFeesUsd),
      netImpactUsd: big(input.netPriceImpactDeltaUsd),
      closingFeeUsd: big(input.closingFeeUsd),
    }),
  }),
  maxAllowedLeverage: (input) => ({
    maxAllowedLeverageBps: Number(
      maxAllowedLeverage(
        maybeBig(input.minCollateralFactor),
        maybeBig(input.minCollateralFactorForLiquidation),
        maybeBig(input.positionFeeFactorForBalanceWasNotImproved),
      ),
    ),
    maxLeverageByMinCollateralFactorBps: Number(
      maxLeverageByMinCollateral(maybeBig(input.minCollateralFactor)),
    ),
  }),
  liquidationPrice: (input) => {
    const settings = settingsOf(input.market, input)
    const size = big(input.sizeInUsd)
    const held = {
      side: sideOf(input.isLong),
      sizeInUsd: size,
      sizeInTokens: big(input.sizeInTokens),
      pendingImpactAmount: big(input.pendingImpactAmount),
    }
    const impactUsd = input.useMaxPriceImpact
      ? -fac(size, settings.maxPositionImpactFactorForLiquidations)
      : wholeCloseImpact(settings, stateOf(input.market), held, pricesOf(input.market))
    return {
      liquidationPrice: liquidationPrice(settings, {
        ...held,
        collateralAmount: big(input.collateralAmount),
        collateralUsd: big(input.collateralUsd),
        collateralIsIndexToken: input.collateralIsIndexToken,
        pendingFeesUsd: big(input.pendingFundingFeesUsd) + big(input.pendingBorrowingFeesUsd),
        closingFeeUsd: clientPositionFee(settings, size, false, referralOf(input.referral)).positionFeeUsd,
        impactUsd: liquidationImpact(settings, size, impactUsd),
        indexDecimals: input.market.indexToken.decimals,
      }),
    }
  },
  positionInfo: (input) => {
    const { market, position } = input
    const held = positionOf(position)
    const prices = pricesOf(market)
    return {
      ...positionInfo(
        settingsOf(market, input),
        stateOf(market),
        prices,
        shownOf(position, position.collateralIsIndexToken === true),
        {
          collateralPrice: slotPrice(prices, held.slot),
          indexDecimals: market.indexToken.decimals,
          referral: referralOf(input.referral),
          uiFeeFactor: maybeBig(input.uiFeeFactor),
          showPnlInLeverage: input.showPnlInLeverage,
        },
      ),
    }
  },
  maxWithdrawAmount: (input) => {
    const { market, position } = input
    return {
      ...maxWithdraw(settingsOf(market, input), stateOf(market), pricesOf(market), {
        side: sideOf(position.isLong),
        sizeInUsd: big(position.sizeInUsd),
        sizeInTokens: big(position.sizeInTokens),
        pendingImpactAmount: big(position.pendingImpactAmount),
        collateralUsd: big(position.collateralUsd),
        pnlUsd: big(position.pnlUsd),
        pendingFeesUsd: big(position.pendingBorrowingFeesUsd) + big(position.pendingFundingFeesUsd),
        collateralPrice: pairOf(input.collateralToken).min,
        referral: referralOf(input.referral),
      }),
    }
  },
  executionFee: (input) => {
    const limits = Object.fromEntries(
      Object.entries(input.gasLimits).map(([name, value]) => [name, big(value)]),
    ) as Any
    return {
      ...executionFee(limits, {
        kind: input.orderKind,
        swapsCount: big(input.swapsCount),
        callbackGasLimit: big(input.callbackGasLimit),
        hasDecreaseSwap: input.hasDecreaseSwap === true,
        gasPrice: big(input.gasPrice),
        nativePrice: { min: big(input.nativeTokenMinPrice) / 10n ** BigInt(input.nativeTokenDecimals) },
        numberOfParts: big(input.numberOfParts),
      }),
    }
  },
  increaseOrderAmounts: (input) => {
    const { market, existingPosition } = input
    const settings = settingsOf(market, input)
    const state = stateOf(market)
    const prices = pricesOf(market)
    const terms: IncreaseAmountsTerms = {
      side: sideOf(input.isLong),
      strategy: input.strategy,
      leverageBps: maybeBig(input.leverageBps),
      collateralAmount: big(input.collateralAmount),
      indexTokenAmount: big(input.indexTokenAmount),
      indexDecimals: market.indexToken.decimals,
      collateralPrice: pairOf(input.collateralToken),
      collateralIsIndexToken: input.collateralIsIndexToken,
      limit:
        input.limitOrderType === null
          ? undefined
          : {
              type: input.limitOrderType,
              triggerPrice: big(input.triggerPrice),
              setAcceptablePrice: input.setAcceptablePrice,
              fixedImpactBps: maybeBig(input.fixedAcceptablePriceImpactBps),
              bufferBps: maybeBig(input.acceptablePriceImpactBuffer),
            },
      uiFeeFactor: big(input.uiFeeFactor),
      referral: referralOf(input.referral),
      position: existingPosition ? shownOf(existingPosition, input.collateralIsIndexToken) : undefined,
    }
    const amounts = increaseAmounts(settings, state, prices, terms)
    const next = positionAfterIncrease(settings, state, prices, terms, amounts)
    return {
      amounts: { ...amounts, collateralPrice: amounts.collateralPrice * scaleOf(input.collateralToken) },
      next,
    }
  },
  decreaseOrderAmounts: (input) => {
    const { market, position } = input
    const prices = pricesOf(market)
    const slot = positionOf(position).slot
    const collateral = slot === 0 ? market.longToken : market.shortToken
    const amounts = decreaseAmounts(settingsOf(market, input), stateOf(market), prices, {
      position: shownOf(position, input.collateralIsIndexToken),
      closeSizeUsd: big(input.closeSizeUsd),
      keepLeverage: input.keepLeverage,
      indexDecimals: market.indexToken.decimals,
      collateralPrice: slotPrice(prices, slot),
      trigger:
        input.triggerOrderType === null
          ? undefined
          : {
              type: input.triggerOrderType,
              price: big(input.triggerPrice),
              setAcceptablePrice: input.setAcceptablePrice,
              fixedImpactBps: maybeBig(input.fixedAcceptablePriceImpactBps),
            },
      uiFeeFactor: big(input.uiFeeFactor),
      referral: referralOf(input.referral),
    })
    return {
      ...amounts,
      collateralPrice: (amounts.collateralPriceScaled * scaleOf(collateral)) / scaleOf(market.indexToken),
    }
  },
}

function shownOf(position: Any, collateralIsIndexToken: boolean): ShownPosition {
  return {
    ...positionOf(position),
    pendingBorrowingFeesUsd: big(position.pendingBorrowingFeesUsd),
    fundingFeeAmount: big(position.fundingFeeAmount),
    claimableLongTokenAmount: big(position.claimableLongTokenAmount),
    claimableShortTokenAmount: big(position.claimableShortTokenAmount),
    collateralIsIndexToken,
  }
}
