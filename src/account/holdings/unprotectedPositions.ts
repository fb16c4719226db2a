/**
 * Times from which sides are without a stop-loss: by the journal, so that they survive restarts and do not depend on how often somebody asks. No
 * record reports the ends of other clients' orders: for these this process's own looks count.
 */

import type { BookReads } from '../../books/books.ts'
import type { DiscrepancyState } from '../../domain/accountRecords/accountRecord.ts'
import { type PositionSide, sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { SideWithoutStop } from './stops.ts'

/** A side without a stop-loss for all of it. */
export interface BareSide extends SideWithoutStop {
  /**
   * Start of the state, Unix ms: its first fill, the end of its last stop, or the last look that showed all of it covered. For a partly covered side,
   * a restarted process knows only the first two. Stops that end or arrive meanwhile change nothing, because they may cover only a part.
   */
  readonly sinceMs: number
}

/** Input of a look. */
export interface BareFacts {
  readonly held: readonly PositionSide[]
  readonly bare: readonly SideWithoutStop[]
  readonly books: BookReads
  /** Discrepancies of the account: such a position began at the latest when it was reported. */
  readonly discrepancies: readonly DiscrepancyState[]
  /** Unix ms. */
  readonly nowMs: number
}

/** Takes looks; it remembers when a side last had stops for all of it, and how long one has been without. */
export function createUnprotectedPositions(): (facts: BareFacts) => readonly BareSide[] {
  const coveredMs = new Map<string, number>()
  /** Start of the bare state of sides that were bare at each look since then. */
  const keptMs = new Map<string, number>()
  return ({ held, bare, books, discrepancies, nowMs }) => {
    const bareKeys = new Set(bare.map(sideKeyOf))
    const heldKeys = new Set(held.map(sideKeyOf))
    for (const known of [coveredMs, keptMs]) {
      for (const key of known.keys()) if (!heldKeys.has(key)) known.delete(key)
    }
    for (const key of heldKeys) {
      if (bareKeys.has(key)) continue
      coveredMs.set(key, nowMs)
      keptMs.delete(key)
    }
    return bare.map((side) => {
      const key = sideKeyOf(side)
      const told = discrepancies.find(({ discrepancy }) => sideKeyOf(discrepancy) === key)
      const heldMs = books.heldSince(side)
      const begunMs = heldMs ?? told?.raisedAtMs ?? nowMs
      const atFirstMs =
        keptMs.get(key) ?? Math.max(begunMs, books.stopEndedAt(side) ?? 0, coveredMs.get(key) ?? 0)
      keptMs.set(key, atFirstMs)
      const sinceMs = Math.max(atFirstMs, heldMs ?? 0)
      return { ...side, sinceMs: Math.min(sinceMs, nowMs) }
    })
  }
}
