/** Common parts of all kinds of quotes: names to tokens and markets, routes, addresses, parts of a twap. */
import { type Address, hexKey, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { type Json, refused } from '../http/http.ts'
import type { PrepareRequest, RequestedOrderType } from '../http/prepareShape.ts'
import { type Direction, usesMaxPrice, withSlippage } from '../math/client/acceptablePrice.ts'
import { findSwapPath, MAX_SWAP_PATH, swapPathEnd } from '../pools/swaps.ts'
import { requireEnabled } from '../state/enabled.ts'
import { findMarket, findToken } from '../state/lookup.ts'
import { orderTypes } from '../state/orderTypes.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { sideOf, slotToken, type VenueState } from '../state/venueState.ts'
import type { OrderDetails } from './batchParams.ts'
import { asUint256, metadataOf, referralCodeOf } from './quote.ts'

/** Result of prepare, before it is put into a payload. */
export interface Quote {
  readonly orders: readonly CreateOrderParams[]
  /** Inputs that each order was made from. */
  readonly details: readonly OrderDetails[]
  readonly estimates: Readonly<Record<string, Json>>
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly details: Json }[]
  readonly feeToken: CatalogToken
}

/** On-chain order type of a request. */
export function orderTypeOf(kind: PrepareRequest['kind'], type: RequestedOrderType): number {
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

/** A token by symbol or address. Throws HttpFailure 400 TOKEN_NOT_FOUND. */
export function tokenNamed(venueState: VenueState, name: string): CatalogToken {
  const token = findToken(venueState, name)
  if (token === undefined) throw refused('TOKEN_NOT_FOUND', `Token not found: ${name}`)
  return token
}

/**
 * A market with positions by any of its names.
 *
 * @throws HttpFailure 400 MARKET_NOT_FOUND
 * @throws ProtocolRevert DisabledMarket
 */
export function marketNamed(venueState: VenueState, name: string): VenueMarket {
  const market = findMarket(venueState, name)
  if (market === undefined || market.settings.isSpotOnly) {
    throw refused('MARKET_NOT_FOUND', `Market not found: ${name}`)
  }
  requireEnabled(venueState, [market.catalog.marketToken])
  return market
}

/** The ERC-20 token that stands for one named: the wrapped token for the native coin. */
export function erc20Of(venueState: VenueState, token: CatalogToken): CatalogToken {
  if (!token.isNative) return token
  return venueState.catalog.tokenByAddress.get(hexKey(token.wrappedAddress ?? '')) ?? token
}

/** The token that pays the relay. */
export function feeTokenOf(venueState: VenueState, name: string | undefined): CatalogToken {
  const first = venueState.chain.gasPaymentTokens[0] ?? ZERO_ADDRESS
  const token = tokenNamed(venueState, name ?? first)
  if (!venueState.chain.gasPaymentTokens.some((one) => hexKey(one) === hexKey(token.address))) {
    throw refused('INVALID_PARAMS', `${token.symbol} cannot pay the relay fee`)
  }
  return token
}

/** Fields that all quotes share. */
export interface Common {
  readonly seconds: number
  readonly feeToken: CatalogToken
  readonly slippageBps: bigint
  readonly base: Pick<
    CreateOrderParams,
    'referralCode' | 'dataList' | 'autoCancel' | 'shouldUnwrapNativeToken'
  >
  readonly uiFeeReceiver: Address
}

/** Reads what all quotes share. Throws HttpFailure 400. */
export function commonOf(venueState: VenueState, request: PrepareRequest, nowMs: number): Common {
  const seconds = Math.floor(nowMs / 1000)
  const referralCode = referralCodeOf(request.referralCode ?? (venueState.settings.referralCode || undefined))
  if (referralCode === undefined) {
    throw refused('INVALID_PARAMS', 'referralCode must be bytes32 or at most 20 ASCII characters')
  }
  const parts = request.twap?.parts ?? 0
  const twapId = parts === 0 ? '0000' : (venueState.counters.nonce % 65_536).toString(16).padStart(4, '0')
  return {
    seconds,
    feeToken: feeTokenOf(venueState, request.gasPaymentToken),
    slippageBps: BigInt(request.slippageBps ?? venueState.settings.defaultSlippageBps),
    base: {
      referralCode,
      dataList: [metadataOf(parts, twapId, request.mode === 'express')],
      autoCancel: false,
      shouldUnwrapNativeToken: false,
    },
    uiFeeReceiver: request.uiFeeReceiver ?? ZERO_ADDRESS,
  }
}

/** Swap route of an order: the one asked for when it holds, else the shortest. Throws HttpFailure 400 NO_SWAP_PATH. */
export function pathOf(
  venueState: VenueState,
  request: PrepareRequest,
  from: CatalogToken,
  to: CatalogToken,
  seconds: number,
): readonly Address[] {
  if (hexKey(from.address) === hexKey(to.address)) return []
  if (request.manualSwapPath.length > 0) {
    const path = request.manualSwapPath as readonly Address[]
    const end = swapPathEnd(venueState, from.address, path)
    if (path.length > MAX_SWAP_PATH || end === undefined || hexKey(end) !== hexKey(to.address)) {
      throw refused(
        'NO_SWAP_PATH',
        `No swap path found from ${from.symbol} to ${to.symbol}: manualSwapPath does not connect them`,
      )
    }
    return path.map((step) => venueState.marketByKey.get(hexKey(step))?.catalog.marketToken ?? step)
  }
  const path = findSwapPath(venueState, from.address, to.address, seconds)
  if (path === undefined)
    throw refused('NO_SWAP_PATH', `No swap path found from ${from.symbol} to ${to.symbol}`)
  return path
}

/** Addresses of an order of the request. */
export function addressesOf(
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

/** Numbers of an order on a position; `acceptablePrice` in API form, before slippage. */
export function positionNumbers(
  venueState: VenueState,
  request: PrepareRequest,
  common: Common,
  market: VenueMarket,
  sized: {
    readonly sizeDeltaUsd: bigint
    /** Token units. */
    readonly initialCollateralDeltaAmount: bigint
    readonly acceptablePrice: bigint
    readonly isIncrease: boolean
  },
): CreateOrderParams['numbers'] {
  const { sizeDeltaUsd, initialCollateralDeltaAmount, acceptablePrice, isIncrease } = sized
  const { orderType, triggerPrice } = request
  const scale = 10n ** BigInt(market.indexToken.decimals)
  return {
    sizeDeltaUsd,
    initialCollateralDeltaAmount,
    triggerPrice: triggerPrice / scale,
    acceptablePrice: orderPriceOf(venueState, acceptablePrice, {
      orderType,
      direction: { side: sideOf(request.direction === 'long'), isIncrease },
      slippageBps: common.slippageBps,
      scale,
    }),
    executionFee: 0n,
    callbackGasLimit: 0n,
    minOutputAmount: 0n,
    validFromTime: 0n,
  }
}

/** Returns the details of each of `parts` orders on a position. */
export function positionDetails(
  venueState: VenueState,
  { orderType }: PrepareRequest,
  common: Common,
  made: {
    readonly order: CreateOrderParams
    readonly parts: number
    /** Amounts of all parts together. */
    readonly amounts: Pick<OrderDetails, 'sizeDeltaInTokens' | 'acceptablePrice' | 'collateralDeltaAmount'>
  } & { readonly collateralToken: Address; readonly receiveToken: Address },
): OrderDetails {
  const { order, amounts, collateralToken, receiveToken } = made
  const parts = BigInt(made.parts)
  return {
    sizeDeltaInTokens: amounts.sizeDeltaInTokens / parts,
    acceptablePrice: orderType === 'twap' ? order.numbers.acceptablePrice : amounts.acceptablePrice,
    collateralDeltaAmount: amounts.collateralDeltaAmount / parts,
    minOutput: 0n,
    slippageBps: slippageIn(venueState, orderType, common.slippageBps),
    collateralToken,
    receiveToken,
  }
}

/** Parts of a twap with their start times, or the one order itself. */
export function splitTwap(
  order: CreateOrderParams,
  request: PrepareRequest,
  nowMs: number,
): CreateOrderParams[] {
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

/** Fields of a request that decide the price in an order. */
interface PriceTerms {
  readonly orderType: RequestedOrderType
  readonly direction: Direction
  readonly slippageBps: bigint
  /** 10 to the decimals of the index token. */
  readonly scale: bigint
}

/**
 * Contract price that an order carries, from the client's acceptable price in API form: a market order's with slippage, a
 * limit's and a take-profit's as it is (`slippageOnLimits` puts slippage on top), any price for stops and twap parts.
 */
export function orderPriceOf(venueState: VenueState, acceptablePrice: bigint, terms: PriceTerms): bigint {
  const { orderType, direction, scale } = terms
  if (orderType === 'stop-market' || orderType === 'stop-loss' || orderType === 'twap') {
    return usesMaxPrice(direction) ? MAX_UINT256 : 0n
  }
  const slippageBps = slippageIn(venueState, orderType, terms.slippageBps)
  // An impact beyond the size leaves no price to insist on.
  return asUint256(withSlippage(acceptablePrice, slippageBps, direction) / scale)
}

/** Slippage that goes into an order's price, bps. */
export function slippageIn(
  venueState: VenueState,
  orderType: RequestedOrderType,
  slippageBps: bigint,
): bigint {
  if (orderType === 'market') return slippageBps
  const isLimit = orderType === 'limit' || orderType === 'take-profit'
  return isLimit && venueState.settings.slippageOnLimits ? slippageBps : 0n
}

/** Swap type of a decrease: none, profit into collateral, or collateral into the profit token. */
export function swapTypeOf(
  market: VenueMarket,
  isLong: boolean,
  collateralToken: CatalogToken,
  receiveToken: CatalogToken,
): bigint {
  const profit = hexKey(slotToken(market, isLong ? 0 : 1).address)
  if (profit === hexKey(collateralToken.address)) return 0n
  return profit === hexKey(receiveToken.address) ? 2n : 1n
}
