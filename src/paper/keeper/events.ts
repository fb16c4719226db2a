/** Writes the event emitter's events of orders and positions into the chain (contract `EventEmitter`, `EventLogData`). */
import { defined } from '../../base/defined.ts'
import { type Address, type Hex, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { type ChainTransaction, type EventValue, mine } from '../blocks/blockChain.ts'
import type { EventName } from '../blocks/encodeEventData.ts'
import { actorsOf, executeOrderInput } from '../blocks/keeperCall.ts'
import type { DecreaseResult } from '../math/decreaseTerms.ts'
import type { IncreaseResult } from '../math/increase.ts'
import { fac } from '../math/integer.ts'
import { type MarketPrices, type MarketSettings, type PricePair, slotPrice } from '../math/marketState.ts'
import type { PositionFees } from '../math/positionFees.ts'
import { newPosition, positionPnl } from '../math/positionMath.ts'
import type { PositionState } from '../math/positionState.ts'
import type { SwapStep } from '../pools/swaps.ts'
import { addressWord, type MarketMove, marketLogsOf } from '../state/marketEvents.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { OrderRecord, TradeRow } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

/** The transaction of a hash; the keeper's when nobody has opened it. */
function transactionOf(venueState: VenueState, hash: Hex, orderKey: Hex): ChainTransaction {
  return (
    venueState.blockChain.byHash.get(hash) ??
    mine(venueState.blockChain, {
      hash,
      sender: 'keeper',
      to: actorsOf(venueState.chain).orderHandler,
      input: executeOrderInput(orderKey),
    })
  )
}

function emit(
  transaction: ChainTransaction,
  eventName: EventName,
  topics: readonly Hex[],
  items: Readonly<Record<string, EventValue>>,
): void {
  transaction.logs.push({ eventName, topics, items })
}

function createdItems(order: OrderRecord, params: CreateOrderParams): Record<string, EventValue> {
  const { addresses, numbers } = params
  return {
    ...addresses,
    ...numbers,
    account: order.account,
    orderType: params.orderType,
    decreasePositionSwapType: params.decreasePositionSwapType,
    updatedAtTime: BigInt(order.updatedAtSeconds),
    srcChainId: 0n,
    isLong: params.isLong,
    shouldUnwrapNativeToken: params.shouldUnwrapNativeToken,
    autoCancel: params.autoCancel,
    key: order.key,
    dataList: params.dataList,
  }
}

/** Emits the event of a row of the trade history, into the transaction of `hash`. */
export function emitOrderEvent(
  venueState: VenueState,
  order: OrderRecord,
  eventName: TradeRow['eventName'],
  hash: Hex,
  fields: TradeRow['fields'],
): void {
  const transaction = transactionOf(venueState, hash, order.key)
  const { account, key, params } = order
  const topics = [key, addressWord(account)]
  if (eventName === 'OrderCreated') emit(transaction, eventName, topics, createdItems(order, params))
  else if (eventName === 'OrderUpdated') {
    const { sizeDeltaUsd, acceptablePrice, triggerPrice, minOutputAmount, validFromTime } = params.numbers
    emit(transaction, eventName, topics, {
      key,
      account,
      sizeDeltaUsd,
      acceptablePrice,
      triggerPrice,
      minOutputAmount,
      updatedAtTime: BigInt(order.updatedAtSeconds),
      validFromTime,
      autoCancel: params.autoCancel,
      dataList: params.dataList,
    })
  } else if (eventName === 'OrderExecuted') {
    emit(transaction, eventName, topics, {
      key,
      account,
      secondaryOrderType: BigInt(
        fields.secondaryOrderType === undefined ? 0 : String(fields.secondaryOrderType),
      ),
    })
  } else {
    emit(transaction, eventName, topics, {
      key,
      account,
      reason: String(fields.reason ?? ''),
      reasonBytes: String(fields.reasonBytes ?? '0x'),
    })
  }
}

/** Emits the oracle's prices that an order is executed at, before all else of its transaction (contract `Oracle`). */
export function emitOraclePrices(
  venueState: VenueState,
  order: OrderRecord,
  prices: ReadonlyMap<Address, PricePair>,
  seconds: number,
  hash: Hex,
): void {
  emitPrices(venueState, transactionOf(venueState, hash, order.key), prices, seconds)
}

/** Emits the oracle's prices of a transaction that is open (contract `Oracle`). */
export function emitPrices(
  venueState: VenueState,
  transaction: ChainTransaction,
  prices: ReadonlyMap<Address, PricePair>,
  seconds: number,
): void {
  const { oracleProvider: provider } = actorsOf(venueState.chain)
  for (const [token, { min, max }] of prices) {
    emit(transaction, 'OraclePriceUpdate', [addressWord(token)], {
      token,
      provider,
      minPrice: min,
      maxPrice: max,
      timestamp: BigInt(seconds),
    })
  }
}

/** The tokens of a market at their prices, and those of what was swapped. */
export function pricesOf(
  steps: readonly SwapStep[],
  market?: VenueMarket,
  prices?: MarketPrices,
): ReadonlyMap<Address, PricePair> {
  const found = new Map<Address, PricePair>()
  for (const step of steps)
    found.set(step.tokenIn.address, step.prices.in).set(step.tokenOut.address, step.prices.out)
  if (market !== undefined && prices !== undefined) {
    found.set(market.indexToken.address, prices.index)
    found.set(market.longToken.address, prices.long).set(market.shortToken.address, prices.short)
  }
  return found
}

/** Emits what an order's execution moved in the markets (contract `MarketEventUtils`). */
export function emitMarketMoves(
  venueState: VenueState,
  order: OrderRecord,
  moves: readonly MarketMove[],
  hash: Hex,
): void {
  const transaction = transactionOf(venueState, hash, order.key)
  for (const move of moves) transaction.logs.push(...marketLogsOf(move))
}

/** Emits what the work on an order was paid, and what returned of its execution fee, wei. */
export function emitExecutionFee(
  venueState: VenueState,
  order: OrderRecord,
  hash: Hex,
  fee: {
    readonly paid: bigint
    readonly refund: { readonly receiver: Address; readonly amount: bigint } | undefined
  },
): void {
  const transaction = transactionOf(venueState, hash, order.key)
  const { keeper } = actorsOf(venueState.chain)
  emit(transaction, 'KeeperExecutionFee', [addressWord(keeper)], { keeper, executionFeeAmount: fee.paid })
  if (fee.refund === undefined) return
  const { receiver, amount } = fee.refund
  emit(transaction, 'ExecutionFeeRefund', [addressWord(receiver)], { receiver, refundFeeAmount: amount })
}

/** Fields that all position events share. */
interface PositionChange {
  readonly order: OrderRecord
  readonly market: VenueMarket
  readonly positionKey: Hex
  readonly collateralToken: Address
  readonly prices: MarketPrices
  readonly seconds: number
  readonly hash: Hex
}

function positionItems(change: PositionChange, position: PositionState): Record<string, EventValue> {
  const { order, prices } = change
  const collateralPrice = slotPrice(prices, position.slot)
  return {
    account: order.account,
    market: order.params.addresses.market,
    collateralToken: change.collateralToken,
    sizeInUsd: position.sizeInUsd,
    sizeInTokens: position.sizeInTokens,
    collateralAmount: position.collateralAmount,
    borrowingFactor: position.borrowingFactor,
    fundingFeeAmountPerSize: position.fundingFeeAmountPerSize,
    longTokenClaimableFundingAmountPerSize: position.claimablePerSize[0],
    shortTokenClaimableFundingAmountPerSize: position.claimablePerSize[1],
    'indexTokenPrice.max': prices.index.max,
    'indexTokenPrice.min': prices.index.min,
    'collateralTokenPrice.max': collateralPrice.max,
    'collateralTokenPrice.min': collateralPrice.min,
    orderType: order.params.orderType,
    isLong: order.params.isLong,
    orderKey: order.key,
    positionKey: change.positionKey,
  }
}

/** The fee factor that was charged: the cheaper one when it explains the amount. */
function feeFactorOf(settings: MarketSettings, sizeUsd: bigint, price: bigint, amount: bigint): bigint {
  const improved = settings.positionFeeFactorForBalanceWasImproved
  return fac(sizeUsd, improved) / price === amount
    ? improved
    : settings.positionFeeFactorForBalanceWasNotImproved
}

function emitFees(
  transaction: ChainTransaction,
  name: 'PositionFeesCollected' | 'PositionFeesInfo',
  change: PositionChange,
  position: PositionState,
  fees: PositionFees,
  sizeUsd: bigint,
  isIncrease: boolean,
): void {
  const { order, market, prices } = change
  const { market: marketToken, uiFeeReceiver } = order.params.addresses
  const { feeReceiverFactor } = market.settings
  const collateralPrice = slotPrice(prices, position.slot)
  const borrowingForReceiver = fac(fees.borrowingFeeAmount, feeReceiverFactor)
  const positionForReceiver = fac(fees.positionFeeAmount, feeReceiverFactor)
  const liquidationForReceiver = fac(fees.liquidationFeeAmount, feeReceiverFactor)
  emit(transaction, name, [addressWord(marketToken)], {
    orderKey: order.key,
    positionKey: change.positionKey,
    referralCode: order.params.referralCode,
    market: marketToken,
    collateralToken: change.collateralToken,
    affiliate: ZERO_ADDRESS,
    trader: order.account,
    uiFeeReceiver,
    'collateralTokenPrice.min': collateralPrice.min,
    'collateralTokenPrice.max': collateralPrice.max,
    tradeSizeUsd: sizeUsd,
    fundingFeeAmount: fees.fundingFeeAmount,
    claimableLongTokenAmount: fees.claimableLongTokenAmount,
    claimableShortTokenAmount: fees.claimableShortTokenAmount,
    latestFundingFeeAmountPerSize: position.fundingFeeAmountPerSize,
    latestLongTokenClaimableFundingAmountPerSize: position.claimablePerSize[0],
    latestShortTokenClaimableFundingAmountPerSize: position.claimablePerSize[1],
    borrowingFeeUsd: fees.borrowingFeeUsd,
    borrowingFeeAmount: fees.borrowingFeeAmount,
    borrowingFeeReceiverFactor: feeReceiverFactor,
    borrowingFeeAmountForFeeReceiver: borrowingForReceiver,
    positionFeeFactor: feeFactorOf(market.settings, sizeUsd, collateralPrice.min, fees.positionFeeAmount),
    protocolFeeAmount: fees.positionFeeAmount,
    positionFeeReceiverFactor: feeReceiverFactor,
    feeReceiverAmount: borrowingForReceiver + positionForReceiver + liquidationForReceiver,
    feeAmountForPool: fees.feeAmountForPool,
    positionFeeAmountForPool: fees.positionFeeAmount - positionForReceiver,
    positionFeeAmount: fees.positionFeeAmount,
    totalCostAmount: fees.totalCostAmount,
    uiFeeReceiverFactor: 0n,
    uiFeeAmount: fees.uiFeeAmount,
    isIncrease,
    ...defined({
      liquidationFeeAmount: fees.liquidationFeeAmount === 0n ? undefined : fees.liquidationFeeAmount,
    }),
  })
}

/** Emits what an order's swaps did, pool by pool. */
export function emitSwaps(
  venueState: VenueState,
  order: OrderRecord,
  steps: readonly SwapStep[],
  hash: Hex,
): void {
  if (steps.length === 0) return
  const transaction = transactionOf(venueState, hash, order.key)
  steps.forEach((step, i) => {
    const marketToken = step.market.catalog.marketToken
    emit(transaction, 'SwapInfo', [addressWord(marketToken)], {
      orderKey: order.key,
      market: marketToken,
      // A pool hands on to the next one; the last one pays the receiver.
      receiver: steps[i + 1]?.market.catalog.marketToken ?? order.params.addresses.receiver,
      tokenIn: step.tokenIn.address,
      tokenOut: step.tokenOut.address,
      tokenInPrice: step.prices.in.min,
      tokenOutPrice: step.prices.out.max,
      amountIn: step.amountIn,
      amountInAfterFees: step.amountIn - step.feeAmount,
      amountOut: step.amountOut,
      priceImpactUsd: step.priceImpactUsd,
      priceImpactAmount: step.priceImpactAmount,
      tokenInPriceImpactAmount: step.tokenInPriceImpactAmount,
    })
  })
}

/** Emits fees and the increase of a position, before the order's own event. */
export function emitPositionIncrease(
  venueState: VenueState,
  change: PositionChange,
  result: IncreaseResult,
): void {
  const { order, seconds } = change
  const { position, execution } = result
  const transaction = transactionOf(venueState, change.hash, order.key)
  const { sizeDeltaUsd } = order.params.numbers
  emitFees(transaction, 'PositionFeesCollected', change, position, result.fees, sizeDeltaUsd, true)
  emit(transaction, 'PositionIncrease', [addressWord(order.account)], {
    ...positionItems(change, position),
    executionPrice: execution.executionPrice,
    sizeDeltaUsd: order.params.numbers.sizeDeltaUsd,
    sizeDeltaInTokens: execution.sizeDeltaInTokens,
    increasedAtTime: BigInt(seconds),
    collateralDeltaAmount: result.collateralDeltaAmount,
    pendingPriceImpactUsd: execution.impactUsd,
    pendingPriceImpactAmount: execution.impactAmount,
  })
}

/** Emits what a decrease was cut or grown to, fees, and the decrease of a position, before the order's own event. */
export function emitPositionDecrease(
  venueState: VenueState,
  change: PositionChange,
  before: PositionState,
  result: DecreaseResult,
): void {
  const { order, market, prices, seconds } = change
  const asked = order.params.numbers.sizeDeltaUsd
  const transaction = transactionOf(venueState, change.hash, order.key)
  // A closed position ends with size 0 at the market's values of now.
  const after = result.position ?? newPosition(market.settings, market.state, before.side, before.slot)
  const uncapped = positionPnl(market.settings, market.state, before, prices).uncappedUsd
  if (result.sizeDeltaUsd !== asked) {
    emit(transaction, 'OrderSizeDeltaAutoUpdated', [order.key], {
      key: order.key,
      sizeDeltaUsd: asked,
      nextSizeDeltaUsd: result.sizeDeltaUsd,
    })
  }
  for (const [collateralDeltaAmount, nextCollateralDeltaAmount] of result.withdrawalCuts) {
    emit(transaction, 'OrderCollateralDeltaAmountAutoUpdated', [order.key], {
      key: order.key,
      collateralDeltaAmount,
      nextCollateralDeltaAmount,
    })
  }
  if (result.insolvency !== undefined) {
    const { step, remainingCostUsd, fees } = result.insolvency
    emit(transaction, 'InsolventClose', [], {
      orderKey: order.key,
      positionCollateralAmount: before.collateralAmount,
      remainingCostUsd,
      basePnlUsd: result.basePnlUsd,
      step,
    })
    emitFees(transaction, 'PositionFeesInfo', change, after, fees, result.sizeDeltaUsd, false)
  }
  emitFees(transaction, 'PositionFeesCollected', change, after, result.fees, result.sizeDeltaUsd, false)
  emit(transaction, 'PositionDecrease', [addressWord(order.account)], {
    ...positionItems(change, after),
    executionPrice: result.executionPrice,
    sizeDeltaUsd: result.sizeDeltaUsd,
    sizeDeltaInTokens: result.sizeDeltaInTokens,
    collateralDeltaAmount: before.collateralAmount - after.collateralAmount,
    'values.priceImpactDiffUsd': result.priceImpactDiffUsd,
    decreasedAtTime: BigInt(seconds),
    priceImpactUsd: result.priceImpactUsd,
    basePnlUsd: result.basePnlUsd,
    uncappedBasePnlUsd:
      result.sizeDeltaUsd === 0n ? 0n : (uncapped * result.sizeDeltaInTokens) / before.sizeInTokens,
    proportionalPendingImpactUsd: result.proportionalPendingImpactUsd,
    totalImpactUsd: result.totalImpactUsd,
  })
}
