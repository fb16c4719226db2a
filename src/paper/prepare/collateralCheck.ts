/** Checks as prepare does whether an increase leaves the collateral that the chain requires (docs/reference/api-coverage.md A25). */
import { refused } from '../http/http.ts'
import { collateralUsdOf, leastCollateralUsd, moveOpenInterest } from '../math/increase.ts'
import { ceilDiv } from '../math/integer.ts'
import {
  cloneMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  slotPrice,
} from '../math/marketState.ts'
import { positionFees } from '../math/positionFees.ts'
import { capImpactByMaxFactor, positionPriceImpact } from '../math/positionImpact.ts'
import { checkLiquidation } from '../math/positionMath.ts'
import type { PositionState } from '../math/positionState.ts'

/** Amounts that an increase adds, all parts together. */
export interface Addition {
  /** Parts of a twap; 1 for any other order. */
  readonly parts: bigint
  readonly sizeDeltaUsd: bigint
  /** Collateral that arrives before fees, collateral token units. */
  readonly collateralAmount: bigint
}

/**
 * Refuses an increase of which a part would leave too little collateral after its fees: less than the least of the chain in USD,
 * or than the least factor, that of the side's open interest included, of the size (PositionUtils.willPositionCollateralBeSufficient
 * and validatePosition). Parts count upon those before them and upon what the position holds.
 *
 * @param state - of the market, accrued to now; stays as it is
 * @param held - the position before, or one of size 0
 * @throws HttpFailure 400 INSUFFICIENT_COLLATERAL; ProtocolRevert when amounts leave the range of the integers
 */
export function requireCollateral(
  settings: MarketSettings,
  state: MarketState,
  held: PositionState,
  addition: Addition,
  prices: MarketPrices,
): void {
  const { parts } = addition
  const draft = cloneMarket(state)
  let position = held
  for (let part = 1n; part <= parts; part += 1n) {
    position = withPart(settings, draft, position, addition, prices)
    const collateralUsd = collateralUsdOf(position, prices)
    const leastUsd = leastCollateralUsd(settings, draft, position)
    const check = checkLiquidation(settings, draft, position, prices, {
      forLiquidation: false,
      checkMinCollateralUsd: true,
    })
    if (collateralUsd >= leastUsd && !check.isLiquidatable) continue
    const least = [leastUsd, check.minCollateralUsdForLeverage, settings.minCollateralUsd].reduce((a, b) =>
      a > b ? a : b,
    )
    const of = parts > 1n ? ` of part ${part} of ${parts}` : ''
    throw refused(
      'INSUFFICIENT_COLLATERAL',
      `Collateral after fees${of} would be ${check.remainingCollateralUsd}, below the minimum of ${least} (USD, 30 decimals)`,
    )
  }
}

/** The position after one more part, with the open interest moved on the draft. */
function withPart(
  settings: MarketSettings,
  draft: MarketState,
  position: PositionState,
  { parts, ...whole }: Addition,
  prices: MarketPrices,
): PositionState {
  const { side, slot } = position
  const { min: low, max: high } = prices.index
  const sizeDeltaUsd = whole.sizeDeltaUsd / parts
  const sizeDeltaInTokens = side === 'long' ? sizeDeltaUsd / high : ceilDiv(sizeDeltaUsd, low)
  const impact = positionPriceImpact(settings, draft, side, sizeDeltaUsd, sizeDeltaInTokens, prices)
  const impactUsd = capImpactByMaxFactor(settings, impact.impactUsd, sizeDeltaUsd)
  const fees = positionFees(settings, draft, position, slotPrice(prices, slot), {
    sizeDeltaUsd,
    balanceWasImproved: impact.balanceWasImproved,
  })
  moveOpenInterest(settings, draft, side, slot, sizeDeltaUsd, sizeDeltaInTokens)
  return {
    ...position,
    collateralAmount: position.collateralAmount + whole.collateralAmount / parts - fees.totalCostAmount,
    sizeInUsd: position.sizeInUsd + sizeDeltaUsd,
    sizeInTokens: position.sizeInTokens + sizeDeltaInTokens,
    pendingImpactAmount: position.pendingImpactAmount + impactUsd / (impactUsd > 0n ? high : low),
    // The fees include the amounts owed so far.
    borrowingFactor: draft[side].cumulativeBorrowingFactor,
    fundingFeeAmountPerSize: draft[side].fundingFeePerSize[settings.isSameCollaterals ? 0 : slot],
  }
}
