/** Quote of a decrease of an open position (wire: behaviours, D). */
import type { CreateOrderParams } from '../chains/relayRouter.ts'
import { hexKey } from '../domain/address.ts'
import { positionsOfAccount } from './accounts.ts'
import { refused } from './http.ts'
import { scaleOf } from './marketRows.ts'
import { positionFees } from './model/fees.ts'
import { capImpactByMaxFactor, positionPriceImpact } from './model/impact.ts'
import { accrue } from './model/increase.ts'
import { cloneMarket, type MarketPrices, slotPrice } from './model/market.ts'
import { tokensClosed } from './model/position.ts'
import type { PrepareRequest } from './prepareShape.ts'
import { acceptablePriceOf, isBuying, moveAgainst } from './quote.ts'
import {
  addressesOf,
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
import { marketPrices, type World } from './world.ts'
import type { PositionRecord } from './worldRecords.ts'

function openPosition(world: World, request: PrepareRequest, market: WorldMarket): PositionRecord {
  const wanted =
    request.collateralToken === undefined
      ? undefined
      : hexKey(erc20Of(world, tokenNamed(world, request.collateralToken)).address)
  const found = positionsOfAccount(world, request.from).filter(
    (record) =>
      record.marketKey === market.key &&
      record.state.side === request.direction &&
      (wanted === undefined || hexKey(record.collateralToken.address) === wanted),
  )
  if (found.length > 1) {
    throw refused(
      'INVALID_PARAMS',
      `There are ${found.length} open ${request.direction} positions in ${market.catalog.symbol}; name the collateralToken`,
    )
  }
  const [record] = found
  if (record === undefined) {
    throw refused('POSITION_NOT_FOUND', `No open ${request.direction} position in ${market.catalog.symbol}`)
  }
  return record
}

/** Quotes a decrease. Throws HttpFailure 400. */
export function quoteDecrease(world: World, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(world, request, nowMs)
  const market = marketNamed(world, request.symbol)
  const { settings } = market
  const named = request.receiveToken === undefined ? undefined : tokenNamed(world, request.receiveToken)
  const record = openPosition(world, request, market)
  const { collateralToken, state: position } = record
  const isLong = request.direction === 'long'
  const receiveToken = named === undefined ? collateralToken : erc20Of(world, named)
  const swapType = swapTypeOf(market, isLong, collateralToken, receiveToken)
  const isOwnSwap = swapType === 2n
  const swapPath = isOwnSwap ? [] : pathOf(world, request, collateralToken, receiveToken, common.seconds)
  const prices: MarketPrices = marketPrices(world, market, common.seconds)
  const indexScale = scaleOf(market.indexToken)
  const draft = cloneMarket(market.state)
  accrue(settings, draft, prices, common.seconds)
  const size = request.size < position.sizeInUsd ? request.size : position.sizeInUsd
  const closed = tokensClosed(position, size)
  const impact = positionPriceImpact(settings, draft, position.side, -size, -closed, prices)
  const impactUsd = capImpactByMaxFactor(settings, impact.impactUsd, size)
  const buying = isBuying('decrease', isLong)
  const acceptable = acceptablePriceOf({
    orderType: request.orderType,
    buying,
    markPrice: isLong ? prices.index.min : prices.index.max,
    triggerPrice: request.triggerPrice / indexScale,
    sizeDeltaUsd: size,
    impactUsd,
    impactBps: request.acceptablePriceImpactBps,
  })
  const withdrawn =
    request.keepLeverage && size < position.sizeInUsd
      ? (position.collateralAmount * size) / position.sizeInUsd
      : 0n
  const order: CreateOrderParams = {
    ...common.base,
    addresses: addressesOf(request, common, market.catalog.marketToken, collateralToken.address, swapPath),
    numbers: {
      sizeDeltaUsd: request.size,
      initialCollateralDeltaAmount: withdrawn,
      triggerPrice: request.triggerPrice / indexScale,
      acceptablePrice: acceptable.isAny
        ? acceptable.price
        : moveAgainst(acceptable.price, common.slippageBps, buying),
      executionFee: common.executionFee,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: BigInt(orderTypeOf('decrease', request.orderType)),
    decreasePositionSwapType: swapType,
    isLong,
    shouldUnwrapNativeToken: named?.isNative === true,
  }
  const orders = splitTwap(order, request, nowMs)
  const collateralPrice = slotPrice(prices, position.slot)
  const fees = positionFees(settings, draft, position, collateralPrice, {
    sizeDeltaUsd: size,
    balanceWasImproved: impact.balanceWasImproved,
  })
  return {
    orders,
    warnings: [],
    executionFees: common.executionFee * BigInt(orders.length),
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: impactUsd.toString(),
      swapPriceImpactDeltaUsd: '0',
      executionFeeAmount: (common.executionFee * BigInt(orders.length)).toString(),
      acceptablePrice: scaledPrice(acceptable, indexScale).toString(),
      sizeDeltaUsd: request.size.toString(),
      positionFeeUsd: positionFeeUsdOf(market, request.size, impact.balanceWasImproved).toString(),
      borrowingFeeUsd: fees.borrowingFeeUsd.toString(),
      fundingFeeUsd: (fees.fundingFeeAmount * collateralPrice.min).toString(),
    },
  }
}
