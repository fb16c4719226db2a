/** Round trips: what a book did from nothing to nothing, folded over what it was brought. Pure. */

import type { TokenAmount, Usd } from '../../protocol/units.ts'
import type { PositionSide } from '../account/accountRecord.ts'
import { sideKeyOf } from '../account/accountRecord.ts'
import type { Posting } from './sideParts.ts'

/** One of them. USD has 30 decimals. */
export interface RoundTrip extends PositionSide {
  readonly strategy: string
  readonly openedAtMs: number
  readonly closedAtMs: number
  /** All that was opened, USD: of one that was added to, the sum. */
  readonly sizeUsd: Usd
  /** What left, index token, base units; 0 where no evidence says it. */
  readonly tokens: TokenAmount
  /** What that had cost, and what it was worth at the end, USD: by the tokens these are the entry and the exit price. */
  readonly entryUsd: Usd
  readonly exitUsd: Usd
  /** Position fees, funding, borrowing, and what sending cost, USD. */
  readonly feesUsd: Usd
  /** After all costs, USD, signed. */
  readonly pnlUsd: Usd
  readonly reductions: number
  /** The order that ended it, or what did that was not ours. */
  readonly endedBy: { readonly id: string; readonly intentId?: string }
}

interface Open {
  readonly openedAtMs: number
  sizeUsd: Usd
  tokens: TokenAmount
  entryUsd: Usd
  exitUsd: Usd
  feesUsd: Usd
  pnlUsd: Usd
  reductions: number
}

/** Collects round trips: each posting in order, as the books tell of them. */
export function createRoundTrips(): {
  take(posting: Posting, side: PositionSide): void
  /** Those that ended, in the order of their ends. */
  ended(): readonly RoundTrip[]
} {
  const open = new Map<string, Open>()
  const ended: RoundTrip[] = []
  return {
    take(posting, side) {
      const { move, strategy, figures, sizeDeltaUsd, sizeInTokens, costUsd, carriedUsd, isFlat } = posting
      const key = `${strategy} ${sideKeyOf(side)}`
      if (sizeDeltaUsd === 0n) return
      const trip = open.get(key) ?? {
        openedAtMs: move.atMs,
        sizeUsd: 0n,
        tokens: 0n,
        entryUsd: 0n,
        exitUsd: 0n,
        feesUsd: 0n,
        pnlUsd: 0n,
        reductions: 0,
      }
      open.set(key, trip)
      if (sizeDeltaUsd > 0n) {
        trip.sizeUsd += sizeDeltaUsd
        return
      }
      const { pricePnlUsd, impactUsd, positionFeesUsd } = figures
      trip.tokens -= sizeInTokens
      trip.entryUsd += costUsd
      trip.exitUsd += side.direction === 'long' ? costUsd + pricePnlUsd : costUsd - pricePnlUsd
      trip.feesUsd += positionFeesUsd + carriedUsd
      trip.pnlUsd += pricePnlUsd + impactUsd - positionFeesUsd - carriedUsd
      trip.reductions += 1
      if (!isFlat) return
      open.delete(key)
      const { id, intentId } = move
      const { marketToken, direction, collateralToken } = side
      ended.push({
        strategy,
        marketToken,
        direction,
        collateralToken,
        closedAtMs: move.atMs,
        ...trip,
        endedBy: { id, ...(intentId === undefined ? {} : { intentId }) },
      })
    },
    ended: () => ended,
  }
}
