/** Fees that a market takes for changing a position, by its configuration. */
import type { MarketConfig } from '../api/rows/marketInfoTypes.ts'
import { mulDiv } from '../protocol/units.ts'

/** Hundredths of a basis point of an order's size; null where the venue does not say it. */
export interface PositionFees {
  /** Fee of an order that balances longs and shorts of the market. */
  readonly balancingBps100: number | null
  /** Fee of an order that does not: the higher one. */
  readonly unbalancingBps100: number | null
}

/** The fees of a market; both null without its configuration. */
export function positionFeesOf(config: MarketConfig | undefined): PositionFees {
  return {
    balancingBps100: bps100Of(config?.positionFeeFactorForBalanceWasImproved),
    unbalancingBps100: bps100Of(config?.positionFeeFactorForBalanceWasNotImproved),
  }
}

/** A factor with 30 decimals as hundredths of a basis point. */
function bps100Of(factor: bigint | undefined): number | null {
  return factor === undefined ? null : Number(mulDiv(factor, 1_000_000n, 10n ** 30n))
}
