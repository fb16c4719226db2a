/** Tokens in and out of a market's pool and of its position impact pool. */
import { min } from './integer.ts'
import type { MarketState, Slot } from './marketState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Takes tokens out of a pool. Throws ProtocolRevert InsufficientPoolAmount. Mutates the draft. */
export function takeFromPool(draft: MarketState, slot: Slot, amount: bigint): void {
  if (draft.pool[slot] < amount)
    throw new ProtocolRevert('InsufficientPoolAmount', [draft.pool[slot], amount])
  draft.pool[slot] -= amount
}

/** Pays positive impact, index token units: from the impact pool, then lent. Mutates the draft. */
export function takeFromImpactPool(draft: MarketState, amount: bigint): void {
  const fromPool = min(draft.positionImpactPoolAmount, amount)
  draft.positionImpactPoolAmount -= fromPool
  draft.lentPositionImpactPoolAmount += amount - fromPool
}

/** Takes negative impact in, index token units: what was lent is repaid first. Mutates the draft. */
export function addToImpactPool(draft: MarketState, amount: bigint): void {
  const repaid = min(draft.lentPositionImpactPoolAmount, amount)
  draft.lentPositionImpactPoolAmount -= repaid
  draft.positionImpactPoolAmount += amount - repaid
}
