/** Quote of an increase, with its capacity checks: the amounts that the official client's functions make. */
import { hexKey } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { executionFeesOf, withExecutionFees } from '../execution/gasFees.ts'
import { refused } from '../http/http.ts'
import type { PrepareRequest } from '../http/prepareShape.ts'
import { capacityAt } from '../market/jitPools.ts'
import { capacityJson } from '../market/marketRows.ts'
import { swapAlong } from '../market/swaps.ts'
import { markPriceOf } from '../math/client/acceptablePrice.ts'
import { increaseAmounts } from '../math/client/increaseAmounts.ts'
import { accrue } from '../math/increase.ts'
import { cloneMarket, slotPrice } from '../math/marketState.ts'
import { positionFees } from '../math/positionFees.ts'
import { positionPriceImpact } from '../math/positionImpact.ts'
import { newPosition } from '../math/positionMath.ts'
import { positionsOfAccount } from '../state/accounts.ts'
import { marketPrices, sideOf, slotOf, slotToken, type VenueState } from '../state/venueState.ts'
import type { OrderDetails } from './batchParams.ts'
import { capacityWarnings } from './capacityCheck.ts'
import { requireCollateral } from './collateralCheck.ts'
import { exitsOf } from './exits.ts'
import {
  addressesOf,
  commonOf,
  erc20Of,
  marketNamed,
  orderPriceOf,
  orderTypeOf,
  pathOf,
  type Quote,
  slippageIn,
  splitTwap,
  tokenNamed,
} from './quoteCommon.ts'
import { shownPositionOf } from './shownPosition.ts'

/** Quotes an increase. Throws HttpFailure 400, or ProtocolRevert when a swap cannot work. */
export function quoteIncrease(venueState: VenueState, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(venueState, request, nowMs)
  const market = marketNamed(venueState, request.symbol)
  const { settings } = market
  const isLong = request.direction === 'long'
  const side = sideOf(isLong)
  const pay = request.collateralToPay ?? { amount: 0n, token: '' }
  const named = tokenNamed(venueState, pay.token)
  if (named.isNative && request.mode === 'express') {
    const wrapped = erc20Of(venueState, named)
    throw refused(
      'INVALID_PARAMS',
      `${named.symbol} cannot be paid in express mode; pay ${wrapped.symbol} (${wrapped.address}) instead`,
    )
  }
  const payToken = erc20Of(venueState, named)
  const collateralToken =
    request.collateralToken === undefined
      ? slotToken(market, isLong ? 0 : 1)
      : erc20Of(venueState, tokenNamed(venueState, request.collateralToken))
  const slot = slotOf(market, collateralToken.address)
  if (slot === undefined) {
    throw refused('INVALID_PARAMS', `${collateralToken.symbol} is no collateral of ${market.catalog.symbol}`)
  }
  const swapPath = pathOf(venueState, request, payToken, collateralToken, common.seconds)
  const prices = marketPrices(venueState, market, common.seconds)
  const indexDecimals = market.indexToken.decimals
  const scale = 10n ** BigInt(indexDecimals)
  const capacity = capacityAt(venueState, market, side, prices, common.seconds)
  const capacityFields = capacityJson(venueState, market, capacity)
  const warnings = capacityWarnings(venueState, market, capacity, {
    sizeDeltaUsd: request.size,
    isResting: request.orderType !== 'market',
    swapsCollateral: swapPath.length > 0,
  })
  const draft = cloneMarket(market.state)
  accrue(settings, draft, prices, common.seconds)
  const record = positionsOfAccount(venueState, request.from).find(
    (one) =>
      one.marketKey === market.key &&
      one.state.side === side &&
      hexKey(one.collateralToken.address) === hexKey(collateralToken.address),
  )
  const brought = swapAlong(venueState, new Map(), payToken.address, pay.amount, swapPath, common.seconds)
  const collateralPrice = slotPrice(prices, slot)
  const { orderType, triggerPrice } = request
  const direction = { side, isIncrease: true }
  const waits = orderType === 'limit' || orderType === 'stop-market'
  const indexPrice = waits ? triggerPrice : markPriceOf(prices.index, direction) * scale
  const amounts = increaseAmounts(settings, draft, prices, {
    side,
    strategy: 'independent',
    collateralAmount: brought.amount,
    // The client counts a size through index tokens; the order carries the size that was asked for.
    indexTokenAmount: (request.size * scale) / indexPrice,
    indexDecimals,
    collateralPrice,
    collateralIsIndexToken: hexKey(collateralToken.address) === hexKey(market.indexToken.address),
    limit: waits
      ? {
          type: orderType === 'limit' ? 'LimitIncrease' : 'StopIncrease',
          triggerPrice,
          setAcceptablePrice: true,
          fixedImpactBps: request.acceptablePriceImpactBps,
        }
      : undefined,
    uiFeeFactor: 0n,
    position: record === undefined ? undefined : shownPositionOf(record, market, draft, prices).shown,
  })
  const order: CreateOrderParams = {
    addresses: addressesOf(request, common, market.catalog.marketToken, payToken.address, swapPath),
    numbers: {
      sizeDeltaUsd: request.size,
      initialCollateralDeltaAmount: pay.amount,
      triggerPrice: triggerPrice / scale,
      acceptablePrice: orderPriceOf(venueState, amounts.acceptablePrice, {
        orderType,
        direction,
        slippageBps: common.slippageBps,
        scale,
      }),
      executionFee: 0n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: BigInt(orderTypeOf('increase', orderType)),
    decreasePositionSwapType: 0n,
    isLong,
    ...common.base,
  }
  const exits = exitsOf(venueState, request, {
    common,
    parent: order,
    market,
    collateralToken,
    draft,
    prices,
    held: record?.state,
    opened: { ...amounts, sizeDeltaUsd: request.size, collateralAmount: brought.amount },
  })
  const own = splitTwap(order, request, nowMs)
  const orders = withExecutionFees(venueState, [...own, ...exits.map((exit) => exit.order)], {
    bufferBps: request.executionFeeBufferBps,
    mode: request.mode,
    nowMs,
  })
  const parts = BigInt(own.length)
  const details: OrderDetails = {
    sizeDeltaInTokens: amounts.sizeDeltaInTokens / parts,
    acceptablePrice: orderType === 'twap' ? order.numbers.acceptablePrice : amounts.acceptablePrice,
    collateralDeltaAmount: amounts.collateralDeltaAmount / parts,
    minOutput: 0n,
    slippageBps: slippageIn(venueState, orderType, common.slippageBps),
    collateralToken: collateralToken.address,
    receiveToken: collateralToken.address,
  }
  const heldState = record?.state ?? newPosition(settings, draft, side, slot)
  const fees = positionFees(settings, draft, heldState, collateralPrice, {
    sizeDeltaUsd: request.size,
    balanceWasImproved: positionPriceImpact(
      settings,
      draft,
      side,
      request.size,
      amounts.sizeDeltaInTokens,
      prices,
    ).balanceWasImproved,
  })
  const addition = {
    parts: BigInt(request.twap?.parts ?? 1),
    sizeDeltaUsd: request.size,
    collateralAmount: brought.amount,
  }
  requireCollateral(settings, draft, heldState, addition, prices)
  const executionFees = executionFeesOf(orders)
  return {
    orders,
    details: [...own.map(() => details), ...exits.map((exit) => exit.details)],
    warnings,
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: amounts.positionPriceImpactDeltaUsd.toString(),
      swapPriceImpactDeltaUsd: brought.impactUsd.toString(),
      executionFeeAmount: executionFees.toString(),
      acceptablePrice: amounts.acceptablePrice.toString(),
      sizeDeltaUsd: request.size.toString(),
      positionFeeUsd: amounts.positionFeeUsd.toString(),
      borrowingFeeUsd: fees.borrowingFeeUsd.toString(),
      fundingFeeUsd: (fees.fundingFeeAmount * collateralPrice.min).toString(),
      tradingCapacity: capacityFields,
    },
  }
}
