/** Order types on the chain: which execute at once, which bring collateral, and when the others are triggered. */
import type { PricePair } from '../math/marketState.ts'

/** On-chain order types by number (contract `Order`, `OrderType`). */
export const orderTypes = {
  marketSwap: 0,
  limitSwap: 1,
  marketIncrease: 2,
  limitIncrease: 3,
  marketDecrease: 4,
  limitDecrease: 5,
  stopLossDecrease: 6,
  liquidation: 7,
  stopIncrease: 8,
} as const

/** Tells whether orders of a type execute as soon as the keeper sees them. */
export function isMarketOrder(orderType: number): boolean {
  return orderType === 0 || orderType === 2 || orderType === 4
}

/** Tells whether orders of a type bring collateral into the order vault when they are created. */
export function bringsCollateral(orderType: number): boolean {
  return orderType <= 3 || orderType === 8
}

/** Tells whether a resting order's trigger is met at these index prices (contract `BaseOrderUtils`, `validateOrderTriggerPrice`). */
export function isTriggered(
  orderType: number,
  isLong: boolean,
  triggerPrice: bigint,
  index: PricePair,
): boolean {
  if (orderType === orderTypes.limitIncrease) {
    return isLong ? index.max <= triggerPrice : index.min >= triggerPrice
  }
  if (orderType === orderTypes.stopIncrease) {
    return isLong ? index.max >= triggerPrice : index.min <= triggerPrice
  }
  if (orderType === orderTypes.limitDecrease) {
    return isLong ? index.min >= triggerPrice : index.max <= triggerPrice
  }
  if (orderType === orderTypes.stopLossDecrease) {
    return isLong ? index.min <= triggerPrice : index.max >= triggerPrice
  }
  return true
}
