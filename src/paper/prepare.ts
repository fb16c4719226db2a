/** From a prepare request to orders: market and token checks, prices, fees, warnings (wire: behaviours, D). */

import type { CreateOrderParams } from '../chains/relayRouter.ts'
import { type Address, hexKey, ZERO_ADDRESS } from '../domain/address.ts'
import { MAX_UINT256 } from '../domain/units.ts'
import type { CatalogToken } from './catalog.ts'
import { type Json, refused } from './http.ts'
import { orderTypes } from './keeper.ts'
import { findMarket, findToken } from './lookup.ts'
import { capacityJson, scaleOf } from './marketRows.ts'
import { tradingCapacity } from './model/capacity.ts'
import { positionFees } from './model/fees.ts'
import { capImpactByMaxFactor, positionPriceImpact } from './model/impact.ts'
import { accrue } from './model/increase.ts'
import { fac } from './model/integer.ts'
import { cloneMarket, type MarketPrices, slotPrice } from './model/market.ts'
import { newPosition, tokensClosed } from './model/position.ts'
import type { PrepareRequest, RequestedOrderType } from './prepareShape.ts'
import {
  acceptablePriceOf,
  executionFeeOf,
  isBuying,
  metadataOf,
  moveAgainst,
  referralCodeOf,
} from './quote.ts'
import type { WorldMarket } from './seedMarkets.ts'
import { findSwapPath, MAX_SWAP_PATH, swapAlong, swapPathEnd } from './swaps.ts'
import {
  marketPrices,
  type PositionRecord,
  positionsOfAccount,
  sideOf,
  slotOf,
  slotToken,
  type World,
} from './world.ts'

/** What prepare came to, before it is put into a payload. */
export interface Quote {
  readonly orders: readonly CreateOrderParams[]
  readonly estimates: Readonly<Record<string, Json>>
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly details: Json }[]
  readonly executionFees: bigint
  readonly feeToken: CatalogToken
}

/** On-chain order type of a request. */
function orderTypeOf(kind: PrepareRequest['kind'], type: RequestedOrderType): number {
  if (kind === 'increase') {
    if (type === 'market') return orderTypes.marketIncrease
    return type === 'stop-market' ? orderTypes.stopIncrease : orderTypes.limitIncrease
  }
  if (kind === 'decrease') {
    if (type === 'market') return orderTypes.marketDecrease
    return type === 'stop-loss' ? orderTypes.stopLossDecrease : orderTypes.limitDecrease
  }
  return type === 'market' ? orderTypes.marketSwap : orderTypes.limitSwap
}

function tokenNamed(world: World, name: string): CatalogToken {
  const token = findToken(world, name)
  if (token === undefined) throw refused('TOKEN_NOT_FOUND', `Token not found: ${name}`)
  return token
}

function marketNamed(world: World, name: string): WorldMarket {
  const market = findMarket(world, name)
  if (market === undefined || market.settings.isSpotOnly) {
    throw refused('MARKET_NOT_FOUND', `Market not found: ${name}`)
  }
  return market
}

/** The ERC-20 token that stands for one named: the wrapped token for the native coin. */
function erc20Of(world: World, token: CatalogToken): CatalogToken {
  if (!token.isNative) return token
  return world.catalog.tokenByAddress.get(hexKey(token.wrappedAddress ?? '')) ?? token
}

/** The token that pays the relay. */
export function feeTokenOf(world: World, name: string | undefined): CatalogToken {
  const first = world.chain.gasPaymentTokens[0] ?? ZERO_ADDRESS
  const token = tokenNamed(world, name ?? first)
  if (!world.chain.gasPaymentTokens.some((one) => hexKey(one) === hexKey(token.address))) {
    throw refused('INVALID_PARAMS', `${token.symbol} cannot pay the relay fee`)
  }
  return token
}

/**
 * Quotes a prepare request.
 *
 * @throws HttpFailure 400 with the documented codes
 */
export function quoteOrder(world: World, request: PrepareRequest, nowMs: number): Quote {
  if (request.kind === 'increase') return quoteIncrease(world, request, nowMs)
  return request.kind === 'decrease' ? quoteDecrease(world, request, nowMs) : quoteSwap(world, request, nowMs)
}

interface Common {
  readonly seconds: number
  readonly executionFee: bigint
  readonly feeToken: CatalogToken
  readonly slippageBps: bigint
  readonly base: Pick<
    CreateOrderParams,
    'referralCode' | 'dataList' | 'autoCancel' | 'shouldUnwrapNativeToken'
  >
  readonly uiFeeReceiver: Address
}

function commonOf(world: World, request: PrepareRequest, nowMs: number): Common {
  const seconds = Math.floor(nowMs / 1000)
  const referralCode = referralCodeOf(request.referralCode)
  if (referralCode === undefined) {
    throw refused('INVALID_PARAMS', 'referralCode is neither bytes32 nor up to 20 ASCII characters')
  }
  const parts = request.twap?.parts ?? 0
  const twapId = parts === 0 ? '0000' : (world.counters.nonce % 65_536).toString(16).padStart(4, '0')
  return {
    seconds,
    executionFee: executionFeeOf(
      world,
      request.executionFeeBufferBps ?? world.settings.executionFeeBufferBps,
      seconds,
    ),
    feeToken: feeTokenOf(world, request.gasPaymentToken),
    slippageBps: BigInt(request.slippageBps ?? world.settings.defaultSlippageBps),
    base: {
      referralCode,
      dataList: [metadataOf(parts, twapId, request.mode === 'express')],
      autoCancel: request.autoCancel,
      shouldUnwrapNativeToken: false,
    },
    uiFeeReceiver: request.uiFeeReceiver ?? ZERO_ADDRESS,
  }
}

function pathOf(
  world: World,
  request: PrepareRequest,
  from: CatalogToken,
  to: CatalogToken,
  seconds: number,
): readonly Address[] {
  if (hexKey(from.address) === hexKey(to.address)) return []
  if (request.manualSwapPath.length > 0) {
    const path = request.manualSwapPath as readonly Address[]
    const end = swapPathEnd(world, from.address, path)
    if (path.length > MAX_SWAP_PATH || end === undefined || hexKey(end) !== hexKey(to.address)) {
      throw refused(
        'NO_SWAP_PATH',
        `No swap path found from ${from.symbol} to ${to.symbol}: manualSwapPath does not lead there`,
      )
    }
    return path.map((step) => world.marketByKey.get(hexKey(step))?.catalog.marketToken ?? step)
  }
  const path = findSwapPath(world, from.address, to.address, seconds)
  if (path === undefined)
    throw refused('NO_SWAP_PATH', `No swap path found from ${from.symbol} to ${to.symbol}`)
  return path
}

function addressesOf(
  request: PrepareRequest,
  common: Common,
  market: Address,
  initialCollateralToken: Address,
  swapPath: readonly Address[],
): CreateOrderParams['addresses'] {
  return {
    receiver: request.from,
    cancellationReceiver: ZERO_ADDRESS,
    callbackContract: ZERO_ADDRESS,
    uiFeeReceiver: common.uiFeeReceiver,
    market,
    initialCollateralToken,
    swapPath,
  }
}

/** Parts of a twap with their start times, or the one order itself. */
function splitTwap(order: CreateOrderParams, request: PrepareRequest, nowMs: number): CreateOrderParams[] {
  const { twap } = request
  if (twap === undefined) return [order]
  const parts = BigInt(twap.parts)
  const { numbers } = order
  const start = Math.ceil(nowMs / 1000)
  return Array.from({ length: twap.parts }, (_unused, i) => ({
    ...order,
    numbers: {
      ...numbers,
      sizeDeltaUsd: numbers.sizeDeltaUsd / parts,
      initialCollateralDeltaAmount: numbers.initialCollateralDeltaAmount / parts,
      triggerPrice: numbers.acceptablePrice,
      // Part 0 is due at once; its time is in the past of the block that could execute it.
      validFromTime: BigInt(Math.floor(start + (twap.durationSeconds / (twap.parts - 1)) * i)),
    },
  }))
}

function quoteIncrease(world: World, request: PrepareRequest, nowMs: number): Quote {
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
  const capacity = tradingCapacity(settings, market.state, side, prices)
  const capacityFields = capacityJson(capacity)
  const warnings: Quote['warnings'][number][] = []
  const isResting = request.orderType !== 'market'
  const tooLarge = {
    code: 'INSUFFICIENT_LIQUIDITY',
    message: `Requested size exceeds the available liquidity of ${market.catalog.symbol}`,
    details: { ...capacityFields, requestedSizeUsd: request.size.toString() },
  }
  if (request.size > capacity.availableLiquidity) {
    const isUncertain = swapPath.length > 0 && request.size <= capacity.openInterestRoom
    if (isResting) warnings.push(tooLarge)
    else if (!isUncertain) throw refused(tooLarge.code, tooLarge.message, tooLarge.details)
  }
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

  if (swapPath.length > 0) {
    warnings.push({
      code: 'TRADING_CAPACITY_UNAVAILABLE',
      message: 'Trading capacity cannot be checked for sure: the collateral is swapped first',
      details: { reason: 'COLLATERAL_SWAP' },
    })
  }

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
  const fees = positionFees(
    settings,
    draft,
    record?.state ?? newPosition(settings, draft, side, slot),
    collateralPrice,
    {
      sizeDeltaUsd: request.size,
      balanceWasImproved: impact.balanceWasImproved,
    },
  )
  const parts = BigInt(request.twap?.parts ?? 1)
  const heldAmount = record?.state.collateralAmount ?? 0n
  const leftUsd = (heldAmount + (brought.amount - fees.totalCostAmount) / parts) * collateralPrice.min
  if (leftUsd < settings.minCollateralUsd) {
    throw refused(
      'INSUFFICIENT_COLLATERAL',
      `Collateral left after fees would be below the minimum of ${settings.minCollateralUsd} (USD, 30 decimals)`,
    )
  }
  return {
    orders,
    warnings,
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
      tradingCapacity: capacityFields,
    },
  }
}

/** USD form of an acceptable price; "any" is not scaled. */
function scaledPrice(acceptable: { readonly price: bigint; readonly isAny: boolean }, scale: bigint): bigint {
  return acceptable.price === MAX_UINT256 ? MAX_UINT256 : acceptable.price * scale
}

function positionFeeUsdOf(market: WorldMarket, size: bigint, improved: boolean): bigint {
  const { settings } = market
  return fac(
    size,
    improved
      ? settings.positionFeeFactorForBalanceWasImproved
      : settings.positionFeeFactorForBalanceWasNotImproved,
  )
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

/** Swap type of a decrease: none, profit into collateral, or collateral into the profit token. */
function swapTypeOf(
  market: WorldMarket,
  isLong: boolean,
  collateralToken: CatalogToken,
  receiveToken: CatalogToken,
): bigint {
  const profit = hexKey(slotToken(market, isLong ? 0 : 1).address)
  if (profit === hexKey(collateralToken.address)) return 0n
  return profit === hexKey(receiveToken.address) ? 2n : 1n
}

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

function quoteDecrease(world: World, request: PrepareRequest, nowMs: number): Quote {
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

function quoteSwap(world: World, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(world, request, nowMs)
  const pay = request.collateralToPay ?? { amount: 0n, token: '' }
  const named = tokenNamed(world, pay.token)
  const receiveNamed = tokenNamed(world, request.receiveToken ?? '')
  if (named.isNative && request.mode === 'express') {
    throw refused(
      'INVALID_PARAMS',
      `${named.symbol} cannot be paid in express mode; pay ${erc20Of(world, named).symbol} instead`,
    )
  }
  const payToken = erc20Of(world, named)
  const receiveToken = erc20Of(world, receiveNamed)
  if (hexKey(payToken.address) === hexKey(receiveToken.address)) {
    throw refused('INVALID_PARAMS', 'The pay token and the receive token of a swap are the same')
  }
  if (request.orderType === 'twap') {
    throw refused(
      'NO_SWAP_PATH',
      `No swap path found from ${payToken.symbol} to ${receiveToken.symbol} for a twap`,
    )
  }
  const swapPath = pathOf(world, request, payToken, receiveToken, common.seconds)
  const out = swapAlong(world, new Map(), payToken.address, pay.amount, swapPath, common.seconds)
  const order: CreateOrderParams = {
    ...common.base,
    addresses: addressesOf(request, common, ZERO_ADDRESS, payToken.address, swapPath),
    numbers: {
      sizeDeltaUsd: 0n,
      initialCollateralDeltaAmount: pay.amount,
      triggerPrice: request.triggerPrice,
      acceptablePrice: 0n,
      executionFee: common.executionFee,
      callbackGasLimit: 0n,
      minOutputAmount: moveAgainst(out.amount, common.slippageBps, false),
      validFromTime: 0n,
    },
    orderType: BigInt(orderTypeOf('swap', request.orderType)),
    decreasePositionSwapType: 0n,
    isLong: false,
    shouldUnwrapNativeToken: receiveNamed.isNative,
  }
  return {
    orders: [order],
    warnings: [],
    executionFees: common.executionFee,
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: '0',
      swapPriceImpactDeltaUsd: '0',
      executionFeeAmount: common.executionFee.toString(),
      acceptablePrice: '0',
      sizeDeltaUsd: '0',
      positionFeeUsd: '0',
      borrowingFeeUsd: '0',
      fundingFeeUsd: '0',
    },
  }
}
