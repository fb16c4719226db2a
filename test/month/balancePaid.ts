/**
 * A venue that pays for balance. The venue's own settings, as they were recorded, pay for a balancing position less than a hundredth of a
 * basis point on every market (the exponent of what it pays is 1 where that of what it charges is 1.6 to 2.4), so a month of
 * `impact-capture` on them has no trade. Here each market pays half of what it charges, at the exponent that it charges by.
 */
import type { Venue } from '../../src/paper/server/venue.ts'

/** A market whose balance is worth trading once it is paid for: its impact is steep beside its open interest. */
export const paidMarket = 'SUI/USD [WETH-USDC]'

/** Sets what the markets of a venue pay for balance, in the venue's own sums and in what it serves. Caps stay as they are. */
export function payForBalance({ venueState }: Venue): void {
  for (const market of venueState.markets) {
    const paid = {
      positionImpactFactorPositive: market.settings.positionImpactFactorNegative / 2n,
      positionImpactExponentFactorPositive: market.settings.positionImpactExponentFactorNegative,
    }
    Object.assign(market.settings, paid)
    for (const [name, value] of Object.entries(paid))
      Object.assign(market.config, { [name]: value.toString() })
  }
}
