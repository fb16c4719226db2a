/** Position and order rows of the application API (docs/reference/api-coverage.md GET /positions and GET /orders). */
import type { Address } from '../../protocol/address.ts'
import type { Json } from '../http/http.ts'
import { maxAllowedLeverage } from '../math/client/clientPosition.ts'
import { positionInfo } from '../math/client/positionInfo.ts'
import { accrue } from '../math/increase.ts'
import { cloneMarket, type MarketPrices, type MarketState, slotPrice } from '../math/marketState.ts'
import type { PositionState } from '../math/positionState.ts'
import { fallbackPositionValue, simulatedPositionValue } from '../math/positionValue.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { indexNameOf, poolNameOf } from '../state/lookup.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'
import { shownPositionOf } from './shownPosition.ts'

/** The row key, `account:market:collateralToken:isLong`. */
export function positionKeyText(record: PositionRecord, market: VenueMarket): string {
  return `${record.account}:${market.catalog.marketToken}:${record.collateralToken.address}:${record.state.side === 'long'}`
}

/** Highest leverage allowed, bps (the client's `getMaxAllowedLeverage`). */
function maxAllowedLeverageBps(market: VenueMarket): bigint {
  const { settings } = market
  return maxAllowedLeverage(
    settings.minCollateralFactor,
    settings.minCollateralFactorForLiquidation,
    settings.positionFeeFactorForBalanceWasNotImproved,
  )
}

/** A position as `/positions` shows it, at the prices and accrual of the moment. */
export function positionRow(
  venueState: VenueState,
  record: PositionRecord,
  nowMs: number,
): Record<string, Json> {
  const market = venueState.marketByKey.get(record.marketKey)
  if (market === undefined) throw new RangeError(`position in unknown market ${record.marketKey}`)
  const seconds = Math.floor(nowMs / 1000)
  const { settings } = market
  const position = record.state
  const prices = marketPrices(venueState, market, seconds)
  const draft = cloneMarket(market.state)
  accrue(settings, draft, prices, seconds)
  const isLong = position.side === 'long'
  const size = position.sizeInUsd
  const { shown: pending, positionFeeAmount } = shownPositionOf(record, market, draft, prices)
  const info = positionInfo(settings, draft, prices, pending, {
    collateralPrice: slotPrice(prices, position.slot),
    indexDecimals: market.indexToken.decimals,
    showPnlInLeverage: true,
  })
  const row: Record<string, Json | undefined> = {
    key: positionKeyText(record, market),
    contractKey: record.contractKey,
    account: record.account,
    marketAddress: market.catalog.marketToken,
    collateralTokenAddress: record.collateralToken.address,
    isLong,
    isOpening: false,
    sizeInUsd: size.toString(),
    sizeInTokens: position.sizeInTokens.toString(),
    collateralAmount: position.collateralAmount.toString(),
    pendingBorrowingFeesUsd: pending.pendingBorrowingFeesUsd.toString(),
    increasedAtTime: String(position.increasedAtSeconds),
    decreasedAtTime: String(position.decreasedAtSeconds),
    fundingFeeAmount: pending.fundingFeeAmount.toString(),
    claimableLongTokenAmount: pending.claimableLongTokenAmount.toString(),
    claimableShortTokenAmount: pending.claimableShortTokenAmount.toString(),
    positionFeeAmount: positionFeeAmount.toString(),
    traderDiscountAmount: '0',
    uiFeeAmount: '0',
    pendingImpactAmount: position.pendingImpactAmount.toString(),
    positionValueInUsd: closeValueOf(settings, draft, position, prices).toString(),
    data: '',
    indexName: indexNameOf(market),
    poolName: poolNameOf(market),
    // The wire's own spelling is among the names.
    ...Object.fromEntries(
      Object.entries(info).map(([name, value]) => [
        name,
        typeof value === 'bigint' ? value.toString() : value,
      ]),
    ),
    hasLowCollateral: (info.leverage ?? 0n) > maxAllowedLeverageBps(market),
  }
  const shown: Record<string, Json> = {}
  for (const [name, value] of Object.entries(row)) if (value !== undefined) shown[name] = value
  return shown
}

/**
 * Returns the payout of a full close of a position at a Unix second, USD, after every fee and impact. It includes the funding that the position may
 * claim.
 */
export function positionWorthUsd(venueState: VenueState, record: PositionRecord, seconds: number): bigint {
  const market = venueState.marketByKey.get(record.marketKey)
  if (market === undefined) throw new RangeError(`position in unknown market ${record.marketKey}`)
  const prices = marketPrices(venueState, market, seconds)
  const draft = cloneMarket(market.state)
  accrue(market.settings, draft, prices, seconds)
  return closeValueOf(market.settings, draft, record.state, prices)
}

/** Returns the payout of a full close, or the documented fallback when the simulation fails (docs/reference/api-coverage.md A5). */
function closeValueOf(
  settings: VenueMarket['settings'],
  state: MarketState,
  position: PositionState,
  prices: MarketPrices,
): bigint {
  try {
    return simulatedPositionValue(settings, state, position, prices).valueUsd
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    return fallbackPositionValue(settings, state, position, prices)
  }
}

/** An order as `/orders` shows it; prices stay contract prices. */
export function orderRow(order: OrderRecord): Record<string, Json> {
  const { addresses, numbers } = order.params
  return {
    key: order.key,
    account: order.account,
    receiver: addresses.receiver,
    cancellationReceiver: addresses.cancellationReceiver,
    callbackContract: addresses.callbackContract,
    uiFeeReceiver: addresses.uiFeeReceiver,
    marketAddress: addresses.market,
    initialCollateralTokenAddress: addresses.initialCollateralToken,
    swapPath: addresses.swapPath,
    orderType: Number(order.params.orderType),
    decreasePositionSwapType: Number(order.params.decreasePositionSwapType),
    sizeDeltaUsd: numbers.sizeDeltaUsd.toString(),
    initialCollateralDeltaAmount: numbers.initialCollateralDeltaAmount.toString(),
    triggerPrice: numbers.triggerPrice.toString(),
    acceptablePrice: numbers.acceptablePrice.toString(),
    executionFee: numbers.executionFee.toString(),
    callbackGasLimit: numbers.callbackGasLimit.toString(),
    minOutputAmount: numbers.minOutputAmount.toString(),
    updatedAtTime: String(order.updatedAtSeconds),
    validFromTime: numbers.validFromTime.toString(),
    srcChainId: '0',
    isLong: order.params.isLong,
    shouldUnwrapNativeToken: order.params.shouldUnwrapNativeToken,
    isFrozen: order.isFrozen,
    autoCancel: order.params.autoCancel,
    dataList: order.params.dataList,
    requestId: order.requestId,
  }
}

/** Open orders of an account, oldest first. */
export function ordersOfAccount(venueState: VenueState, address: Address): OrderRecord[] {
  const key = address.toLowerCase()
  return [...venueState.orders.values()].filter((order) => order.account.toLowerCase() === key)
}
