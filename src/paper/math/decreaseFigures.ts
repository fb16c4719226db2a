/** Computes the figures of a decrease before any money moves: prices, PnL, execution, impact and fees. */
import { defined } from '../../base/defined.ts'
import type { DecreaseTerms } from './decreaseTerms.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  pnlSlot,
  type Slot,
  slotPrice,
} from './marketState.ts'
import { positionFees } from './positionFees.ts'
import { executionOfDecrease, pendingImpactOf, settledImpact } from './positionImpact.ts'
import { positionPnl, tokensClosed } from './positionMath.ts'
import type { PositionState } from './positionState.ts'

/** The figures of one decrease. Amounts in token units, USD with 30 decimals. */
export type DecreaseFigures = ReturnType<typeof decreaseFigures>

/**
 * Figures of a decrease by its final size; nothing is changed.
 *
 * @throws ProtocolRevert with the contract's error
 */
export function decreaseFigures(
  settings: MarketSettings,
  draft: MarketState,
  position: PositionState,
  sizeDeltaUsd: bigint,
  terms: DecreaseTerms,
  prices: MarketPrices,
) {
  const { side, slot } = position
  const stored = (one: Slot): Slot => (settings.isSameCollaterals ? 0 : one)
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
    ...defined({ uiFeeFactor: terms.uiFeeFactor }),
  })
  return {
    collateralPrice,
    profitSlot,
    profitPrice,
    profitIsCollateral,
    /** Where the market keeps the two tokens: in one place when they are the same. */
    collateralPool: stored(slot),
    profitPool: stored(profitSlot),
    closedTokens,
    basePnlUsd,
    execution,
    pending,
    totalImpactUsd,
    priceImpactDiffUsd,
    fees,
  }
}
