/** The order in which a decrease pays what it costs, and what it pays with (contract `DecreasePositionCollateralUtils`). */
import { defined } from '../../base/defined.ts'
import type { DecreaseFigures } from './decreaseFigures.ts'
import type { DecreaseResult } from './decreaseTerms.ts'
import { ceilDiv, min } from './integer.ts'
import type { MarketPrices, MarketState, PricePair } from './marketState.ts'
import { addToImpactPool } from './pools.ts'
import { noFees, type PositionFees } from './positionFees.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Funds that pay the costs, in this order; token units. */
export interface DecreaseFunds {
  /** Collateral token that came out of the position. */
  output: bigint
  /** Collateral that stays in the position. */
  collateral: bigint
  /** PnL token that came out, when it differs from the collateral token. */
  secondary: bigint
}

/** Result of paying the costs of a decrease. */
export type PaidCosts = Pick<
  DecreaseResult,
  'fees' | 'insolvency' | 'claimableCollateral' | 'fundingPaidInPnlToken'
>

/**
 * Takes every cost off the funds, in the contract's order. Mutates the draft and the funds.
 *
 * @throws ProtocolRevert `InsufficientFundsToPayForCosts` where the money runs out and that is not allowed
 */
export function payCosts(
  draft: MarketState,
  figures: DecreaseFigures,
  funds: DecreaseFunds,
  prices: MarketPrices,
  mayRunOut: boolean,
): PaidCosts {
  const { collateralPrice, profitPrice, collateralPool, profitPool } = figures
  const { basePnlUsd, totalImpactUsd, priceImpactDiffUsd, fees } = figures
  const toPools = (payment: Payment): void => {
    draft.pool[collateralPool] += payment.inCollateral
    draft.pool[profitPool] += payment.inProfitToken
  }
  let chargedFees = fees
  let insolvency: DecreaseResult['insolvency']
  const claimableCollateral: [bigint, bigint] = [0n, 0n]
  let fundingPaidInPnlToken = 0n
  /** Runs one step of the waterfall; none once the money ran out. */
  const step = (name: string, costUsd: bigint, settle: (payment: Payment) => void): void => {
    if (insolvency !== undefined || costUsd <= 0n) return
    const payment = charge(funds, costUsd, collateralPrice, profitPrice)
    settle(payment)
    if (payment.unpaidUsd === 0n) return
    if (!mayRunOut) {
      throw new ProtocolRevert('InsufficientFundsToPayForCosts', [payment.unpaidUsd, name])
    }
    insolvency = { step: name, remainingCostUsd: payment.unpaidUsd, fees }
    chargedFees = withoutCharges(fees)
  }
  step('funding', fees.fundingFeeAmount * collateralPrice.min, (payment) => {
    fundingPaidInPnlToken += payment.inProfitToken
  })
  step('pnl', -basePnlUsd, toPools)
  step('fees', fees.totalCostAmountExcludingFunding * collateralPrice.min, (payment) => {
    if (payment.unpaidUsd === 0n && payment.inProfitToken === 0n) {
      draft.pool[collateralPool] += fees.feeAmountForPool
    } else {
      toPools(payment)
      chargedFees = withoutCharges(fees)
    }
  })
  step('impact', -totalImpactUsd, (payment) => {
    toPools(payment)
    if (payment.inCollateral > 0n) {
      addToImpactPool(draft, (payment.inCollateral * collateralPrice.min) / prices.index.max)
    }
    if (payment.inProfitToken > 0n) {
      addToImpactPool(draft, (payment.inProfitToken * profitPrice.min) / prices.index.max)
    }
  })
  step('diff', priceImpactDiffUsd, (payment) => {
    claimableCollateral[collateralPool] += payment.inCollateral
    claimableCollateral[profitPool] += payment.inProfitToken
  })
  return {
    fees: chargedFees,
    ...defined({ insolvency }),
    claimableCollateral,
    fundingPaidInPnlToken,
  }
}

interface Payment {
  readonly inCollateral: bigint
  readonly inProfitToken: bigint
  readonly unpaidUsd: bigint
}

/** Pays a cost with what there is: output first, then collateral, then the PnL token. Mutates the funds. */
function charge(
  funds: DecreaseFunds,
  costUsd: bigint,
  collateralPrice: PricePair,
  profitPrice: PricePair,
): Payment {
  let left = ceilDiv(costUsd, collateralPrice.min)
  const fromOutput = min(funds.output, left)
  funds.output -= fromOutput
  left -= fromOutput
  const fromCollateral = min(funds.collateral, left)
  funds.collateral -= fromCollateral
  left -= fromCollateral
  const inCollateral = fromOutput + fromCollateral
  if (left === 0n) return { inCollateral, inProfitToken: 0n, unpaidUsd: 0n }
  const leftInProfitToken = (left * collateralPrice.min) / profitPrice.min
  const inProfitToken = min(funds.secondary, leftInProfitToken)
  funds.secondary -= inProfitToken
  return {
    inCollateral,
    inProfitToken,
    unpaidUsd: (leftInProfitToken - inProfitToken) * profitPrice.min,
  }
}

/** Fees of which nothing was collected in full; claimable funding stays the account's. */
function withoutCharges(fees: PositionFees): PositionFees {
  return {
    ...noFees,
    claimableLongTokenAmount: fees.claimableLongTokenAmount,
    claimableShortTokenAmount: fees.claimableShortTokenAmount,
  }
}
