/** Quote of a decrease of an open position: the amounts that the official client's functions make. */
import { hexKey } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { refused } from '../http/http.ts'
import type { PrepareRequest } from '../http/prepareShape.ts'
import { autoCancelOrders } from '../keeper/autoCancel.ts'
import { executionFeesOf, withExecutionFees } from '../keeper/gasFees.ts'
import { decreaseAmounts } from '../math/client/decreaseAmounts.ts'
import { accrue } from '../math/increase.ts'
import { cloneMarket, slotPrice } from '../math/marketState.ts'
import { positionsOfAccount } from '../state/accounts.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { PositionRecord } from '../state/venueRecords.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'
import {
  addressesOf,
  commonOf,
  erc20Of,
  marketNamed,
  orderTypeOf,
  pathOf,
  positionDetails,
  positionNumbers,
  type Quote,
  splitTwap,
  swapTypeOf,
  tokenNamed,
} from './quoteCommon.ts'
import { shownPositionOf } from './shownPosition.ts'

function openPosition(venueState: VenueState, request: PrepareRequest, market: VenueMarket): PositionRecord {
  const wanted =
    request.collateralToken === undefined
      ? undefined
      : hexKey(erc20Of(venueState, tokenNamed(venueState, request.collateralToken)).address)
  const found = positionsOfAccount(venueState, request.from).filter(
    (record) =>
      record.marketKey === market.key &&
      record.state.side === request.direction &&
      (wanted === undefined || hexKey(record.collateralToken.address) === wanted),
  )
  if (found.length > 1) {
    throw refused(
      'INVALID_PARAMS',
      `The account has ${found.length} open ${request.direction} positions in ${market.catalog.symbol}; name the collateralToken`,
    )
  }
  const [record] = found
  if (record === undefined) {
    throw refused('POSITION_NOT_FOUND', `No open ${request.direction} position in ${market.catalog.symbol}`)
  }
  return record
}

/** Quotes a decrease. Throws HttpFailure 400. */
export function quoteDecrease(venueState: VenueState, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(venueState, request, nowMs)
  const market = marketNamed(venueState, request.symbol)
  const { settings } = market
  const named = request.receiveToken === undefined ? undefined : tokenNamed(venueState, request.receiveToken)
  const record = openPosition(venueState, request, market)
  const { collateralToken, state: position } = record
  const isLong = request.direction === 'long'
  const receiveToken = named === undefined ? collateralToken : erc20Of(venueState, named)
  const swapType = swapTypeOf(market, isLong, collateralToken, receiveToken)
  const isOwnSwap = swapType === 2n
  const swapPath = isOwnSwap ? [] : pathOf(venueState, request, collateralToken, receiveToken, common.seconds)
  const prices = marketPrices(venueState, market, common.seconds)
  const indexDecimals = market.indexToken.decimals
  const draft = cloneMarket(market.state)
  accrue(settings, draft, prices, common.seconds)
  const { orderType, triggerPrice } = request
  const isTrigger = orderType === 'take-profit' || orderType === 'stop-loss'
  const amounts = decreaseAmounts(settings, draft, prices, {
    position: shownPositionOf(record, market, draft, prices).shown,
    closeSizeUsd: request.size,
    keepLeverage: request.keepLeverage,
    indexDecimals,
    collateralPrice: slotPrice(prices, position.slot),
    trigger: isTrigger
      ? {
          type: orderType === 'take-profit' ? 'LimitDecrease' : 'StopLossDecrease',
          price: triggerPrice,
          setAcceptablePrice: true,
          fixedImpactBps: request.acceptablePriceImpactBps,
        }
      : undefined,
    uiFeeFactor: 0n,
    swapsProfit: swapType === 1n,
  })
  // Above the position: a trigger order is cut when it executes, a market order reverts.
  const echoed = request.size > position.sizeInUsd ? request.size : amounts.sizeDeltaUsd
  const isAnySize = isTrigger && amounts.isFullClose && venueState.settings.exitShape === 'max'
  const order: CreateOrderParams = {
    ...common.base,
    addresses: addressesOf(request, common, market.catalog.marketToken, collateralToken.address, swapPath),
    numbers: positionNumbers(venueState, request, common, market, {
      sizeDeltaUsd: isAnySize ? MAX_UINT256 : echoed,
      initialCollateralDeltaAmount: amounts.collateralDeltaAmount,
      acceptablePrice: amounts.acceptablePrice,
      isIncrease: false,
    }),
    orderType: BigInt(orderTypeOf('decrease', orderType)),
    decreasePositionSwapType: swapType,
    isLong,
    shouldUnwrapNativeToken: named?.isNative === true,
  }
  const most = venueState.chain.maxAutoCancelOrders
  const autoCancel =
    isTrigger && request.autoCancel && autoCancelOrders(venueState, request.from, order) < most
  const orders = withExecutionFees(venueState, splitTwap({ ...order, autoCancel }, request, nowMs), {
    bufferBps: request.executionFeeBufferBps,
    mode: request.mode,
    nowMs,
  })
  const details = positionDetails(venueState, request, common, {
    order,
    parts: orders.length,
    amounts,
    collateralToken: collateralToken.address,
    receiveToken: (named ?? collateralToken).address,
  })
  const executionFees = executionFeesOf(orders)
  return {
    orders,
    details: orders.map(() => details),
    warnings: [],
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: amounts.closePriceImpactDeltaUsd.toString(),
      swapPriceImpactDeltaUsd: '0',
      executionFeeAmount: executionFees.toString(),
      acceptablePrice: amounts.acceptablePrice.toString(),
      sizeDeltaUsd: echoed.toString(),
      positionFeeUsd: amounts.positionFeeUsd.toString(),
      borrowingFeeUsd: amounts.borrowingFeeUsd.toString(),
      fundingFeeUsd: amounts.fundingFeeUsd.toString(),
    },
  }
}
