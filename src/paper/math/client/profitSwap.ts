/** Computes the amount that a decrease pays for swapping its profit into the collateral token, as the official client does. */
import { divAwayFromZero, fac, min } from '../integer.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  pnlSlot,
  type Side,
  slotPrice,
} from '../marketState.ts'
import { swapImpactOfUsd } from '../poolSwap.ts'
import { ProtocolRevert } from '../protocolRevert.ts'

/**
 * Swap fee less price impact of a profit, USD; negative where the impact pays more than the fee takes. 0 without profit, and
 * where the pool is too small for it: the client then leaves the swap out (getSwapStats of its library).
 */
export function profitSwapCostUsd(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  side: Side,
  profitUsd: bigint,
): bigint {
  if (profitUsd <= 0n || settings.isSameCollaterals) return 0n
  const slotIn = pnlSlot(settings, side)
  const slotOut = slotIn === 0 ? 1 : 0
  try {
    const { impactUsd, balanceWasImproved } = swapImpactOfUsd(settings, state, slotIn, profitUsd, prices)
    const feeUsd = fac(
      profitUsd,
      balanceWasImproved
        ? settings.swapFeeFactorForBalanceWasImproved
        : settings.swapFeeFactorForBalanceWasNotImproved,
    )
    const priceIn = slotPrice(prices, slotIn).min
    const priceOut = slotPrice(prices, slotOut).max
    const settledUsd =
      impactUsd > 0n
        ? min(impactUsd / priceOut, state.swapImpactPool[slotOut]) * priceOut
        : divAwayFromZero(impactUsd, priceIn) * priceIn
    return feeUsd - settledUsd
  } catch (error) {
    if (error instanceof ProtocolRevert) return 0n
    throw error
  }
}
