/** A position, its capped PnL, and whether it may be liquidated (contract `PositionUtils`, `isPositionLiquidatable`). */

import { ceilDiv, fac, max } from './integer.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  poolUsd,
  type Side,
  type Slot,
  slotPrice,
  slotValue,
} from './marketState.ts'
import { positionFees } from './positionFees.ts'
import { capImpactByMaxFactor, positionPriceImpact } from './positionImpact.ts'
import type { PositionState } from './positionState.ts'

/** A position of size 0 at today's per-size values. */
export function newPosition(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  slot: Slot,
): PositionState {
  const stored = (one: Slot): Slot => (settings.isSameCollaterals ? 0 : one)
  return {
    side,
    slot,
    sizeInUsd: 0n,
    sizeInTokens: 0n,
    collateralAmount: 0n,
    pendingImpactAmount: 0n,
    borrowingFactor: state[side].cumulativeBorrowingFactor,
    fundingFeeAmountPerSize: state[side].fundingFeePerSize[stored(slot)],
    claimablePerSize: [state[side].claimablePerSize[stored(0)], state[side].claimablePerSize[stored(1)]],
    increasedAtSeconds: 0,
    decreasedAtSeconds: 0,
  }
}

/** Profit of all positions of a side that could be claimed from the pool; buckets in loss count as 0. */
export function positivePoolPnl(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  let sum = 0n
  for (const slot of [0, 1] as const) {
    const tokens = slotValue(settings, state[side].interestInTokens, slot)
    const usd = slotValue(settings, state[side].interestUsd, slot)
    sum += max(0n, side === 'long' ? tokens * prices.index.max - usd : usd - tokens * prices.index.min)
  }
  return sum
}

/** PnL of a whole position, USD, capped by the side's share of the pool; `uncappedUsd` without the cap. */
export function positionPnl(
  settings: MarketSettings,
  state: MarketState,
  position: Pick<PositionState, 'side' | 'sizeInUsd' | 'sizeInTokens'>,
  prices: MarketPrices,
): { readonly usd: bigint; readonly uncappedUsd: bigint } {
  const { side, sizeInUsd, sizeInTokens } = position
  const raw =
    side === 'long'
      ? sizeInTokens * prices.index.min - sizeInUsd
      : sizeInUsd - sizeInTokens * prices.index.max
  if (raw <= 0n) return { usd: raw, uncappedUsd: raw }
  const poolPnl = positivePoolPnl(settings, state, side, prices)
  const cap = fac(poolUsd(settings, state, side, prices), settings.maxPnlFactorForTraders[side])
  if (poolPnl > cap && cap > 0n) return { usd: (raw * cap) / poolPnl, uncappedUsd: raw }
  return { usd: raw, uncappedUsd: raw }
}

/** Index token units that a decrease of `sizeDeltaUsd` closes. */
export function tokensClosed(position: PositionState, sizeDeltaUsd: bigint): bigint {
  if (sizeDeltaUsd === position.sizeInUsd) return position.sizeInTokens
  const product = position.sizeInTokens * sizeDeltaUsd
  return position.side === 'long' ? ceilDiv(product, position.sizeInUsd) : product / position.sizeInUsd
}

/** Result of a liquidation check. */
export interface LiquidationCheck {
  readonly isLiquidatable: boolean
  /** `min collateral`, `< 0`, `min collateral for leverage`, or empty. */
  readonly reason: string
  readonly remainingCollateralUsd: bigint
  readonly minCollateralUsdForLeverage: bigint
}

/** Checks whether a position may be liquidated; the state must be accrued to now. */
export function checkLiquidation(
  settings: MarketSettings,
  state: MarketState,
  position: PositionState,
  prices: MarketPrices,
  options: { readonly forLiquidation: boolean; readonly checkMinCollateralUsd: boolean },
): LiquidationCheck {
  const collateralPrice = slotPrice(prices, position.slot)
  const pnl = positionPnl(settings, state, position, prices).usd
  const close = positionPriceImpact(
    settings,
    state,
    position.side,
    -position.sizeInUsd,
    -position.sizeInTokens,
    prices,
  )
  const pending = position.pendingImpactAmount
  let impact =
    capImpactByMaxFactor(settings, close.impactUsd, position.sizeInUsd) +
    pending * (pending > 0n ? prices.index.min : prices.index.max)
  if (impact >= 0n) impact = 0n
  else impact = max(impact, -fac(position.sizeInUsd, settings.maxPositionImpactFactorForLiquidations))
  const fees = positionFees(settings, state, position, collateralPrice, {
    sizeDeltaUsd: position.sizeInUsd,
    balanceWasImproved: close.balanceWasImproved,
  })
  const remaining =
    position.collateralAmount * collateralPrice.min +
    pnl +
    impact -
    fees.totalCostAmount * collateralPrice.min
  const factor = options.forLiquidation
    ? settings.minCollateralFactorForLiquidation
    : settings.minCollateralFactor
  const forLeverage = fac(position.sizeInUsd, factor)
  const reason =
    options.checkMinCollateralUsd && remaining < settings.minCollateralUsd
      ? 'min collateral'
      : remaining <= 0n
        ? '< 0'
        : remaining < forLeverage
          ? 'min collateral for leverage'
          : ''
  return {
    isLiquidatable: reason !== '',
    reason,
    remainingCollateralUsd: remaining,
    minCollateralUsdForLeverage: forLeverage,
  }
}
