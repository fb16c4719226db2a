/** Increase of a position, in the contract's order of steps (contract `IncreasePositionUtils`, `increasePosition`). */
import { defined } from '../../base/defined.ts'
import { accrueBorrowing } from './borrowing.ts'
import { accrueFunding } from './funding.ts'
import { fac, max } from './integer.ts'
import {
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  poolUsd,
  reservedUsd,
  type Side,
  type Slot,
  slotPrice,
} from './marketState.ts'
import { type PositionFees, positionFees } from './positionFees.ts'
import { executionOfIncrease, type IncreaseExecution } from './positionImpact.ts'
import { checkLiquidation, newPosition } from './positionMath.ts'
import type { PositionState } from './positionState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Terms of an increase. */
export interface IncreaseTerms {
  readonly side: Side
  readonly slot: Slot
  /** USD; 0 = a deposit of collateral. */
  readonly sizeDeltaUsd: bigint
  /** Collateral that came in, collateral token units. */
  readonly collateralAmount: bigint
  /** Contract price; undefined = any. */
  readonly acceptablePrice?: bigint
  readonly uiFeeFactor?: bigint
}

/** Result of an increase. */
export interface IncreaseResult {
  readonly position: PositionState
  readonly execution: IncreaseExecution
  readonly fees: PositionFees
  /** Signed: what came in less fees. */
  readonly collateralDeltaAmount: bigint
}

/** Advances funding and borrowing of a market to now. Mutates the draft. */
export function accrue(
  settings: MarketSettings,
  draft: MarketState,
  prices: MarketPrices,
  nowSeconds: number,
): void {
  accrueFunding(settings, draft, prices, nowSeconds)
  accrueBorrowing(settings, draft, prices, nowSeconds)
}

/** Moves open interest and the virtual inventory; deltas signed. Mutates the draft. */
export function moveOpenInterest(
  settings: MarketSettings,
  draft: MarketState,
  side: Side,
  slot: Slot,
  usdDelta: bigint,
  tokenDelta: bigint,
): void {
  const stored: Slot = settings.isSameCollaterals ? 0 : slot
  draft[side].interestUsd[stored] += usdDelta
  draft[side].interestInTokens[stored] += tokenDelta
  const sign = side === 'long' ? -1n : 1n
  if (settings.useOpenInterestInTokensForBalance) draft.virtualInventory.tokens += sign * tokenDelta
  else draft.virtualInventory.usd += sign * usdDelta
}

/**
 * Increases a position (undefined = a new one) on a draft of the market; the caller drops the draft on a revert.
 *
 * @throws ProtocolRevert with the contract's error
 */
export function increasePosition(
  settings: MarketSettings,
  draft: MarketState,
  existing: PositionState | undefined,
  terms: IncreaseTerms,
  prices: MarketPrices,
  nowSeconds: number,
): IncreaseResult {
  const { side, slot, sizeDeltaUsd } = terms
  accrue(settings, draft, prices, nowSeconds)
  const position = existing
    ? { ...existing, claimablePerSize: [...existing.claimablePerSize] as [bigint, bigint] }
    : newPosition(settings, draft, side, slot)
  const stored: Slot = settings.isSameCollaterals ? 0 : slot
  const execution = executionOfIncrease(settings, draft, side, sizeDeltaUsd, terms.acceptablePrice, prices)
  const collateralPrice = slotPrice(prices, slot)
  const fees = positionFees(settings, draft, position, collateralPrice, {
    sizeDeltaUsd,
    balanceWasImproved: execution.balanceWasImproved,
    ...defined({ uiFeeFactor: terms.uiFeeFactor }),
  })
  const collateralDeltaAmount = terms.collateralAmount - fees.totalCostAmount
  draft.pool[stored] += fees.feeAmountForPool
  if (position.collateralAmount + collateralDeltaAmount < 0n) {
    throw new ProtocolRevert('InsufficientCollateralAmount', [
      position.collateralAmount,
      collateralDeltaAmount,
    ])
  }
  position.collateralAmount += collateralDeltaAmount
  draft[side].collateralSum[stored] += collateralDeltaAmount
  requireCollateralSum(settings, draft, side, stored)
  position.pendingImpactAmount += execution.impactAmount
  position.sizeInUsd += sizeDeltaUsd
  position.sizeInTokens += execution.sizeDeltaInTokens
  touch(settings, draft, position)
  position.increasedAtSeconds = nowSeconds
  moveOpenInterest(settings, draft, side, slot, sizeDeltaUsd, execution.sizeDeltaInTokens)
  if (sizeDeltaUsd > 0n) requireCapacity(settings, draft, position, prices)
  if (position.sizeInUsd < settings.minPositionSizeUsd) {
    throw new ProtocolRevert('MinPositionSize', [position.sizeInUsd, settings.minPositionSizeUsd])
  }
  requireNotLiquidatable(settings, draft, position, prices, sizeDeltaUsd === 0n, true)
  return { position, execution, fees, collateralDeltaAmount }
}

/** Brings a position's per-size values to the market's latest. Mutates the position. */
export function touch(settings: MarketSettings, state: MarketState, position: PositionState): void {
  const stored = (slot: Slot): Slot => (settings.isSameCollaterals ? 0 : slot)
  const side = state[position.side]
  position.borrowingFactor = side.cumulativeBorrowingFactor
  position.fundingFeeAmountPerSize = side.fundingFeePerSize[stored(position.slot)]
  position.claimablePerSize = [side.claimablePerSize[stored(0)], side.claimablePerSize[stored(1)]]
}

function requireCollateralSum(settings: MarketSettings, draft: MarketState, side: Side, stored: Slot): void {
  const sum = draft[side].collateralSum[stored]
  const limit = settings.maxCollateralSum[stored][side]
  if (sum > limit) throw new ProtocolRevert('MaxCollateralSumExceeded', [sum, limit])
}

function requireCapacity(
  settings: MarketSettings,
  draft: MarketState,
  position: PositionState,
  prices: MarketPrices,
): void {
  const { side } = position
  const openInterest = interestUsd(settings, draft, side)
  if (openInterest > settings.maxOpenInterest[side]) {
    throw new ProtocolRevert('MaxOpenInterestExceeded', [openInterest, settings.maxOpenInterest[side]])
  }
  const pool = poolUsd(settings, draft, side, prices)
  const reserved = reservedUsd(settings, draft, side, prices)
  const reserveLimit = fac(pool, settings.reserveFactor[side])
  if (reserved > reserveLimit) throw new ProtocolRevert('InsufficientReserve', [reserved, reserveLimit])
  const openInterestLimit = fac(pool, settings.openInterestReserveFactor[side])
  if (reserved > openInterestLimit) {
    throw new ProtocolRevert('InsufficientReserveForOpenInterest', [reserved, openInterestLimit])
  }
  const collateralUsd = collateralUsdOf(position, prices)
  if (collateralUsd < leastCollateralUsd(settings, draft, position)) {
    throw new ProtocolRevert('InsufficientCollateralUsd', [collateralUsd])
  }
}

/** Collateral of a position at the price against it, USD. */
export function collateralUsdOf(position: PositionState, prices: MarketPrices): bigint {
  return position.collateralAmount * slotPrice(prices, position.slot).min
}

/**
 * Least collateral of a position that was increased, USD: a factor of its size, which grows with the open interest of its side
 * (PositionUtils.willPositionCollateralBeSufficient). The draft's open interest holds the increase already.
 */
export function leastCollateralUsd(
  settings: MarketSettings,
  draft: MarketState,
  { side, sizeInUsd }: PositionState,
): bigint {
  const forOpenInterest = settings.minCollateralFactorForOpenInterest[side]
  const factor = max(settings.minCollateralFactor, fac(interestUsd(settings, draft, side), forOpenInterest))
  return fac(sizeInUsd, factor)
}

/** Throws ProtocolRevert LiquidatablePosition when the position as it is now may be liquidated. */
export function requireNotLiquidatable(
  settings: MarketSettings,
  draft: MarketState,
  position: PositionState,
  prices: MarketPrices,
  forLiquidation: boolean,
  checkMinCollateralUsd: boolean,
): void {
  const check = checkLiquidation(settings, draft, position, prices, {
    forLiquidation,
    checkMinCollateralUsd,
  })
  if (check.isLiquidatable) {
    throw new ProtocolRevert('LiquidatablePosition', [
      check.reason,
      check.remainingCollateralUsd,
      settings.minCollateralUsd,
      check.minCollateralUsdForLeverage,
    ])
  }
}
