/**
 * Decrease, close and liquidation of a position, in the contract's order of steps (contract `DecreasePositionUtils`,
 * `decreasePosition`).
 */
import { defined } from '../../base/defined.ts'
import { type DecreaseFunds, payCosts } from './decreaseCosts.ts'
import { type DecreaseFigures, decreaseFigures } from './decreaseFigures.ts'
import type { DecreaseResult, DecreaseTerms } from './decreaseTerms.ts'
import { accrue, moveOpenInterest, requireNotLiquidatable, touch } from './increase.ts'
import { ceilDiv, max, min } from './integer.ts'
import type { MarketPrices, MarketSettings, MarketState } from './marketState.ts'
import { normaliseDecrease } from './normalise.ts'
import { type PoolSwap, trySwapInPool } from './poolSwap.ts'
import { takeFromImpactPool, takeFromPool } from './pools.ts'
import { checkLiquidation } from './positionMath.ts'
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
  const isFullClose = sizeDeltaUsd === position.sizeInUsd
  if (terms.kind === 'liquidation') requireLiquidatable(settings, draft, position, prices)
  const figures = decreaseFigures(settings, draft, position, sizeDeltaUsd, terms, prices)
  const { closedTokens, basePnlUsd, execution, pending, totalImpactUsd, priceImpactDiffUsd } = figures
  const funds: DecreaseFunds = { output: 0n, collateral: position.collateralAmount, secondary: 0n }
  const profitSwap = payProfits(settings, draft, figures, funds, terms, prices)
  const mayBeInsolvent = terms.kind === 'liquidation' || terms.kind === 'deleveraging'
  const costs = payCosts(draft, figures, funds, prices, mayBeInsolvent && isFullClose)
  withdraw(funds, costs.insolvency === undefined ? requested : 0n, figures)

  position.sizeInUsd -= sizeDeltaUsd
  position.sizeInTokens -= closedTokens
  position.pendingImpactAmount -= pending.amount
  position.decreasedAtSeconds = nowSeconds
  const isClosed = position.sizeInUsd === 0n || position.sizeInTokens === 0n
  if (isClosed) {
    funds.output += funds.collateral
    funds.collateral = 0n
  }
  draft[side].collateralSum[figures.collateralPool] -= existing.collateralAmount - funds.collateral
  position.collateralAmount = funds.collateral
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
    ...costs,
    outputAmount: funds.output,
    secondaryOutputAmount: funds.secondary,
    ...defined({ profitSwap }),
    withdrawalCuts,
  }
}

/** Reverts where a position may not be liquidated. */
function requireLiquidatable(
  settings: MarketSettings,
  draft: MarketState,
  position: PositionState,
  prices: MarketPrices,
): void {
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

/** Takes profit and positive impact out of the pools into the funds, and swaps what is not collateral where that is asked for. */
function payProfits(
  settings: MarketSettings,
  draft: MarketState,
  figures: DecreaseFigures,
  funds: DecreaseFunds,
  terms: DecreaseTerms,
  prices: MarketPrices,
): PoolSwap | undefined {
  const { profitSlot, profitPool, profitPrice, profitIsCollateral, basePnlUsd, totalImpactUsd } = figures
  const payProfit = (usd: bigint): void => {
    const amount = usd / profitPrice.max
    takeFromPool(draft, profitPool, amount)
    if (profitIsCollateral) funds.output += amount
    else funds.secondary += amount
  }
  if (basePnlUsd > 0n) payProfit(basePnlUsd)
  if (totalImpactUsd > 0n) {
    takeFromImpactPool(draft, ceilDiv(totalImpactUsd, prices.index.min))
    payProfit(totalImpactUsd)
  }
  let profitSwap: PoolSwap | undefined
  if (terms.swapProfitToCollateral && funds.secondary > 0n) {
    profitSwap = trySwapInPool(settings, draft, profitSlot, funds.secondary, prices)
    if (profitSwap !== undefined) {
      funds.output += profitSwap.amountOut
      funds.secondary = 0n
    }
  }
  return profitSwap
}

/** Moves what is withdrawn from the collateral to the output: less what is kept of it for claims, and no more than there is. */
function withdraw(
  funds: DecreaseFunds,
  requested: bigint,
  { collateralPrice, priceImpactDiffUsd }: DecreaseFigures,
): void {
  let withdrawal = requested
  if (withdrawal > 0n && priceImpactDiffUsd > 0n) {
    withdrawal = max(0n, withdrawal - priceImpactDiffUsd / collateralPrice.min)
  }
  withdrawal = min(withdrawal, funds.collateral)
  funds.collateral -= withdrawal
  funds.output += withdrawal
}
