/** Markets whose facts are not our own, or are contradicted: what adds risk waits, reductions go on. */
import type { Denial } from '../../domain/order/intent.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import type { ClassifiedDecision } from './checks.ts'

/**
 * MARKET_NOT_TRUSTED: what the market is, its tokens and their decimals, stands on hosts' words alone, or a host contradicts
 * it. Denies increases only: reductions go by our own facts.
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
