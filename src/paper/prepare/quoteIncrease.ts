/** Quote of an increase, with its capacity checks: the amounts that the official client's functions make. */
import { type Address, hexKey } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { refused } from '../http/http.ts'
import type { PrepareRequest } from '../http/prepareShape.ts'
import { executionFeesOf, withExecutionFees } from '../keeper/gasFees.ts'
import { markPriceOf } from '../math/client/acceptablePrice.ts'
import { increaseAmounts } from '../math/client/increaseAmounts.ts'
import { accrue } from '../math/increase.ts'
import {
  cloneMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type PricePair,
  slotPrice,
} from '../math/marketState.ts'
import { positionFees } from '../math/positionFees.ts'
import { positionPriceImpact } from '../math/positionImpact.ts'
import { newPosition } from '../math/positionMath.ts'
import type { PositionState } from '../math/positionState.ts'
import { capacityAt } from '../pools/jitPools.ts'
import { capacityJson } from '../pools/marketRows.ts'
import { swapAlong } from '../pools/swaps.ts'
import { positionsOfAccount } from '../state/accounts.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { marketPrices, sideOf, slotOf, slotToken, type VenueState } from '../state/venueState.ts'
import { capacityWarnings } from './capacityCheck.ts'
import { requireCollateral } from './collateralCheck.ts'
import { exitsOf } from './exits.ts'
import {
  addressesOf,
  type Common,
  commonOf,
  erc20Of,
  marketNamed,
  orderTypeOf,
  pathOf,
  positionDetails,
  positionNumbers,
  type Quote,
  splitTwap,
  tokenNamed,
} from './quoteCommon.ts'
import { shownPositionOf } from './shownPosition.ts'

/** Quotes an increase. Throws HttpFailure 400, or ProtocolRevert when a swap cannot work. */
export function quoteIncrease(venueState: VenueState, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(venueState, request, nowMs)
  const market = marketNamed(venueState, request.symbol)
  const { settings } = market
  const side = sideOf(request.direction === 'long')
  const { pay, payToken, collateralToken, slot } = tokensOf(venueState, request, market)
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
  const record = heldBy(venueState, request, market, collateralToken)
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
    limit: waits ? limitOf(request) : undefined,
    uiFeeFactor: 0n,
    position: record === undefined ? undefined : shownPositionOf(record, market, draft, prices).shown,
  })
  const order = increaseOrder(venueState, request, common, market, {
    payToken,
    payAmount: pay.amount,
    swapPath,
    acceptablePrice: amounts.acceptablePrice,
  })
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
  const details = positionDetails(venueState, request, common, {
    order,
    parts: own.length,
    amounts,
    collateralToken: collateralToken.address,
    receiveToken: collateralToken.address,
  })
  const heldState = record?.state ?? newPosition(settings, draft, side, slot)
  const dueFees = dueFeesOf(settings, draft, heldState, collateralPrice, prices, {
    sizeDeltaUsd: request.size,
    sizeDeltaInTokens: amounts.sizeDeltaInTokens,
  })
  const addition = {
    parts: BigInt(request.twap?.parts ?? 1),
    sizeDeltaUsd: request.size,
    collateralAmount: brought.amount,
  }
  requireCollateral(settings, draft, heldState, addition, prices)
  return {
    orders,
    details: [...own.map(() => details), ...exits.map((exit) => exit.details)],
    warnings,
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: amounts.positionPriceImpactDeltaUsd.toString(),
      swapPriceImpactDeltaUsd: brought.impactUsd.toString(),
      executionFeeAmount: executionFeesOf(orders).toString(),
      acceptablePrice: amounts.acceptablePrice.toString(),
      sizeDeltaUsd: request.size.toString(),
      positionFeeUsd: amounts.positionFeeUsd.toString(),
      ...dueFees,
      tradingCapacity: capacityFields,
    },
  }
}

/** Returns the token paid, the collateral that it becomes, and its slot in the market. Throws HttpFailure 400. */
function tokensOf(venueState: VenueState, request: PrepareRequest, market: VenueMarket) {
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
      ? slotToken(market, request.direction === 'long' ? 0 : 1)
      : erc20Of(venueState, tokenNamed(venueState, request.collateralToken))
  const slot = slotOf(market, collateralToken.address)
  if (slot === undefined) {
    throw refused(
      'INVALID_PARAMS',
      `${collateralToken.symbol} is not a collateral token of ${market.catalog.symbol}`,
    )
  }
  return { pay, payToken, collateralToken, slot }
}

/** The account's position on the side and collateral of the request. */
function heldBy(
  venueState: VenueState,
  request: PrepareRequest,
  market: VenueMarket,
  collateralToken: CatalogToken,
) {
  const side = sideOf(request.direction === 'long')
  return positionsOfAccount(venueState, request.from).find(
    (one) =>
      one.marketKey === market.key &&
      one.state.side === side &&
      hexKey(one.collateralToken.address) === hexKey(collateralToken.address),
  )
}

/** The order without its execution fee, before it is split in parts. */
function increaseOrder(
  venueState: VenueState,
  request: PrepareRequest,
  common: Common,
  market: VenueMarket,
  made: {
    readonly payToken: CatalogToken
    /** Token units. */
    readonly payAmount: bigint
    readonly swapPath: readonly Address[]
    /** API form, before slippage. */
    readonly acceptablePrice: bigint
  },
): CreateOrderParams {
  return {
    addresses: addressesOf(request, common, market.catalog.marketToken, made.payToken.address, made.swapPath),
    numbers: positionNumbers(venueState, request, common, market, {
      sizeDeltaUsd: request.size,
      initialCollateralDeltaAmount: made.payAmount,
      acceptablePrice: made.acceptablePrice,
      isIncrease: true,
    }),
    orderType: BigInt(orderTypeOf('increase', request.orderType)),
    decreasePositionSwapType: 0n,
    isLong: request.direction === 'long',
    ...common.base,
  }
}

/** The terms of the price that a resting increase waits for. */
function limitOf({ orderType, triggerPrice, acceptablePriceImpactBps }: PrepareRequest) {
  return {
    type: orderType === 'limit' ? 'LimitIncrease' : 'StopIncrease',
    triggerPrice,
    setAcceptablePrice: true,
    fixedImpactBps: acceptablePriceImpactBps,
  } as const
}

/** Borrowing and funding that are due with the increase, USD, as estimates show them. */
function dueFeesOf(
  settings: MarketSettings,
  draft: MarketState,
  held: PositionState,
  collateralPrice: PricePair,
  prices: MarketPrices,
  { sizeDeltaUsd, sizeDeltaInTokens }: { readonly sizeDeltaUsd: bigint; readonly sizeDeltaInTokens: bigint },
) {
  const { balanceWasImproved } = positionPriceImpact(
    settings,
    draft,
    held.side,
    sizeDeltaUsd,
    sizeDeltaInTokens,
    prices,
  )
  const fees = positionFees(settings, draft, held, collateralPrice, { sizeDeltaUsd, balanceWasImproved })
  return {
    borrowingFeeUsd: fees.borrowingFeeUsd.toString(),
    fundingFeeUsd: (fees.fundingFeeAmount * collateralPrice.min).toString(),
  }
}
