/** A position as the contracts keep it. */
import type { Side, Slot } from './marketState.ts'

/** A position as the contracts keep it. */
export interface PositionState {
  side: Side
  /** Slot of the collateral token. */
  slot: Slot
  sizeInUsd: bigint
  sizeInTokens: bigint
  /** Collateral token units. */
  collateralAmount: bigint
  /** Stored price impact, index token units, signed; settled by decreases. */
  pendingImpactAmount: bigint
  borrowingFactor: bigint
  fundingFeeAmountPerSize: bigint
  /** Claimable per size of the long and the short token. */
  claimablePerSize: [bigint, bigint]
  increasedAtSeconds: number
  decreasedAtSeconds: number
}
