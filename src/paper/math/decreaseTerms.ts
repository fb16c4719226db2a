/** Terms and result of a decrease. */
import type { PoolSwap } from './poolSwap.ts'
import type { PositionFees } from './positionFees.ts'
import type { PositionState } from './positionState.ts'

/** Terms of a decrease. */
export interface DecreaseTerms {
  /** USD; 0 = a withdrawal of collateral. */
  readonly sizeDeltaUsd: bigint
  /** Collateral to withdraw, collateral token units; cut to what the position has. */
  readonly collateralAmount: bigint
  readonly acceptablePrice?: bigint
  readonly uiFeeFactor?: bigint
  /**
   * `trigger` orders are cut to the position; `market` orders revert when larger; `liquidation` closes whole;
   * `deleveraging` is the keeper's market decrease of a position in profit.
   */
  readonly kind: 'market' | 'trigger' | 'liquidation' | 'deleveraging'
  /** Swaps profit into the collateral token when the pool allows it. */
  readonly swapProfitToCollateral?: boolean
}

/** Result of a decrease. Amounts in token units, USD with 30 decimals. */
export interface DecreaseResult {
  /** Undefined: closed. */
  readonly position: PositionState | undefined
  /** Final size, after automatic cuts and full closes. */
  readonly sizeDeltaUsd: bigint
  readonly sizeDeltaInTokens: bigint
  readonly executionPrice: bigint
  readonly priceImpactUsd: bigint
  readonly basePnlUsd: bigint
  readonly proportionalPendingImpactUsd: bigint
  readonly totalImpactUsd: bigint
  readonly priceImpactDiffUsd: bigint
  readonly fees: PositionFees
  /** Collateral token to the receiver. */
  readonly outputAmount: bigint
  /** PnL token to the receiver, when it differs from the collateral token. */
  readonly secondaryOutputAmount: bigint
  /** Excess negative impact, credited to the account by slot, released later. */
  readonly claimableCollateral: readonly [bigint, bigint]
  /** Funding fee taken in the pnl token and set aside for the protocol. */
  readonly fundingPaidInPnlToken: bigint
  /** Where the collateral ran out, in a liquidation or a deleveraging, and what stayed unpaid, USD. */
  readonly insolvency?: {
    readonly step: string
    readonly remainingCostUsd: bigint
    readonly fees: PositionFees
  }
  /** Profit that was swapped into the collateral token. */
  readonly profitSwap?: PoolSwap
  /** Reductions of the withdrawal, change by change: from, to. */
  readonly withdrawalCuts: readonly (readonly [bigint, bigint])[]
}
