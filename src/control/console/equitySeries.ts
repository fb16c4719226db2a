/** The account's equity over months, as a bounded curve. Older spans are coarser; each span retains its highest and its lowest figure. */
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

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Length of the span that figures are thinned to, by their least age, ms; oldest first. */
const spans = [
  { fromAgeMs: 31 * dayMs, spanMs: dayMs },
  { fromAgeMs: dayMs, spanMs: 2 * hourMs },
  { fromAgeMs: 10 * minuteMs, spanMs: 2 * minuteMs },
  { fromAgeMs: 0, spanMs: 10_000 },
] as const
/** Most points: more than three years. */
const mostPoints = 5_000

/**
 * A series that goes on from figures that were kept, oldest first.
 *
 * @param most points kept, 2 or more; of more than these the oldest go
 */
export function createEquitySeries(
  before: readonly EquityPoint[] = [],
  most: number = mostPoints,
): EquitySeries {
  let kept = thinnedPoints(before).slice(-most)
  return {
    take(point) {
      const newest = kept.at(-1)
      if (newest !== undefined && point.atMs <= newest.atMs) return
      kept = thinnedPoints([...kept, point]).slice(-most)
    },
    points: () => kept,
  }
}

/**
 * Retains the highest and the lowest figure of each span, so that no fall is lost, and always the newest figure. Thinning a thinned list with later
 * figures gives the same result as thinning all figures at once. `points`: oldest first.
 */
export function thinnedPoints(points: readonly EquityPoint[]): readonly EquityPoint[] {
  const newest = points.at(-1)
  if (newest === undefined) return []
  const bySpan = Map.groupBy(points.slice(0, -1), ({ atMs }) => spanOf(atMs, newest.atMs))
  const kept = [...bySpan.values()].flatMap((group) => extremes(group))
  return [...kept, newest]
}

/** The span that a moment lies in, as a key. A span is as coarse as its end is old, so that all of it is judged alike. */
function spanOf(atMs: number, nowMs: number): string {
  for (const { fromAgeMs, spanMs } of spans) {
    const index = Math.floor(atMs / spanMs)
    if (nowMs - (index + 1) * spanMs >= fromAgeMs) return `${spanMs} ${index}`
  }
  return `now ${Math.floor(atMs / spans[3].spanMs)}`
}

/** The lowest and the highest of a span in the order in which they were; the earlier where two are alike. */
function extremes(group: readonly EquityPoint[]): readonly EquityPoint[] {
  const [first] = group
  if (first === undefined) return []
  let [low, high] = [first, first]
  for (const point of group) {
    if (point.equityUsd < low.equityUsd) low = point
    if (point.equityUsd > high.equityUsd) high = point
  }
  if (low === high) return [low]
  return low.atMs < high.atMs ? [low, high] : [high, low]
}
