/**
 * Decrease, close and liquidation of a position, in the contract's order of steps (contract `DecreasePositionUtils`,
 * `decreasePosition`).
 */
import type { DecreaseResult, DecreaseTerms } from './decreaseTerms.ts'
import { accrue, moveOpenInterest, requireNotLiquidatable, touch } from './increase.ts'
import { ceilDiv, max, min } from './integer.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  pnlSlot,
  type Slot,
  slotPrice,
} from './marketState.ts'
import { normaliseDecrease } from './normalise.ts'
import { type PoolSwap, trySwapInPool } from './poolSwap.ts'
import { addToImpactPool, takeFromImpactPool, takeFromPool } from './pools.ts'
import { noFees, type PositionFees, positionFees } from './positionFees.ts'
import { executionOfDecrease, pendingImpactOf, settledImpact } from './positionImpact.ts'
import { checkLiquidation, positionPnl, tokensClosed } from './positionMath.ts'
import type { PositionState } from './positionState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/**
 * Decreases a position on a draft of the market; the caller drops the draft on a revert.
 *
 * @throws ProtocolRevert with the contract's error
 */
export function decreasePosition(
  settings: MarketSettings,
  draft: MarketState,
  existing: PositionState,
  terms: DecreaseTerms,
  prices: MarketPrices,
  nowSeconds: number,
): DecreaseResult {
  const position: PositionState = { ...existing, claimablePerSize: [...existing.claimablePerSize] }
  accrue(settings, draft, prices, nowSeconds)
  const {
    sizeDeltaUsd,
    withdrawal: requested,
    withdrawalCuts,
  } = normaliseDecrease(settings, draft, position, terms, prices)
  const { side, slot } = position
  const stored = (one: Slot): Slot => (settings.isSameCollaterals ? 0 : one)
  const isFullClose = sizeDeltaUsd === position.sizeInUsd
  if (terms.kind === 'liquidation') {
    const check = checkLiquidation(settings, draft, position, prices, {
      forLiquidation: true,
      checkMinCollateralUsd: true,
    })
    if (!check.isLiquidatable) {
      throw new ProtocolRevert('PositionShouldNotBeLiquidated', [
        check.reason,
        check.remainingCollateralUsd,
        settings.minCollateralUsd,
        check.minCollateralUsdForLeverage,
      ])
    }
  }
  const collateralPrice = slotPrice(prices, slot)
  const profitSlot = pnlSlot(settings, side)
  const profitPrice = slotPrice(prices, profitSlot)
  const profitIsCollateral = settings.isSameCollaterals || profitSlot === slot
  const closedTokens = tokensClosed(position, sizeDeltaUsd)
  const pnl = positionPnl(settings, draft, position, prices).usd
  const basePnlUsd = sizeDeltaUsd === 0n ? 0n : (pnl * closedTokens) / position.sizeInTokens
  const execution = executionOfDecrease(
    settings,
    draft,
    side,
    position,
    sizeDeltaUsd,
    closedTokens,
    terms.acceptablePrice,
    prices,
  )
  const pending = pendingImpactOf(position, sizeDeltaUsd, prices)
  const { totalImpactUsd, priceImpactDiffUsd } = settledImpact(
    settings,
    draft,
    prices,
    sizeDeltaUsd,
    pending.usd + execution.impactUsd,
  )
  const fees = positionFees(settings, draft, position, collateralPrice, {
    sizeDeltaUsd,
    balanceWasImproved: execution.balanceWasImproved,
    isLiquidation: terms.kind === 'liquidation',
    ...(terms.uiFeeFactor === undefined ? {} : { uiFeeFactor: terms.uiFeeFactor }),
  })

  let output = 0n
  let secondary = 0n
  const payProfit = (usd: bigint): void => {
    const amount = usd / profitPrice.max
    takeFromPool(draft, stored(profitSlot), amount)
    if (profitIsCollateral) output += amount
    else secondary += amount
  }
  if (basePnlUsd > 0n) payProfit(basePnlUsd)
  if (totalImpactUsd > 0n) {
    takeFromImpactPool(draft, ceilDiv(totalImpactUsd, prices.index.min))
    payProfit(totalImpactUsd)
  }
  let profitSwap: PoolSwap | undefined
  if (terms.swapProfitToCollateral && secondary > 0n) {
    profitSwap = trySwapInPool(settings, draft, profitSlot, secondary, prices)
    if (profitSwap !== undefined) {
      output += profitSwap.amountOut
      secondary = 0n
    }
  }

  let collateral = position.collateralAmount
  const charge = (costUsd: bigint): Payment => {
    let left = ceilDiv(costUsd, collateralPrice.min)
    const fromOutput = min(output, left)
    output -= fromOutput
    left -= fromOutput
    const fromCollateral = min(collateral, left)
    collateral -= fromCollateral
    left -= fromCollateral
    const inCollateral = fromOutput + fromCollateral
    if (left === 0n) return { inCollateral, inProfitToken: 0n, unpaidUsd: 0n }
    const leftInProfitToken = (left * collateralPrice.min) / profitPrice.min
    const inProfitToken = min(secondary, leftInProfitToken)
    secondary -= inProfitToken
    return {
      inCollateral,
      inProfitToken,
      unpaidUsd: (leftInProfitToken - inProfitToken) * profitPrice.min,
    }
  }
  const toPools = (payment: Payment): void => {
    draft.pool[stored(slot)] += payment.inCollateral
    draft.pool[stored(profitSlot)] += payment.inProfitToken
  }

  let chargedFees = fees
  const mayBeInsolvent = terms.kind === 'liquidation' || terms.kind === 'deleveraging'
  let insolvency: DecreaseResult['insolvency']
  const claimableCollateral: [bigint, bigint] = [0n, 0n]
  let fundingPaidInPnlToken = 0n
  /** Runs one step of the waterfall; false once the money ran out. */
  const step = (name: string, costUsd: bigint, settle: (payment: Payment) => void): void => {
    if (insolvency !== undefined || costUsd <= 0n) return
    const payment = charge(costUsd)
    settle(payment)
    if (payment.unpaidUsd === 0n) return
    if (!mayBeInsolvent || !isFullClose) {
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
      draft.pool[stored(slot)] += fees.feeAmountForPool
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
    claimableCollateral[stored(slot)] += payment.inCollateral
    claimableCollateral[stored(profitSlot)] += payment.inProfitToken
  })

  let withdrawal = insolvency === undefined ? requested : 0n
  if (withdrawal > 0n && priceImpactDiffUsd > 0n) {
    withdrawal = max(0n, withdrawal - priceImpactDiffUsd / collateralPrice.min)
  }
  withdrawal = min(withdrawal, collateral)
  collateral -= withdrawal
  output += withdrawal

  position.sizeInUsd -= sizeDeltaUsd
  position.sizeInTokens -= closedTokens
  position.pendingImpactAmount -= pending.amount
  position.decreasedAtSeconds = nowSeconds
  const isClosed = position.sizeInUsd === 0n || position.sizeInTokens === 0n
  if (isClosed) {
    output += collateral
    collateral = 0n
  }
  draft[side].collateralSum[stored(slot)] -= existing.collateralAmount - collateral
  position.collateralAmount = collateral
  touch(settings, draft, position)
  moveOpenInterest(settings, draft, side, slot, -sizeDeltaUsd, -closedTokens)
  if (!isClosed) requireNotLiquidatable(settings, draft, position, prices, false, false)
  return {
    position: isClosed ? undefined : position,
    sizeDeltaUsd,
    sizeDeltaInTokens: closedTokens,
    executionPrice: execution.executionPrice,
    priceImpactUsd: execution.impactUsd,
    basePnlUsd,
    proportionalPendingImpactUsd: pending.usd,
    totalImpactUsd,
    priceImpactDiffUsd,
    fees: chargedFees,
    outputAmount: output,
    secondaryOutputAmount: secondary,
    claimableCollateral,
    fundingPaidInPnlToken,
    ...(insolvency === undefined ? {} : { insolvency }),
    ...(profitSwap === undefined ? {} : { profitSwap }),
    withdrawalCuts,
  }
}

interface Payment {
  readonly inCollateral: bigint
  readonly inProfitToken: bigint
  readonly unpaidUsd: bigint
}

/** Fees of which nothing was collected in full; claimable funding stays the account's. */
function withoutCharges(fees: PositionFees): PositionFees {
  return {
    ...noFees,
    claimableLongTokenAmount: fees.claimableLongTokenAmount,
    claimableShortTokenAmount: fees.claimableShortTokenAmount,
  }
}
