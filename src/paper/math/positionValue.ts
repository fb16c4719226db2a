/**
 * `positionValueInUsd`: what a full close would pay, as the reader contract simulates it, and the documented fallback
 * (docs/reference/api-coverage.md A5).
 */
import { fac } from './integer.ts'
import { type MarketPrices, type MarketSettings, type MarketState, slotPrice } from './marketState.ts'
import { type PositionFees, positionFees } from './positionFees.ts'
import {
  type DecreaseExecution,
  executionOfDecrease,
  pendingImpactOf,
  settledImpact,
} from './positionImpact.ts'
import { positionPnl } from './positionMath.ts'
import type { PositionState } from './positionState.ts'

/** A full close at the given prices. USD with 30 decimals, amounts in collateral token units. */
export interface PositionValue {
  readonly valueUsd: bigint
  readonly basePnlUsd: bigint
  readonly uncappedBasePnlUsd: bigint
  readonly proportionalPendingImpactUsd: bigint
  readonly totalImpactUsd: bigint
  readonly priceImpactDiffUsd: bigint
  readonly execution: DecreaseExecution
  readonly fees: PositionFees
}

function heldUsd(position: PositionState, fees: PositionFees, prices: MarketPrices): bigint {
  return (
    position.collateralAmount * slotPrice(prices, position.slot).min +
    fees.claimableLongTokenAmount * prices.long.min +
    fees.claimableShortTokenAmount * prices.short.min
  )
}

/**
 * Value by simulation; the state must be accrued to now.
 *
 * @throws ProtocolRevert when the impact of the close exceeds the size or the execution price would be negative
 */
export function simulatedPositionValue(
  settings: MarketSettings,
  state: MarketState,
  position: PositionState,
  prices: MarketPrices,
): PositionValue {
  const { sizeInUsd, sizeInTokens } = position
  const execution = executionOfDecrease(
    settings,
    state,
    position.side,
    position,
    sizeInUsd,
    sizeInTokens,
    undefined,
    prices,
  )
  const pnl = positionPnl(settings, state, position, prices)
  const pending = pendingImpactOf(position, sizeInUsd, prices)
  const settled = settledImpact(settings, state, prices, sizeInUsd, pending.usd + execution.impactUsd)
  const collateralPrice = slotPrice(prices, position.slot)
  const fees = positionFees(settings, state, position, collateralPrice, {
    sizeDeltaUsd: sizeInUsd,
    balanceWasImproved: execution.balanceWasImproved,
  })
  return {
    valueUsd:
      heldUsd(position, fees, prices) +
      pnl.usd +
      settled.totalImpactUsd -
      fees.totalCostAmount * collateralPrice.max,
    basePnlUsd: pnl.usd,
    uncappedBasePnlUsd: pnl.uncappedUsd,
    proportionalPendingImpactUsd: pending.usd,
    totalImpactUsd: settled.totalImpactUsd,
    priceImpactDiffUsd: settled.priceImpactDiffUsd,
    execution,
    fees,
  }
}

/** Value when the simulation reverts: no closing fee, uncapped PnL of the whole size, the largest negative impact. */
export function fallbackPositionValue(
  settings: MarketSettings,
  state: MarketState,
  position: PositionState,
  prices: MarketPrices,
): bigint {
  const collateralPrice = slotPrice(prices, position.slot)
  const fees = positionFees(settings, state, position, collateralPrice, {
    sizeDeltaUsd: 0n,
    balanceWasImproved: false,
  })
  return (
    heldUsd(position, fees, prices) -
    fees.totalCostAmount * collateralPrice.max +
    positionPnl(settings, state, position, prices).uncappedUsd -
    fac(position.sizeInUsd, settings.maxPositionImpactFactorNegative)
  )
}
