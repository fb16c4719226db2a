/** What the account was worth since the daemon started, for a curve: bounded, and coarser the longer it is. */
import type { Usd } from '../../protocol/units.ts'

/** A figure as people are shown it. */
export interface EquityPoint {
  /** When its lists were read, Unix ms. */
  readonly atMs: number
  /** USD, 30 decimals. */
  readonly equityUsd: Usd
}

/** The series. */
export interface EquitySeries {
  /** Takes the newest figure; one that was taken before, or is of before it, is left out. */
  take(point: EquityPoint): void
  /** Oldest first, the newest figure last. */
  points(): readonly EquityPoint[]
}

/** Most points. */
const mostPoints = 2_000
/** Least time between two points at first, ms. */
const firstGapMs = 10_000

/** An empty series. When it is full, every second point goes and the gap doubles, so that it reaches back to the start for ever. `most`: points kept, 2 or more. */
export function createEquitySeries(most: number = mostPoints): EquitySeries {
  let kept: EquityPoint[] = []
  let newest: EquityPoint | undefined
  let gapMs = firstGapMs
  return {
    take(point) {
      if (newest !== undefined && point.atMs <= newest.atMs) return
      newest = point
      const last = kept.at(-1)
      if (last !== undefined && point.atMs - last.atMs < gapMs) return
      kept.push(point)
      if (kept.length < most) return
      kept = kept.filter((_, at) => at % 2 === 0)
      gapMs *= 2
    },
    points: () => (newest === undefined || kept.at(-1) === newest ? kept : [...kept, newest]),
  }
}
