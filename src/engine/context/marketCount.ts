/** How many intents were accepted on each market in the last hour. */
import type { IntentState } from '../../domain/order/intent.ts'
import { type Address, hexKey } from '../../protocol/address.ts'

/** The count, over restarts too: it begins with what the journal holds. */
export interface MarketCount {
  add(marketToken: Address, atMs: number): void
  /** Intents on a market that were accepted at `sinceMs` or later. */
  since(marketToken: Address, sinceMs: number): number
}

const hourMs = 3_600_000

/** Begins with intents of before; those older than an hour are left out. */
export function createMarketCount(before: readonly IntentState[], nowMs: number): MarketCount {
  let accepted = before
    .map(({ intent }) => ({ market: hexKey(intent.terms.marketToken), atMs: intent.acceptedAtMs }))
    .filter(({ atMs }) => atMs >= nowMs - hourMs)
  return {
    add(marketToken, atMs) {
      accepted = [
        ...accepted.filter((each) => each.atMs >= atMs - hourMs),
        { market: hexKey(marketToken), atMs },
      ]
    },
    since: (marketToken, sinceMs) =>
      accepted.filter(({ market, atMs }) => market === hexKey(marketToken) && atMs >= sinceMs).length,
  }
}
