/**
 * The keeper: executes orders at the oracle price of the moment, cancels or freezes what fails. An order that fails leaves
 * markets, positions and money exactly as they were.
 */
import { hexKey } from '../../protocol/address.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { givenError } from '../state/givenError.ts'
import { bringsCollateral, isMarketOrder, orderTypes } from '../state/orderTypes.ts'
import { rememberHoldings } from '../state/pastHoldings.ts'
import type { VenueState } from '../state/venueState.ts'
import { executeDecrease } from './executeDecrease.ts'
import { executeIncrease } from './executeIncrease.ts'
import { executeSwap } from './executeSwap.ts'
import { payExecutionFee } from './executionFees.ts'
import { cancelOrder, cancelWithPosition, endOrder, freezeOrder } from './orderEnds.ts'

/** Errors that cancel an order of any type instead of freezing it. */
const alwaysCancelled = new Set([
  'InvalidPositionMarket',
  'InvalidCollateralTokenForMarket',
  'InvalidPositionSizeValues',
])

/** Executes an order now, or cancels or freezes it. Nothing happens when it is gone, or cannot be looked at yet. */
export function executeOrder(venueState: VenueState, orderKey: string, nowMs: number): void {
  const order = venueState.orders.get(hexKey(orderKey))
  if (order === undefined) return
  const seconds = Math.floor(nowMs / 1000)
  const type = Number(order.params.orderType)
  rememberHoldings(venueState, order.account, nowMs)
  rememberHoldings(venueState, order.params.addresses.receiver, nowMs)
  try {
    if (venueState.dataFaults.keeperFails !== '') throw givenError(venueState.dataFaults.keeperFails)
    const execute =
      type === orderTypes.marketSwap || type === orderTypes.limitSwap
        ? executeSwap
        : bringsCollateral(type)
          ? executeIncrease
          : executeDecrease
    const hash = execute(venueState, order, seconds)
    endOrder(venueState, order, 'executed', hash, nowMs)
    payExecutionFee(venueState, order, 'execution', hash, nowMs)
    if (execute === executeDecrease) cancelWithPosition(venueState, order, seconds * 1000, hash)
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    if (error.errorName === 'EmptyPosition' && !isMarketOrder(type)) return
    // The keeper leaves a limit swap alone until the pool gives what it asks for.
    if (type === orderTypes.limitSwap && error.errorName === 'InsufficientSwapOutputAmount') return
    if (isMarketOrder(type) || alwaysCancelled.has(error.errorName)) {
      cancelOrder(venueState, order, error, nowMs)
    } else {
      freezeOrder(venueState, order, error, nowMs)
    }
  }
}
