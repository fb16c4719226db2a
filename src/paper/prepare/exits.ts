/** Take-profit and stop-loss orders that come with an increase, as the venue's client makes them. */
import { hexKey } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import type { PrepareRequest, Sidecar } from '../http/prepareShape.ts'
import { autoCancelOrders } from '../keeper/autoCancel.ts'
import { decreaseAmounts } from '../math/client/decreaseAmounts.ts'
import type { ShownPosition } from '../math/client/positionInfo.ts'
import { type MarketPrices, type MarketState, slotPrice } from '../math/marketState.ts'
import type { PositionState } from '../math/positionState.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { sideOf, slotOf, type VenueState } from '../state/venueState.ts'
import type { OrderDetails } from './batchParams.ts'
import { type Common, orderPriceOf, orderTypeOf, slippageIn, swapTypeOf } from './quoteCommon.ts'

/** Inputs that exits are made from. */
interface ExitTerms {
  readonly common: Common
  /** The increase that they come with. */
  readonly parent: CreateOrderParams
  readonly market: VenueMarket
  readonly collateralToken: CatalogToken
  readonly draft: MarketState
  readonly prices: MarketPrices
  /** The position that the increase adds to. */
  readonly held: PositionState | undefined
  /** Amounts that the increase brings: USD, index token units, collateral token units. */
  readonly opened: {
    readonly sizeDeltaUsd: bigint
    readonly sizeDeltaInTokens: bigint
    readonly collateralAmount: bigint
  }
}

/** An exit's order and what it was made from. */
interface Exit {
  readonly order: CreateOrderParams
  readonly details: OrderDetails
}

/** A request's exits, in its order or, with `exitsReordered`, from the last to the first. */
export function exitsOf(venueState: VenueState, request: PrepareRequest, terms: ExitTerms): Exit[] {
  const most = venueState.chain.maxAutoCancelOrders
  const exits = request.tpsl.map((sidecar) => exitOf(venueState, request, terms, sidecar))
  const waiting = exits[0] === undefined ? 0 : autoCancelOrders(venueState, request.from, exits[0].order)
  const made = exits.map(({ order, details }, i) => ({
    order: { ...order, autoCancel: request.autoCancel && waiting + i < most },
    details,
  }))
  return venueState.settings.exitsReordered ? made.reverse() : made
}

/** The position as it will be once the increase has executed, its costs paid. */
function positionToBe({ held, opened, market, collateralToken, parent }: ExitTerms): ShownPosition {
  return {
    side: sideOf(parent.isLong),
    sizeInUsd: (held?.sizeInUsd ?? 0n) + opened.sizeDeltaUsd,
    sizeInTokens: (held?.sizeInTokens ?? 0n) + opened.sizeDeltaInTokens,
    collateralAmount: (held?.collateralAmount ?? 0n) + opened.collateralAmount,
    pendingImpactAmount: held?.pendingImpactAmount ?? 0n,
    pendingBorrowingFeesUsd: 0n,
    fundingFeeAmount: 0n,
    claimableLongTokenAmount: 0n,
    claimableShortTokenAmount: 0n,
    collateralIsIndexToken: hexKey(collateralToken.address) === hexKey(market.indexToken.address),
  }
}

function exitOf(venueState: VenueState, request: PrepareRequest, terms: ExitTerms, sidecar: Sidecar): Exit {
  const { common, parent, market, collateralToken, draft, prices } = terms
  const { exitShape } = venueState.settings
  const position = positionToBe(terms)
  const indexDecimals = market.indexToken.decimals
  const scale = 10n ** BigInt(indexDecimals)
  const swapType = swapTypeOf(market, parent.isLong, collateralToken, collateralToken)
  const wanted = sidecar.size ?? (exitShape === 'max' ? position.sizeInUsd : request.size)
  const amounts = decreaseAmounts(market.settings, draft, prices, {
    position,
    closeSizeUsd: wanted < position.sizeInUsd ? wanted : position.sizeInUsd,
    keepLeverage: exitShape === 'sdk-keep',
    indexDecimals,
    collateralPrice: slotPrice(prices, slotOf(market, collateralToken.address) ?? 0),
    trigger: {
      type: sidecar.type === 'take-profit' ? 'LimitDecrease' : 'StopLossDecrease',
      price: sidecar.triggerPrice,
      setAcceptablePrice: true,
      fixedImpactBps: request.acceptablePriceImpactBps,
    },
    uiFeeFactor: 0n,
    swapsProfit: swapType === 1n,
  })
  const isAnySize = exitShape === 'max' && amounts.isFullClose
  const collateralDeltaAmount = exitShape === 'zero' ? 0n : amounts.collateralDeltaAmount
  const order: CreateOrderParams = {
    ...parent,
    addresses: { ...parent.addresses, initialCollateralToken: collateralToken.address, swapPath: [] },
    numbers: {
      ...parent.numbers,
      sizeDeltaUsd: isAnySize ? MAX_UINT256 : amounts.sizeDeltaUsd,
      initialCollateralDeltaAmount: collateralDeltaAmount,
      triggerPrice: sidecar.triggerPrice / scale,
      acceptablePrice: orderPriceOf(venueState, amounts.acceptablePrice, {
        orderType: sidecar.type,
        direction: { side: position.side, isIncrease: false },
        slippageBps: common.slippageBps,
        scale,
      }),
    },
    orderType: BigInt(orderTypeOf('decrease', sidecar.type)),
    decreasePositionSwapType: swapType,
  }
  return {
    order,
    details: {
      sizeDeltaInTokens: amounts.sizeDeltaInTokens,
      acceptablePrice: amounts.acceptablePrice,
      collateralDeltaAmount,
      minOutput: 0n,
      slippageBps: slippageIn(venueState, sidecar.type, common.slippageBps),
      collateralToken: collateralToken.address,
      receiveToken: collateralToken.address,
    },
  }
}
