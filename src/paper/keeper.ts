/**
 * The keeper: executes orders at the oracle price of the moment, cancels or freezes what fails, and liquidates.
 * An order that fails leaves markets, positions and money exactly as they were.
 */

import { positionKeyOf } from '../chains/relayRouter.ts'
import { type Address, type Hex, hexKey } from '../domain/address.ts'
import { revertBytes } from './customErrors.ts'
import { requireEnabled } from './enabled.ts'
import { emitPositionDecrease, emitPositionIncrease } from './events.ts'
import { givenError } from './givenError.ts'
import { shiftForIncrease } from './jit.ts'
import { noteSwaps } from './ledger.ts'
import { type DecreaseResult, decreasePosition } from './model/decrease.ts'
import { accrue, increasePosition } from './model/increase.ts'
import { cloneMarket, type MarketState, slotPrice } from './model/market.ts'
import { checkLiquidation } from './model/position.ts'
import { ProtocolRevert } from './model/revert.ts'
import { bringsCollateral, isMarketOrder, orderTypes } from './orderTypes.ts'
import type { WorldMarket } from './seedMarkets.ts'
import { swapAlong } from './swaps.ts'
import { recordTrade } from './trades.ts'
import {
  type Account,
  accountOf,
  addTo,
  marketPrices,
  nextTransactionHash,
  type OrderRecord,
  type PositionRecord,
  sideOf,
  slotOf,
  slotToken,
  storePosition,
  type World,
} from './world.ts'

/** Errors that cancel an order of any type instead of freezing it. */
const alwaysCancelled = new Set([
  'InvalidPositionMarket',
  'InvalidCollateralTokenForMarket',
  'InvalidPositionSizeValues',
])

/** Executes an order now, or cancels or freezes it. Nothing happens when it is gone, or cannot be looked at yet. */
export function executeOrder(world: World, orderKey: string, nowMs: number): void {
  const order = world.orders.get(hexKey(orderKey))
  if (order === undefined) return
  const seconds = Math.floor(nowMs / 1000)
  const type = Number(order.params.orderType)
  try {
    if (world.dataFaults.keeperFails !== '') throw givenError(world.dataFaults.keeperFails)
    const execute =
      type === orderTypes.marketSwap || type === orderTypes.limitSwap
        ? executeSwap
        : bringsCollateral(type)
          ? executeIncrease
          : executeDecrease
    endOrder(world, order, 'executed', execute(world, order, seconds), nowMs)
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    if (error.errorName === 'EmptyPosition' && !isMarketOrder(type)) return
    // The keeper leaves a limit swap alone until the pool gives what it asks for.
    if (type === orderTypes.limitSwap && error.errorName === 'InsufficientSwapOutputAmount') return
    if (isMarketOrder(type) || alwaysCancelled.has(error.errorName)) {
      cancelOrder(world, order, error, nowMs)
    } else {
      freezeOrder(world, order, error, nowMs)
    }
  }
}

/**
 * Cancels an order and returns its collateral; the reason is a custom error or a word of the protocol. `hash` is the
 * transaction it happens in; absent: one of the keeper's own.
 */
export function cancelOrder(
  world: World,
  order: OrderRecord,
  reason: ProtocolRevert | string,
  nowMs: number,
  hash: Hex = nextTransactionHash(world),
): void {
  const type = Number(order.params.orderType)
  const { initialCollateralToken } = order.params.addresses
  const amount = order.params.numbers.initialCollateralDeltaAmount
  if (bringsCollateral(type) && amount > 0n) {
    addTo(accountOf(world, order.account).balances, initialCollateralToken, amount)
  }
  endOrder(world, order, 'cancelled', hash, nowMs, typeof reason === 'string' ? reason : reason.message)
  recordTrade(world, order, 'OrderCancelled', Math.floor(nowMs / 1000), hash, {
    reason: typeof reason === 'string' ? reason : '',
    reasonBytes: typeof reason === 'string' ? '0x' : revertBytes(reason),
  })
}

function freezeOrder(world: World, order: OrderRecord, revert: ProtocolRevert, nowMs: number): void {
  if (order.isFrozen) return
  order.isFrozen = true
  recordTrade(world, order, 'OrderFrozen', Math.floor(nowMs / 1000), nextTransactionHash(world), {
    reason: '',
    reasonBytes: revertBytes(revert),
  })
}

/** Takes an order out of the store with its outcome. */
function endOrder(
  world: World,
  order: OrderRecord,
  status: 'executed' | 'cancelled',
  executionTxnHash: Hex,
  nowMs: number,
  reason?: string,
): void {
  world.orders.delete(hexKey(order.key))
  world.outcomes.set(hexKey(order.key), {
    status,
    executionTxnHash,
    updatedAtMs: nowMs,
    ...(reason === undefined ? {} : { reason }),
  })
}

/** Replaces the states of the markets that an execution worked on. */
function commit(world: World, drafts: ReadonlyMap<string, MarketState>): void {
  for (const [key, draft] of drafts) {
    const market = world.marketByKey.get(key)
    if (market !== undefined) market.state = draft
  }
}

function positionMarketOf(world: World, order: OrderRecord): WorldMarket {
  const market = world.marketByKey.get(hexKey(order.params.addresses.market))
  if (market === undefined || market.settings.isSpotOnly) {
    throw new ProtocolRevert('InvalidPositionMarket', [order.params.addresses.market])
  }
  requireEnabled(world, [market.catalog.marketToken])
  return market
}

function executeSwap(world: World, order: OrderRecord, seconds: number): Hex {
  const { addresses, numbers } = order.params
  const drafts = new Map<string, MarketState>()
  const result = swapAlong(
    world,
    drafts,
    addresses.initialCollateralToken,
    numbers.initialCollateralDeltaAmount,
    addresses.swapPath,
    seconds,
  )
  if (result.amount < numbers.minOutputAmount) {
    throw new ProtocolRevert('InsufficientSwapOutputAmount', [result.amount, numbers.minOutputAmount])
  }
  commit(world, drafts)
  noteSwaps(world, order.account, result.steps)
  payOut(world, order, result.token, result.amount)
  const hash = nextTransactionHash(world)
  recordTrade(world, order, 'OrderExecuted', seconds, hash, {
    executionAmountOut: result.amount,
    swapFeeUsd: result.feeUsd,
    swapImpactUsd: 0n,
  })
  return hash
}

function executeIncrease(world: World, order: OrderRecord, seconds: number): Hex {
  const { addresses, numbers, isLong } = order.params
  const market = positionMarketOf(world, order)
  const drafts = new Map<string, MarketState>()
  const brought = swapAlong(
    world,
    drafts,
    addresses.initialCollateralToken,
    numbers.initialCollateralDeltaAmount,
    addresses.swapPath,
    seconds,
  )
  const slot = slotOf(market, brought.token)
  if (slot === undefined) {
    throw new ProtocolRevert('InvalidCollateralTokenForMarket', [addresses.market, brought.token])
  }
  const collateralToken = slotToken(market, slot)
  const draft = drafts.get(market.key) ?? cloneMarket(market.state)
  drafts.set(market.key, draft)
  const prices = marketPrices(world, market, seconds)
  shiftForIncrease(world, drafts, market, sideOf(isLong), numbers.sizeDeltaUsd, prices, seconds)
  const contractKey = positionKeyOf(order.account, addresses.market, collateralToken.address, isLong)
  const record: PositionRecord | undefined = world.positions.get(contractKey)
  const result = increasePosition(
    market.settings,
    draft,
    record?.state,
    {
      side: sideOf(isLong),
      slot,
      sizeDeltaUsd: numbers.sizeDeltaUsd,
      collateralAmount: brought.amount,
      acceptablePrice: numbers.acceptablePrice,
    },
    prices,
    seconds,
  )
  commit(world, drafts)
  noteSwaps(world, order.account, brought.steps)
  storePosition(
    world,
    record ?? {
      contractKey,
      account: order.account,
      marketKey: market.key,
      collateralToken,
      state: result.position,
    },
    result.position,
  )
  creditFunding(world, market, order.account, result.fees)
  const collateralPrice = slotPrice(prices, slot)
  const hash = nextTransactionHash(world)
  emitPositionIncrease(
    world,
    {
      order,
      market,
      positionKey: contractKey,
      collateralToken: collateralToken.address,
      prices,
      seconds,
      hash,
    },
    result,
  )
  recordTrade(world, order, 'OrderExecuted', seconds, hash, {
    collateralTokenAddress: collateralToken.address,
    sizeDeltaInTokens: result.execution.sizeDeltaInTokens,
    executionPrice: result.execution.executionPrice,
    indexTokenPriceMin: prices.index.min,
    indexTokenPriceMax: prices.index.max,
    collateralTokenPriceMin: collateralPrice.min,
    collateralTokenPriceMax: collateralPrice.max,
    priceImpactUsd: result.execution.impactUsd,
    positionFeeAmount: result.fees.positionFeeAmount,
    borrowingFeeAmount: result.fees.borrowingFeeAmount,
    fundingFeeAmount: result.fees.fundingFeeAmount,
    traderDiscountAmount: 0n,
    collateralTotalCostAmount: result.fees.totalCostAmount,
    swapFeeUsd: brought.feeUsd,
    swapImpactUsd: 0n,
  })
  return hash
}

function executeDecrease(world: World, order: OrderRecord, seconds: number): Hex {
  const { addresses, numbers, isLong } = order.params
  const market = positionMarketOf(world, order)
  const contractKey = positionKeyOf(order.account, addresses.market, addresses.initialCollateralToken, isLong)
  const record = world.positions.get(contractKey)
  if (record === undefined) throw new ProtocolRevert('EmptyPosition')
  const type = Number(order.params.orderType)
  const swapType = Number(order.params.decreasePositionSwapType)
  const drafts = new Map<string, MarketState>([[market.key, cloneMarket(market.state)]])
  const draft = drafts.get(market.key) ?? cloneMarket(market.state)
  const prices = marketPrices(world, market, seconds)
  const result = decreasePosition(
    market.settings,
    draft,
    record.state,
    {
      sizeDeltaUsd: numbers.sizeDeltaUsd,
      collateralAmount: numbers.initialCollateralDeltaAmount,
      acceptablePrice: numbers.acceptablePrice,
      kind: type === orderTypes.liquidation ? 'liquidation' : isMarketOrder(type) ? 'market' : 'trigger',
      swapProfitToCollateral: swapType === 1,
    },
    prices,
    seconds,
  )
  const profitToken = isLong ? market.longToken : market.shortToken
  const profitIsCollateral = hexKey(profitToken.address) === hexKey(record.collateralToken.address)
  const swapsToProfitToken = swapType === 2 && !profitIsCollateral
  const output = swapAlong(
    world,
    drafts,
    addresses.initialCollateralToken,
    result.outputAmount,
    swapsToProfitToken ? [addresses.market, ...addresses.swapPath] : addresses.swapPath,
    seconds,
  )
  commit(world, drafts)
  noteSwaps(world, order.account, output.steps)
  const before = record.state
  storePosition(world, record, result.position)
  creditFunding(world, market, order.account, result.fees)
  const account = accountOf(world, order.account)
  for (const slot of [0, 1] as const) {
    const amount = result.claimableCollateral[slot]
    if (amount > 0n) addTo(account.claimableCollateral, slotToken(market, slot).address, amount)
  }
  if (result.secondaryOutputAmount > 0n)
    payOut(world, order, profitToken.address, result.secondaryOutputAmount)
  payOut(world, order, output.token, output.amount)
  const hash = nextTransactionHash(world)
  emitPositionDecrease(
    world,
    {
      order,
      market,
      positionKey: contractKey,
      collateralToken: record.collateralToken.address,
      prices,
      seconds,
      hash,
    },
    before,
    result,
  )
  recordDecrease(world, order, record, prices, result, output.amount, output.feeUsd, seconds, hash)
  if (result.position === undefined) cancelAutoCancelOrders(world, record, seconds * 1000, hash)
  return hash
}

function recordDecrease(
  world: World,
  order: OrderRecord,
  record: PositionRecord,
  prices: ReturnType<typeof marketPrices>,
  result: DecreaseResult,
  amountOut: bigint,
  swapFeeUsd: bigint,
  seconds: number,
  hash: Hex,
): void {
  const collateralPrice = slotPrice(prices, record.state.slot)
  recordTrade(world, order, 'OrderExecuted', seconds, hash, {
    collateralTokenAddress: record.collateralToken.address,
    sizeDeltaUsd: result.sizeDeltaUsd,
    sizeDeltaInTokens: result.sizeDeltaInTokens,
    executionPrice: result.executionPrice,
    indexTokenPriceMin: prices.index.min,
    indexTokenPriceMax: prices.index.max,
    collateralTokenPriceMin: collateralPrice.min,
    collateralTokenPriceMax: collateralPrice.max,
    executionAmountOut: amountOut,
    pnlUsd: pnlAfterCosts(result, collateralPrice.min),
    basePnlUsd: result.basePnlUsd,
    priceImpactUsd: result.priceImpactUsd,
    priceImpactDiffUsd: result.priceImpactDiffUsd,
    totalImpactUsd: result.totalImpactUsd,
    proportionalPendingImpactUsd: result.proportionalPendingImpactUsd,
    positionFeeAmount: result.fees.positionFeeAmount,
    borrowingFeeAmount: result.fees.borrowingFeeAmount,
    fundingFeeAmount: result.fees.fundingFeeAmount,
    liquidationFeeAmount: result.fees.liquidationFeeAmount,
    traderDiscountAmount: 0n,
    collateralTotalCostAmount: result.fees.totalCostAmount,
    swapFeeUsd,
    swapImpactUsd: 0n,
  })
}

/** PnL of a decrease after impact and fees, USD. */
function pnlAfterCosts(result: DecreaseResult, collateralPriceMin: bigint): bigint {
  return (
    result.basePnlUsd +
    result.totalImpactUsd -
    result.priceImpactDiffUsd -
    result.fees.totalCostAmount * collateralPriceMin
  )
}

function creditFunding(
  world: World,
  market: WorldMarket,
  address: Address,
  fees: { readonly claimableLongTokenAmount: bigint; readonly claimableShortTokenAmount: bigint },
): void {
  const { claimableFunding } = accountOf(world, address)
  addTo(claimableFunding, market.longToken.address, fees.claimableLongTokenAmount)
  addTo(claimableFunding, market.shortToken.address, fees.claimableShortTokenAmount)
}

/** Pays the receiver; wrapped native is unwrapped when the order says so. */
function payOut(world: World, order: OrderRecord, token: Address, amount: bigint): void {
  if (amount === 0n) return
  const receiver: Account = accountOf(world, order.params.addresses.receiver)
  const isWrappedNative = hexKey(token) === hexKey(world.chain.contracts.wrappedNative)
  const native = world.catalog.catalog.tokens.find((one) => one.isNative)
  const paid = isWrappedNative && order.params.shouldUnwrapNativeToken && native ? native.address : token
  addTo(receiver.balances, paid, amount)
}

/** Cancels the auto-cancel orders of a position that closed. */
function cancelAutoCancelOrders(world: World, record: PositionRecord, nowMs: number, hash: Hex): void {
  for (const order of [...world.orders.values()]) {
    const { addresses, isLong, autoCancel, orderType } = order.params
    if (!autoCancel || bringsCollateral(Number(orderType))) continue
    const key = positionKeyOf(order.account, addresses.market, addresses.initialCollateralToken, isLong)
    if (key === record.contractKey) cancelOrder(world, order, 'AUTO_CANCEL', nowMs, hash)
  }
}

/** Whether a position may be liquidated at a moment, with accrual up to then. */
export function isLiquidatableAt(world: World, record: PositionRecord, seconds: number): boolean {
  const market = world.marketByKey.get(record.marketKey)
  if (market === undefined) return false
  const prices = marketPrices(world, market, seconds)
  const draft = cloneMarket(market.state)
  accrue(market.settings, draft, prices, seconds)
  return checkLiquidation(market.settings, draft, record.state, prices, {
    forLiquidation: true,
    checkMinCollateralUsd: true,
  }).isLiquidatable
}
