/** Limits the terms of a decrease to what the position can give (contract `DecreasePositionUtils`, `decreasePosition`). */
import type { DecreaseResult, DecreaseTerms } from './decreaseTerms.ts'
import { fac, max, min } from './integer.ts'
import {
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  slotPrice,
} from './marketState.ts'
import { positionPnl } from './positionMath.ts'
import type { PositionState } from './positionState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/**
 * Size and withdrawal after the cuts and the automatic full close.
 *
 * @throws ProtocolRevert InvalidDecreaseOrderSize, UnableToWithdrawCollateral
 */
export function normaliseDecrease(
  settings: MarketSettings,
  state: MarketState,
  position: PositionState,
  terms: DecreaseTerms,
  prices: MarketPrices,
): {
  readonly sizeDeltaUsd: bigint
  readonly withdrawal: bigint
  readonly withdrawalCuts: DecreaseResult['withdrawalCuts']
} {
  let size = terms.kind === 'liquidation' ? position.sizeInUsd : terms.sizeDeltaUsd
  if (size > position.sizeInUsd) {
    if (terms.kind === 'market' || terms.kind === 'deleveraging') {
      throw new ProtocolRevert('InvalidDecreaseOrderSize', [size, position.sizeInUsd])
    }
    size = position.sizeInUsd
  }
  let withdrawal = min(terms.collateralAmount, position.collateralAmount)
  const withdrawalCuts: [bigint, bigint][] = []
  if (withdrawal < terms.collateralAmount) withdrawalCuts.push([terms.collateralAmount, withdrawal])
  if (size < position.sizeInUsd) {
    const price = slotPrice(prices, position.slot).min
    const pnl = positionPnl(settings, state, position, prices).usd
    const realised = (pnl * size) / position.sizeInUsd
    const rest = pnl - realised
    let remaining = (position.collateralAmount - withdrawal) * price + min(0n, realised)
    const factor = max(
      settings.minCollateralFactor,
      fac(
        max(0n, interestUsd(settings, state, position.side) - size),
        settings.minCollateralFactorForOpenInterest[position.side],
      ),
    )
    const isSufficient = remaining >= 0n && remaining >= fac(position.sizeInUsd - size, factor)
    if (!isSufficient || remaining + rest < settings.minCollateralUsd) {
      if (size === 0n) throw new ProtocolRevert('UnableToWithdrawCollateral', [remaining])
      remaining += withdrawal * price
      withdrawalCuts.push([withdrawal, 0n])
      withdrawal = 0n
    }
    if (remaining + rest < settings.minCollateralUsd) size = position.sizeInUsd
    const left = position.sizeInUsd - size
    if (left > 0n && left < settings.minPositionSizeUsd) size = position.sizeInUsd
  }
  if (size === position.sizeInUsd) withdrawal = 0n
  return { sizeDeltaUsd: size, withdrawal, withdrawalCuts }
}
