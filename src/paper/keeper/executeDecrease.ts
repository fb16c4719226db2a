/** Execution of an order that decreases or closes a position, of a liquidation, or of a deleveraging. */
import { defined } from '../../base/defined.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import { decreasePosition } from '../math/decrease.ts'
import type { DecreaseResult } from '../math/decreaseTerms.ts'
import { cloneMarket, type MarketPrices, type MarketState, slotPrice } from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { noteSwaps } from '../pools/ledger.ts'
import { draftForSwap, type SwapStep, stepOf, swapAlong } from '../pools/swaps.ts'
import { accountOf, addTo, storePosition } from '../state/accounts.ts'
import { isMarketOrder } from '../state/orderTypes.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import {
  marketPrices,
  nextTransactionHash,
  slotToken,
  tokenPrice,
  type VenueState,
} from '../state/venueState.ts'
import { emitMarketMoves, emitOraclePrices, emitPositionDecrease, emitSwaps, pricesOf } from './events.ts'
import { commit, creditFunding, payOut, positionMarketOf } from './settle.ts'
import { recordTrade } from './tradeRecords.ts'

/** `secondaryOrderType` of an execution that deleverages. */
const SECONDARY_ADL = 1n

/** The keeper's own decreases: their orders are created in the transaction that executes them. */
export type KeeperDecrease = 'liquidation' | 'deleveraging'

/** Computes the result of a decrease on drafts of the markets; the venue is not changed yet. Throws ProtocolRevert. */
export function tryDecrease(
  venueState: VenueState,
  order: OrderRecord,
  seconds: number,
  byKeeper?: KeeperDecrease,
) {
  const { addresses, numbers, isLong } = order.params
  const market = positionMarketOf(venueState, order)
  const contractKey = positionKeyOf(order.account, addresses.market, addresses.initialCollateralToken, isLong)
  const record = venueState.positions.get(contractKey)
  if (record === undefined) throw new ProtocolRevert('EmptyPosition')
  const type = Number(order.params.orderType)
  const swapType = Number(order.params.decreasePositionSwapType)
  const isSwapping = swapType !== 0 || addresses.swapPath.length > 0
  const draft =
    isSwapping && !market.settings.isSameCollaterals
      ? draftForSwap(venueState, market, seconds)
      : cloneMarket(market.state)
  const drafts = new Map<string, MarketState>([[market.key, draft]])
  const prices = marketPrices(venueState, market, seconds)
  const result = decreasePosition(
    market.settings,
    draft,
    record.state,
    {
      sizeDeltaUsd: numbers.sizeDeltaUsd,
      collateralAmount: numbers.initialCollateralDeltaAmount,
      acceptablePrice: numbers.acceptablePrice,
      kind: byKeeper ?? (isMarketOrder(type) ? 'market' : 'trigger'),
      swapProfitToCollateral: swapType === 1,
    },
    prices,
    seconds,
  )
  const profitToken = isLong ? market.longToken : market.shortToken
  const profitIsCollateral = hexKey(profitToken.address) === hexKey(record.collateralToken.address)
  const swapsToProfitToken = swapType === 2 && !profitIsCollateral
  const output = swapAlong(
    venueState,
    drafts,
    addresses.initialCollateralToken,
    result.outputAmount,
    swapsToProfitToken ? [addresses.market, ...addresses.swapPath] : addresses.swapPath,
    seconds,
  )
  const outToken = venueState.catalog.tokenByAddress.get(hexKey(output.token))
  const outputUsd =
    outToken === undefined ? 0n : output.amount * tokenPrice(venueState, outToken, seconds).min
  if (outputUsd < numbers.minOutputAmount) {
    throw new ProtocolRevert('InsufficientOutputAmount', [outputUsd, numbers.minOutputAmount])
  }
  return { market, drafts, contractKey, record, prices, result, profitToken, output }
}

/** Executes a decrease; the hash of its transaction. Throws ProtocolRevert, and then nothing has happened. */
export function executeDecrease(
  venueState: VenueState,
  order: OrderRecord,
  seconds: number,
  byKeeper?: KeeperDecrease,
): Hex {
  const { isLong } = order.params
  const done = tryDecrease(venueState, order, seconds, byKeeper)
  const { market, drafts, contractKey, record, prices, result, profitToken, output } = done
  const moves = commit(venueState, drafts)
  const profitSlot = isLong || market.settings.isSameCollaterals ? 0 : 1
  const profitSteps =
    result.profitSwap === undefined ? [] : [stepOf(market, profitSlot, prices, result.profitSwap)]
  const steps = [...profitSteps, ...output.steps]
  noteSwaps(venueState, order.account, steps)
  const before = record.state
  storePosition(venueState, record, result.position)
  creditFunding(venueState, market, order.account, result.fees)
  const account = accountOf(venueState, order.account)
  for (const slot of [0, 1] as const) {
    const amount = result.claimableCollateral[slot]
    if (amount > 0n) addTo(account.claimableCollateral, slotToken(market, slot).address, amount)
  }
  if (result.secondaryOutputAmount > 0n)
    payOut(venueState, order, profitToken.address, result.secondaryOutputAmount)
  payOut(venueState, order, output.token, output.amount)
  const hash = nextTransactionHash(venueState)
  if (byKeeper !== undefined) recordTrade(venueState, order, 'OrderCreated', seconds, hash)
  emitOraclePrices(venueState, order, pricesOf(steps, market, prices), seconds, hash)
  emitMarketMoves(venueState, order, moves, hash)
  emitSwaps(venueState, order, profitSteps, hash)
  emitPositionDecrease(
    venueState,
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
  emitSwaps(venueState, order, output.steps, hash)
  recordDecrease(venueState, order, record, {
    prices,
    result,
    amountOut: output.amount,
    steps,
    seconds,
    hash,
    isDeleveraging: byKeeper === 'deleveraging',
  })
  return hash
}

function recordDecrease(
  venueState: VenueState,
  order: OrderRecord,
  record: PositionRecord,
  done: {
    readonly prices: MarketPrices
    readonly result: DecreaseResult
    readonly amountOut: bigint
    readonly steps: readonly SwapStep[]
    readonly seconds: number
    readonly hash: Hex
    readonly isDeleveraging: boolean
  },
): void {
  const { prices, result, seconds, hash } = done
  const sum = (of: (step: SwapStep) => bigint): bigint => done.steps.reduce((all, one) => all + of(one), 0n)
  const collateralPrice = slotPrice(prices, record.state.slot)
  recordTrade(venueState, order, 'OrderExecuted', seconds, hash, {
    collateralTokenAddress: record.collateralToken.address,
    sizeDeltaUsd: result.sizeDeltaUsd,
    sizeDeltaInTokens: result.sizeDeltaInTokens,
    executionPrice: result.executionPrice,
    indexTokenPriceMin: prices.index.min,
    indexTokenPriceMax: prices.index.max,
    collateralTokenPriceMin: collateralPrice.min,
    collateralTokenPriceMax: collateralPrice.max,
    executionAmountOut: done.amountOut,
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
    swapFeeUsd: sum((step) => step.feeUsd),
    swapImpactUsd: sum((step) => step.priceImpactUsd),
    ...defined({ secondaryOrderType: done.isDeleveraging ? SECONDARY_ADL : undefined }),
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
