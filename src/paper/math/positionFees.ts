/** Fees of one position order, in collateral token units (contract `PositionPricingUtils`, `getPositionFees`). */

import { FUNDING_PRECISION } from './funding.ts'
import { ceilDiv, fac } from './integer.ts'
import type { MarketSettings, MarketState, PricePair, Side, Slot } from './marketState.ts'
import type { PositionState } from './positionState.ts'

/** Every fee of an order. Amounts in collateral token units unless named. */
export interface PositionFees {
  readonly positionFeeAmount: bigint
  readonly borrowingFeeUsd: bigint
  readonly borrowingFeeAmount: bigint
  readonly fundingFeeAmount: bigint
  readonly claimableLongTokenAmount: bigint
  readonly claimableShortTokenAmount: bigint
  readonly uiFeeAmount: bigint
  readonly liquidationFeeAmount: bigint
  /** Part of the fee that the pool retains after the receiver's share. */
  readonly feeAmountForPool: bigint
  readonly totalCostAmountExcludingFunding: bigint
  readonly totalCostAmount: bigint
}

/** No fees at all: what an insolvent close reports. */
export const noFees: PositionFees = {
  positionFeeAmount: 0n,
  borrowingFeeUsd: 0n,
  borrowingFeeAmount: 0n,
  fundingFeeAmount: 0n,
  claimableLongTokenAmount: 0n,
  claimableShortTokenAmount: 0n,
  uiFeeAmount: 0n,
  liquidationFeeAmount: 0n,
  feeAmountForPool: 0n,
  totalCostAmountExcludingFunding: 0n,
  totalCostAmount: 0n,
}

/** Returns the fees of an order; the state must be accrued to now. Borrowing and funding are on the size before the order. */
export function positionFees(
  settings: MarketSettings,
  state: MarketState,
  position: PositionState,
  collateralPrice: PricePair,
  order: {
    readonly sizeDeltaUsd: bigint
    readonly balanceWasImproved: boolean
    readonly isLiquidation?: boolean
    readonly uiFeeFactor?: bigint
  },
): PositionFees {
  const price = collateralPrice.min
  const size = order.sizeDeltaUsd
  const feeFactor = order.balanceWasImproved
    ? settings.positionFeeFactorForBalanceWasImproved
    : settings.positionFeeFactorForBalanceWasNotImproved
  const positionFeeAmount = fac(size, feeFactor) / price
  const side: Side = position.side
  const borrowingFeeUsd = fac(
    position.sizeInUsd,
    state[side].cumulativeBorrowingFactor - position.borrowingFactor,
  )
  const borrowingFeeAmount = borrowingFeeUsd / price
  const stored = (slot: Slot): Slot => (settings.isSameCollaterals ? 0 : slot)
  const fundingFeeAmount = ceilDiv(
    position.sizeInUsd *
      (state[side].fundingFeePerSize[stored(position.slot)] - position.fundingFeeAmountPerSize),
    FUNDING_PRECISION,
  )
  const claimable = (slot: Slot): bigint =>
    (position.sizeInUsd * (state[side].claimablePerSize[stored(slot)] - position.claimablePerSize[slot])) /
    FUNDING_PRECISION
  const uiFeeAmount = fac(size, order.uiFeeFactor ?? 0n) / price
  const liquidationFeeAmount = order.isLiquidation
    ? ceilDiv(fac(size, settings.liquidationFeeFactor), price)
    : 0n
  const receiver = settings.feeReceiverFactor
  const feeAmountForPool =
    positionFeeAmount -
    fac(positionFeeAmount, receiver) +
    borrowingFeeAmount -
    fac(borrowingFeeAmount, receiver) +
    liquidationFeeAmount -
    fac(liquidationFeeAmount, receiver)
  const totalCostAmountExcludingFunding =
    positionFeeAmount + borrowingFeeAmount + liquidationFeeAmount + uiFeeAmount
  return {
    positionFeeAmount,
    borrowingFeeUsd,
    borrowingFeeAmount,
    fundingFeeAmount,
    claimableLongTokenAmount: claimable(0),
    claimableShortTokenAmount: claimable(1),
    uiFeeAmount,
    liquidationFeeAmount,
    feeAmountForPool,
    totalCostAmountExcludingFunding,
    totalCostAmount: totalCostAmountExcludingFunding + fundingFeeAmount,
  }
}
