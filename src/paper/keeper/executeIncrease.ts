/** Execution of an order that increases a position or its collateral. */
import type { Hex } from '../../protocol/address.ts'
import { positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import { increasePosition } from '../math/increase.ts'
import { cloneMarket, type MarketState, slotPrice } from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { shiftForIncrease } from '../pools/jitPools.ts'
import { noteSwaps } from '../pools/ledger.ts'
import { swapAlong } from '../pools/swaps.ts'
import { storePosition } from '../state/accounts.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import {
  marketPrices,
  nextTransactionHash,
  sideOf,
  slotOf,
  slotToken,
  type VenueState,
} from '../state/venueState.ts'
import { emitMarketMoves, emitOraclePrices, emitPositionIncrease, emitSwaps, pricesOf } from './events.ts'
import { commit, creditFunding, positionMarketOf } from './settle.ts'
import { recordTrade } from './tradeRecords.ts'

/** Computes the result of an increase on drafts of the markets; the venue is not changed yet. Throws ProtocolRevert. */
export function tryIncrease(venueState: VenueState, order: OrderRecord, seconds: number) {
  const { addresses, numbers, isLong } = order.params
  const market = positionMarketOf(venueState, order)
  const drafts = new Map<string, MarketState>()
  const brought = swapAlong(
    venueState,
    drafts,
    addresses.initialCollateralToken,
    numbers.initialCollateralDeltaAmount,
    addresses.swapPath,
    seconds,
  )
  if (brought.amount < numbers.minOutputAmount) {
    throw new ProtocolRevert('InsufficientSwapOutputAmount', [brought.amount, numbers.minOutputAmount])
  }
  const slot = slotOf(market, brought.token)
  if (slot === undefined) {
    throw new ProtocolRevert('InvalidCollateralTokenForMarket', [addresses.market, brought.token])
  }
  const collateralToken = slotToken(market, slot)
  const draft = drafts.get(market.key) ?? cloneMarket(market.state)
  drafts.set(market.key, draft)
  const prices = marketPrices(venueState, market, seconds)
  shiftForIncrease(venueState, drafts, market, sideOf(isLong), numbers.sizeDeltaUsd, prices, seconds)
  const contractKey = positionKeyOf(order.account, addresses.market, collateralToken.address, isLong)
  const record: PositionRecord | undefined = venueState.positions.get(contractKey)
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
  return { market, drafts, brought, slot, collateralToken, prices, contractKey, record, result }
}

/** Executes an increase; the hash of its transaction. Throws ProtocolRevert, and then nothing has happened. */
export function executeIncrease(venueState: VenueState, order: OrderRecord, seconds: number): Hex {
  const done = tryIncrease(venueState, order, seconds)
  const { market, drafts, brought, slot, collateralToken, prices, contractKey, record, result } = done
  const moves = commit(venueState, drafts)
  noteSwaps(venueState, order.account, brought.steps)
  storePosition(
    venueState,
    record ?? {
      contractKey,
      account: order.account,
      marketKey: market.key,
      collateralToken,
      state: result.position,
    },
    result.position,
  )
  creditFunding(venueState, market, order.account, result.fees)
  const collateralPrice = slotPrice(prices, slot)
  const hash = nextTransactionHash(venueState)
  emitOraclePrices(venueState, order, pricesOf(brought.steps, market, prices), seconds, hash)
  emitMarketMoves(venueState, order, moves, hash)
  emitSwaps(venueState, order, brought.steps, hash)
  emitPositionIncrease(
    venueState,
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
  recordTrade(venueState, order, 'OrderExecuted', seconds, hash, {
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
    swapImpactUsd: brought.impactUsd,
  })
  return hash
}
