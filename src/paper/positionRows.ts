/** Position and order rows of the application API (wire: application-api-reads, sections 4 and 10). */
import type { Address } from '../domain/address.ts'
import type { Json } from './http.ts'
import { indexNameOf, poolNameOf } from './lookup.ts'
import { scaleOf } from './marketRows.ts'
import { positionFees } from './model/fees.ts'
import { capImpactByMaxFactor, pendingImpactOf, positionPriceImpact, settledImpact } from './model/impact.ts'
import { accrue } from './model/increase.ts'
import { fac, max, min } from './model/integer.ts'
import { cloneMarket, slotPrice } from './model/market.ts'
import { positionPnl } from './model/position.ts'
import type { WorldMarket } from './seedMarkets.ts'
import { marketPrices, type OrderRecord, type PositionRecord, type World } from './world.ts'

/** The row key, `account:market:collateralToken:isLong`. */
export function positionKeyText(record: PositionRecord, market: WorldMarket): string {
  return `${record.account}:${market.catalog.marketToken}:${record.collateralToken.address}:${record.state.side === 'long'}`
}

/** Highest leverage allowed, bps (math: market-model, section 15). */
export function maxAllowedLeverageBps(market: WorldMarket): bigint {
  const { minCollateralFactor, minCollateralFactorForLiquidation } = market.settings
  const fee = market.settings.positionFeeFactorForBalanceWasNotImproved
  if (minCollateralFactor === 0n || minCollateralFactorForLiquidation === 0n) return 1_000_000n
  const best = min(
    10n ** 34n / (minCollateralFactor + 2n * fee),
    10n ** 34n / (2n * minCollateralFactorForLiquidation),
  )
  return (best / 50_000n) * 50_000n
}

/** A position as `/positions` shows it, at the prices and accrual of the moment. */
export function positionRow(world: World, record: PositionRecord, nowMs: number): Record<string, Json> {
  const market = world.marketByKey.get(record.marketKey)
  if (market === undefined) throw new RangeError(`position in unknown market ${record.marketKey}`)
  const seconds = Math.floor(nowMs / 1000)
  const { settings } = market
  const position = record.state
  const prices = marketPrices(world, market, seconds)
  const draft = cloneMarket(market.state)
  accrue(settings, draft, prices, seconds)
  const isLong = position.side === 'long'
  const indexScale = scaleOf(market.indexToken)
  const collateralPrice = slotPrice(prices, position.slot)
  const size = position.sizeInUsd

  const close = positionPriceImpact(settings, draft, position.side, -size, -position.sizeInTokens, prices)
  const closeImpactUsd = capImpactByMaxFactor(settings, close.impactUsd, size)
  const pendingImpact = pendingImpactOf(position, size, prices)
  const settled = settledImpact(settings, draft, prices, size, closeImpactUsd + pendingImpact.usd)
  const fees = positionFees(settings, draft, position, collateralPrice, {
    sizeDeltaUsd: size,
    balanceWasImproved: close.balanceWasImproved,
  })
  const pnl = positionPnl(settings, draft, position, prices)
  const collateralUsd = position.collateralAmount * collateralPrice.min
  const fundingFeesUsd = fees.fundingFeeAmount * collateralPrice.min
  const pendingFeesUsd = fees.borrowingFeeUsd + fundingFeesUsd
  const closingFeeUsd = fac(
    size,
    close.balanceWasImproved
      ? settings.positionFeeFactorForBalanceWasImproved
      : settings.positionFeeFactorForBalanceWasNotImproved,
  )
  const claimableUsd =
    fees.claimableLongTokenAmount * prices.long.min + fees.claimableShortTokenAmount * prices.short.min
  const remainingUsd = collateralUsd - pendingFeesUsd
  const netPriceImpactUsd = settled.totalImpactUsd - settled.priceImpactDiffUsd
  const pnlAfterFees = pnl.usd - pendingFeesUsd
  const pnlAfterAllFees = pnlAfterFees + netPriceImpactUsd - closingFeeUsd
  const netValue = collateralUsd + pnlAfterFees
  const percentOfCollateral = (value: bigint): string =>
    (collateralUsd === 0n ? 0n : (value * 10_000n) / collateralUsd).toString()
  const leverageOver = (value: bigint): string | undefined =>
    value <= 0n ? undefined : ((size * 10_000n) / value).toString()
  const leverage = leverageOver(netValue)
  const leverageWithoutPnl = leverageOver(remainingUsd)
  // The reader simulates a full close; when the impact alone exceeds the size it cannot (application document, "Position value").
  const impactExceedsSize = -close.impactUsd > size
  const heldUsd = collateralUsd + claimableUsd
  const positionValueInUsd = impactExceedsSize
    ? heldUsd -
      (fees.totalCostAmount - fees.positionFeeAmount) * collateralPrice.max +
      pnl.uncappedUsd -
      fac(size, settings.maxPositionImpactFactorNegative)
    : heldUsd + pnl.usd + settled.totalImpactUsd - fees.totalCostAmount * collateralPrice.max
  const liquidation = liquidationPrice(
    market,
    record,
    collateralUsd,
    closeImpactUsd + pendingImpact.usd,
    pendingFeesUsd,
  )
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
    pendingBorrowingFeesUsd: fees.borrowingFeeUsd.toString(),
    increasedAtTime: String(position.increasedAtSeconds),
    decreasedAtTime: String(position.decreasedAtSeconds),
    fundingFeeAmount: fees.fundingFeeAmount.toString(),
    claimableLongTokenAmount: fees.claimableLongTokenAmount.toString(),
    claimableShortTokenAmount: fees.claimableShortTokenAmount.toString(),
    positionFeeAmount: fees.positionFeeAmount.toString(),
    traderDiscountAmount: '0',
    uiFeeAmount: '0',
    pendingImpactAmount: position.pendingImpactAmount.toString(),
    positionValueInUsd: positionValueInUsd.toString(),
    data: '',
    indexName: indexNameOf(market),
    poolName: poolNameOf(market),
    markPrice: ((isLong ? prices.index.min : prices.index.max) * indexScale).toString(),
    entryPrice:
      position.sizeInTokens === 0n ? undefined : ((size * indexScale) / position.sizeInTokens).toString(),
    liquidationPrice: liquidation?.toString(),
    collateralUsd: collateralUsd.toString(),
    remainingCollateralUsd: remainingUsd.toString(),
    remainingCollateralAmount: (remainingUsd / collateralPrice.min).toString(),
    hasLowCollateral: leverage === undefined ? true : BigInt(leverage) > maxAllowedLeverageBps(market),
    pnl: pnl.usd.toString(),
    pnlPercentage: percentOfCollateral(pnl.usd),
    pnlAfterFees: pnlAfterFees.toString(),
    pnlAfterFeesPercentage: percentOfCollateral(pnlAfterFees),
    pnlAfterAllFees: pnlAfterAllFees.toString(),
    pnlAfterAllFeesPercentage: percentOfCollateral(pnlAfterAllFees),
    netValue: netValue.toString(),
    netValueAfterAllFees: (collateralUsd + pnlAfterAllFees).toString(),
    netPriceImapctDeltaUsd: netPriceImpactUsd.toString(),
    priceImpactDiffUsd: settled.priceImpactDiffUsd.toString(),
    pendingImpactUsd: pendingImpact.usd.toString(),
    closePriceImpactDeltaUsd: closeImpactUsd.toString(),
    leverage,
    leverageWithPnl: leverage,
    leverageWithoutPnl,
    closingFeeUsd: closingFeeUsd.toString(),
    uiFeeUsd: '0',
    pendingFundingFeesUsd: fundingFeesUsd.toString(),
    pendingClaimableFundingFeesUsd: claimableUsd.toString(),
  }
  const shown: Record<string, Json> = {}
  for (const [name, value] of Object.entries(row)) if (value !== undefined) shown[name] = value
  return shown
}

/** Estimated liquidation price, USD per whole token; undefined when there is none (math: market-model, section 14). */
function liquidationPrice(
  market: WorldMarket,
  record: PositionRecord,
  collateralUsd: bigint,
  impactNowUsd: bigint,
  pendingFeesUsd: bigint,
): bigint | undefined {
  const { settings } = market
  const { sizeInUsd: size, sizeInTokens: tokens, side } = record.state
  if (size === 0n || tokens === 0n) return undefined
  const impact =
    impactNowUsd >= 0n ? 0n : max(impactNowUsd, -fac(size, settings.maxPositionImpactFactorForLiquidations))
  const fees = pendingFeesUsd + fac(size, settings.positionFeeFactorForBalanceWasNotImproved)
  const required = max(fac(size, settings.minCollateralFactorForLiquidation), settings.minCollateralUsd)
  const isLong = side === 'long'
  const collateralIsIndex =
    record.collateralToken.address.toLowerCase() === market.indexToken.address.toLowerCase()
  let price: bigint
  if (collateralIsIndex) {
    const divisor = isLong ? tokens + record.state.collateralAmount : tokens - record.state.collateralAmount
    if (divisor === 0n) return undefined
    price = isLong ? (size + required - impact + fees) / divisor : (size - required + impact - fees) / divisor
  } else {
    const remaining = collateralUsd + impact - fees
    price = isLong ? (required - remaining + size) / tokens : (required - remaining - size) / -tokens
  }
  const scaled = price * scaleOf(market.indexToken)
  return scaled > 0n ? scaled : undefined
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
export function ordersOfAccount(world: World, address: Address): OrderRecord[] {
  const key = address.toLowerCase()
  return [...world.orders.values()].filter((order) => order.account.toLowerCase() === key)
}
