/** Quote of an increase, with its capacity checks and attached orders (wire: behaviours, D). */
import type { CreateOrderParams } from '../chains/relayRouter.ts'
import { hexKey } from '../domain/address.ts'
import { positionsOfAccount } from './accounts.ts'
import { capacityWarnings } from './capacityCheck.ts'
import type { CatalogToken } from './catalog.ts'
import { requireCollateral } from './collateralCheck.ts'
import { refused } from './http.ts'
import { capacityAt } from './jit.ts'
import { capacityJson, scaleOf } from './marketRows.ts'
import { positionFees } from './model/fees.ts'
import { capImpactByMaxFactor, positionPriceImpact } from './model/impact.ts'
import { accrue } from './model/increase.ts'
import { cloneMarket, slotPrice } from './model/market.ts'
import { newPosition } from './model/position.ts'
import type { PrepareRequest } from './prepareShape.ts'
import { acceptablePriceOf, isBuying, moveAgainst } from './quote.ts'
import {
  addressesOf,
  type Common,
  commonOf,
  erc20Of,
  marketNamed,
  orderTypeOf,
  pathOf,
  positionFeeUsdOf,
  type Quote,
  scaledPrice,
  splitTwap,
  swapTypeOf,
  tokenNamed,
} from './quoteCommon.ts'
import type { WorldMarket } from './seedMarkets.ts'
import { swapAlong } from './swaps.ts'
import { marketPrices, sideOf, slotOf, slotToken, type World } from './world.ts'

/** Quotes an increase. Throws HttpFailure 400, or ProtocolRevert when a swap cannot work. */
export function quoteIncrease(world: World, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(world, request, nowMs)
  const market = marketNamed(world, request.symbol)
  const { settings } = market
  const isLong = request.direction === 'long'
  const side = sideOf(isLong)
  const pay = request.collateralToPay ?? { amount: 0n, token: '' }
  const named = tokenNamed(world, pay.token)
  if (named.isNative && request.mode === 'express') {
    const wrapped = erc20Of(world, named)
    throw refused(
      'INVALID_PARAMS',
      `${named.symbol} cannot be paid in express mode; pay ${wrapped.symbol} (${wrapped.address}) instead`,
    )
  }
  const payToken = erc20Of(world, named)
  const collateralToken =
    request.collateralToken === undefined
      ? slotToken(market, isLong ? 0 : 1)
      : erc20Of(world, tokenNamed(world, request.collateralToken))
  const slot = slotOf(market, collateralToken.address)
  if (slot === undefined) {
    throw refused('INVALID_PARAMS', `${collateralToken.symbol} is no collateral of ${market.catalog.symbol}`)
  }
  const swapPath = pathOf(world, request, payToken, collateralToken, common.seconds)
  const prices = marketPrices(world, market, common.seconds)
  const indexScale = scaleOf(market.indexToken)
  const markPrice = isLong ? prices.index.max : prices.index.min
  const capacity = capacityAt(world, market, side, prices, common.seconds)
  const capacityFields = capacityJson(world, market, capacity)
  const warnings = capacityWarnings(world, market, capacity, {
    sizeDeltaUsd: request.size,
    isResting: request.orderType !== 'market',
    swapsCollateral: swapPath.length > 0,
  })
  const tokens = isLong ? request.size / prices.index.max : request.size / prices.index.min
  const impact = positionPriceImpact(settings, market.state, side, request.size, tokens, prices)
  const impactUsd = capImpactByMaxFactor(settings, impact.impactUsd, request.size)
  const buying = isBuying('increase', isLong)
  const acceptable = acceptablePriceOf({
    orderType: request.orderType,
    buying,
    markPrice,
    triggerPrice: request.triggerPrice / indexScale,
    sizeDeltaUsd: request.size,
    impactUsd,
    impactBps: request.acceptablePriceImpactBps,
  })
  const order: CreateOrderParams = {
    addresses: addressesOf(request, common, market.catalog.marketToken, payToken.address, swapPath),
    numbers: {
      sizeDeltaUsd: request.size,
      initialCollateralDeltaAmount: pay.amount,
      triggerPrice: request.triggerPrice / indexScale,
      acceptablePrice: acceptable.isAny
        ? acceptable.price
        : moveAgainst(acceptable.price, common.slippageBps, buying),
      executionFee: common.executionFee,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: BigInt(orderTypeOf('increase', request.orderType)),
    decreasePositionSwapType: 0n,
    isLong,
    ...common.base,
  }
  const orders = splitTwap(order, request, nowMs)
  for (const sidecar of request.tpsl)
    orders.push(sidecarOf(request, common, order, market, collateralToken, sidecar))

  const brought = swapAlong(world, new Map(), payToken.address, pay.amount, swapPath, common.seconds)
  const draft = cloneMarket(market.state)
  accrue(settings, draft, prices, common.seconds)
  const record = positionsOfAccount(world, request.from).find(
    (one) =>
      one.marketKey === market.key &&
      one.state.side === side &&
      hexKey(one.collateralToken.address) === hexKey(collateralToken.address),
  )
  const collateralPrice = slotPrice(prices, slot)
  const held = record?.state ?? newPosition(settings, draft, side, slot)
  const fees = positionFees(settings, draft, held, collateralPrice, {
    sizeDeltaUsd: request.size,
    balanceWasImproved: impact.balanceWasImproved,
  })
  const parts = BigInt(request.twap?.parts ?? 1)
  const addition = { parts, sizeDeltaUsd: request.size, collateralAmount: brought.amount }
  requireCollateral(settings, draft, held, addition, prices)
  return {
    orders,
    warnings,
    executionFees: common.executionFee * BigInt(orders.length),
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: impactUsd.toString(),
      swapPriceImpactDeltaUsd: brought.impactUsd.toString(),
      executionFeeAmount: (common.executionFee * BigInt(orders.length)).toString(),
      acceptablePrice: scaledPrice(acceptable, indexScale).toString(),
      sizeDeltaUsd: request.size.toString(),
      positionFeeUsd: positionFeeUsdOf(market, request.size, impact.balanceWasImproved).toString(),
      borrowingFeeUsd: fees.borrowingFeeUsd.toString(),
      fundingFeeUsd: (fees.fundingFeeAmount * collateralPrice.min).toString(),
      tradingCapacity: capacityFields,
    },
  }
}

/** An attached take-profit or stop-loss: a resting decrease that is cancelled with the position. */
function sidecarOf(
  request: PrepareRequest,
  common: Common,
  parent: CreateOrderParams,
  market: WorldMarket,
  collateralToken: CatalogToken,
  sidecar: PrepareRequest['tpsl'][number],
): CreateOrderParams {
  const buying = isBuying('decrease', parent.isLong)
  const triggerPrice = sidecar.triggerPrice / scaleOf(market.indexToken)
  const sizeDeltaUsd = sidecar.size ?? request.size
  const acceptable = acceptablePriceOf({
    orderType: sidecar.type,
    buying,
    markPrice: triggerPrice,
    triggerPrice,
    sizeDeltaUsd,
    impactUsd: 0n,
    impactBps: request.acceptablePriceImpactBps,
  })
  return {
    ...parent,
    addresses: { ...parent.addresses, initialCollateralToken: collateralToken.address, swapPath: [] },
    numbers: {
      ...parent.numbers,
      sizeDeltaUsd,
      initialCollateralDeltaAmount: 0n,
      triggerPrice,
      acceptablePrice: acceptable.isAny
        ? acceptable.price
        : moveAgainst(acceptable.price, common.slippageBps, buying),
    },
    orderType: BigInt(orderTypeOf('decrease', sidecar.type)),
    decreasePositionSwapType: swapTypeOf(market, parent.isLong, collateralToken, collateralToken),
    autoCancel: true,
  }
}
