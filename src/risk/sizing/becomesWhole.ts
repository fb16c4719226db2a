/**
 * Partial decreases that the venue and the contract turn into full closes, because too little would be left of the position
 * (DecreaseOrderUtils and DecreasePositionUtils.decreasePosition; the venue's client counts by the same rule when it prepares).
 */
import type { MarketView } from '../../domain/snapshot.ts'
import type { Position } from '../../protocol/position.ts'
import { bps, maxOf, minOf, mulDiv, mulDivUp, ONE_USD, type Usd } from '../../protocol/units.ts'
import { minCollateralFactor } from './liquidation.ts'

/** A partial decrease of a position. */
export interface PartialDecrease {
  /** USD, above 0 and at most the position's size. */
  readonly sizeDeltaUsd: Usd
  readonly keepLeverage: boolean
  /** Distance that the price may move against the position before the order is counted anew, bps of its size; 0: none. */
  readonly adverseBps: number
}

/**
 * Tells whether the decrease becomes a full close. It does if the rest would be smaller than the market's smallest position. It also does if the part
 * realizes a loss and the collateral left after it fails two checks: it is below the least factor of the position's size, and, with the loss of the
 * rest, below the least collateral.
 */
export function becomesWhole(
  position: Position,
  { sizeDeltaUsd, keepLeverage, adverseBps }: PartialDecrease,
  view: MarketView,
): boolean {
  const { sizeInUsd, remainingCollateralUsd } = position
  const { minPositionSizeUsd, minCollateralUsd } = view.market
  const restUsd = sizeInUsd - sizeDeltaUsd
  if (restUsd <= 0n || restUsd < minPositionSizeUsd) return true
  const pnlUsd = position.pnlUsd - bps(sizeInUsd, adverseBps)
  const lossUsd = mulDivUp(maxOf(0n, -pnlUsd), sizeDeltaUsd, sizeInUsd)
  if (lossUsd === 0n) return false
  const heldUsd = maxOf(0n, remainingCollateralUsd)
  const leftUsd = (keepLeverage ? mulDiv(heldUsd, restUsd, sizeInUsd) : heldUsd) - lossUsd
  const neededUsd = mulDivUp(sizeInUsd, minCollateralFactor(view, sizeInUsd), ONE_USD)
  const restLossUsd = minOf(0n, pnlUsd + lossUsd)
  return leftUsd < neededUsd && leftUsd + restLossUsd < minCollateralUsd
}
