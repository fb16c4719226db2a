/** History in words, for people. */

import { isoTime } from '../../base/clock.ts'
import type { TimeRange } from '../../history/gaps.ts'
import type { Outlier, SeriesQuality } from '../../history/quality.ts'

/** A moment in UTC: `2024-01-31 12:00`. */
export function minuteText(seconds: number): string {
  return isoTime(seconds * 1_000)
    .slice(0, 16)
    .replace('T', ' ')
}

/** A length of time: `3 d 4 h`, `12 min`. */
export function lengthText(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor((seconds % 86_400) / 3_600),
    Math.floor((seconds % 3_600) / 60),
  ]
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`
  return hours > 0 ? (minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`) : `${minutes} min`
}

/** A range with its length. */
export function rangeText({ fromSeconds, toSeconds }: TimeRange): string {
  return `${minuteText(fromSeconds)} to ${minuteText(toSeconds)} (${lengthText(toSeconds - fromSeconds)})`
}

/** Sum of lengths, seconds. */
export function sumSeconds(ranges: readonly TimeRange[]): number {
  return ranges.reduce((sum, { fromSeconds, toSeconds }) => sum + toSeconds - fromSeconds, 0)
}

/** `3 gaps, 2 h 5 min in all` and so on; `no gap` where there is none. */
export function qualityText({ gaps, flat, outliers }: SeriesQuality): string {
  const counted = (ranges: readonly TimeRange[], word: string): string =>
    ranges.length === 0
      ? `no ${word}`
      : `${ranges.length} ${word}${ranges.length === 1 ? '' : 's'}, ${lengthText(sumSeconds(ranges))} in all`
  const far =
    outliers.length === 0 ? 'no outlier' : `${outliers.length} outlier${outliers.length === 1 ? '' : 's'}`
  return `${counted(gaps, 'gap')}; ${counted(flat, 'range')} without a move; ${far}`
}

/** Describes an outlier with its move. */
export function outlierText({ atSeconds, moveBps }: Outlier): string {
  return `${minuteText(atSeconds)}, ${(moveBps / 100).toFixed(2)} % from the close before`
}
