/** Markets whose facts are not our own, or are contradicted: orders that add risk wait, reductions continue. */
import type { Denial } from '../../domain/order/intent.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import type { ClassifiedDecision } from './checks.ts'

/**
 * MARKET_NOT_TRUSTED: only hosts' statements support the market's facts, its tokens and their decimals, or a host contradicts them. Denies increases
 * only: reductions use our own facts.
 */
export function checkTrusted(
  classified: ClassifiedDecision,
  { market, untrusted }: MarketView,
): Denial | undefined {
  if (!classified.adds || untrusted === undefined) return undefined
  return {
    code: 'MARKET_NOT_TRUSTED',
    reason: `Nothing is added on ${market.symbol}: ${untrusted}. See perpd markets.`,
  }
}
