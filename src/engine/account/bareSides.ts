/**
 * Since when sides are without a stop-loss: by the journal, so that it holds over restarts and whoever asks how often; of orders
 * of other clients, whose ends no record tells, by this process's own looks.
 */

import type { DiscrepancyState } from '../../domain/account/accountRecord.ts'
import { type PositionSide, sideKeyOf } from '../../domain/account/accountRecord.ts'
import type { BookReads } from '../../domain/books/books.ts'
import type { SideWithoutStop } from './stops.ts'

/** A side for which no stop-loss rests. */
export interface BareSide extends SideWithoutStop {
  /** Since when, Unix ms: its first fill, the end of its last stop, or the last look that showed another client's. */
  readonly sinceMs: number
}

/** What a look goes by. */
export interface BareFacts {
  readonly held: readonly PositionSide[]
  readonly bare: readonly SideWithoutStop[]
  readonly books: Pick<BookReads, 'heldSince' | 'stopEndedAt'>
  /** What the account shows that the journal does not explain: such a position began when it was told at the latest. */
  readonly findings: readonly Pick<DiscrepancyState, 'finding' | 'raisedAtMs'>[]
  /** Unix ms. */
  readonly nowMs: number
}

/** Takes looks; what it remembers is when a side last had a stop, and when one was first seen without. */
export function createBareSides(): (facts: BareFacts) => readonly BareSide[] {
  const coveredMs = new Map<string, number>()
  const firstMs = new Map<string, number>()
  return ({ held, bare, books, findings, nowMs }) => {
    const bareKeys = new Set(bare.map(sideKeyOf))
    const heldKeys = new Set(held.map(sideKeyOf))
    for (const known of [coveredMs, firstMs]) {
      for (const key of known.keys()) if (!heldKeys.has(key)) known.delete(key)
    }
    for (const key of heldKeys) {
      if (bareKeys.has(key)) continue
      coveredMs.set(key, nowMs)
      firstMs.delete(key)
    }
    return bare.map((side) => {
      const key = sideKeyOf(side)
      const first = firstMs.get(key) ?? nowMs
      firstMs.set(key, first)
      const told = findings.find(({ finding }) => sideKeyOf(finding) === key)
      const begunMs = books.heldSince(side) ?? told?.raisedAtMs ?? first
      const sinceMs = Math.max(begunMs, books.stopEndedAt(side) ?? 0, coveredMs.get(key) ?? 0)
      return { ...side, sinceMs: Math.min(sinceMs, nowMs) }
    })
  }
}
