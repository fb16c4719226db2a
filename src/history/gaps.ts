/** Where candles are missing. Nothing fills a gap in: who reads a series knows of each. Pure. */

/** A range of time, Unix seconds; the end is no part of it. */
export interface TimeRange {
  readonly fromSeconds: number
  readonly toSeconds: number
}

/**
 * The parts of a range that no candle covers, ascending.
 *
 * @param startSeconds starts of the candles, ascending
 * @param periodSeconds length of each
 */
export function gapsIn(
  startSeconds: Float64Array | readonly number[],
  periodSeconds: number,
  { fromSeconds, toSeconds }: TimeRange,
): readonly TimeRange[] {
  const gaps: TimeRange[] = []
  // A candle starts at a multiple of its length: one that started before the range is no part of it.
  let nextSeconds = Math.ceil(fromSeconds / periodSeconds) * periodSeconds
  for (const seconds of startSeconds) {
    if (seconds < nextSeconds) continue
    if (seconds >= toSeconds) break
    if (seconds > nextSeconds) gaps.push({ fromSeconds: nextSeconds, toSeconds: seconds })
    nextSeconds = seconds + periodSeconds
  }
  if (nextSeconds < toSeconds) gaps.push({ fromSeconds: nextSeconds, toSeconds })
  return gaps
}

/** The parts of a range that none of some ascending ranges covers, ascending. */
export function rangeWithout(range: TimeRange, covered: readonly TimeRange[]): readonly TimeRange[] {
  const left: TimeRange[] = []
  let nextSeconds = range.fromSeconds
  for (const { fromSeconds, toSeconds } of covered) {
    if (toSeconds <= nextSeconds) continue
    if (fromSeconds >= range.toSeconds) break
    if (fromSeconds > nextSeconds) left.push({ fromSeconds: nextSeconds, toSeconds: fromSeconds })
    nextSeconds = toSeconds
  }
  if (nextSeconds < range.toSeconds) left.push({ fromSeconds: nextSeconds, toSeconds: range.toSeconds })
  return left
}

/** Ranges that touch or overlap joined, ascending. */
export function joinRanges(ranges: readonly TimeRange[]): readonly TimeRange[] {
  const joined: TimeRange[] = []
  for (const { fromSeconds, toSeconds } of ranges.toSorted(
    (one, other) => one.fromSeconds - other.fromSeconds,
  )) {
    const last = joined.at(-1)
    if (last !== undefined && fromSeconds <= last.toSeconds)
      joined[joined.length - 1] = { ...last, toSeconds: Math.max(last.toSeconds, toSeconds) }
    else joined.push({ fromSeconds, toSeconds })
  }
  return joined
}
