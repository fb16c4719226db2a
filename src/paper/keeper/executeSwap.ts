/** Execution of a swap order. */
import type { Hex } from '../../protocol/address.ts'
import type { MarketState } from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { noteSwaps } from '../pools/ledger.ts'
import { swapAlong } from '../pools/swaps.ts'
import type { OrderRecord } from '../state/venueRecords.ts'
import { nextTransactionHash, type VenueState } from '../state/venueState.ts'
import { emitMarketMoves, emitOraclePrices, emitSwaps, pricesOf } from './events.ts'
import { commit, payOut } from './settle.ts'
import { recordTrade } from './tradeRecords.ts'

/** Computes the result of a swap on drafts of the markets; the venue is not changed yet. Throws ProtocolRevert. */
export function trySwap(venueState: VenueState, order: OrderRecord, seconds: number) {
  const { addresses, numbers } = order.params
  const drafts = new Map<string, MarketState>()
  const result = swapAlong(
    venueState,
    drafts,
    addresses.initialCollateralToken,
    numbers.initialCollateralDeltaAmount,
    addresses.swapPath,
    seconds,
  )
  if (result.amount < numbers.minOutputAmount) {
    throw new ProtocolRevert('InsufficientSwapOutputAmount', [result.amount, numbers.minOutputAmount])
  }
  return { drafts, result }
}

/** Executes a swap; the hash of its transaction. Throws ProtocolRevert, and then nothing has happened. */
export function executeSwap(venueState: VenueState, order: OrderRecord, seconds: number): Hex {
  const { drafts, result } = trySwap(venueState, order, seconds)
  const moves = commit(venueState, drafts)
  noteSwaps(venueState, order.account, result.steps)
  payOut(venueState, order, result.token, result.amount)
  const hash = nextTransactionHash(venueState)
  emitOraclePrices(venueState, order, pricesOf(result.steps), seconds, hash)
  emitMarketMoves(venueState, order, moves, hash)
  emitSwaps(venueState, order, result.steps, hash)
  recordTrade(venueState, order, 'OrderExecuted', seconds, hash, {
    executionAmountOut: result.amount,
    swapFeeUsd: result.feeUsd,
    swapImpactUsd: result.impactUsd,
  })
  return hash
}
