/** Shares as percentages for people. Never to be parsed again. */
import { absOf } from './units.ts'

/** Places of a percentage that is a tenth of a percent or more, and the most of a smaller one. */
const USUAL_PLACES = 2
const MOST_PLACES = 6

/**
 * A part of a whole in percent, signed: two places, and of what is less than a tenth of a percent two digits of what it is (`0.019%`, `-0.47%`,
 * `12.34%`), rounded half away from zero. A share of nothing is `0.00%`.
 */
export function formatPercent(part: bigint, whole: bigint): string {
  if (part === 0n || whole === 0n) return '0.00%'
  const [share, of] = [absOf(part) * 100n, absOf(whole)]
  let places = USUAL_PLACES
  // Two digits of it: one more place for each zero behind the point.
  while (places < MOST_PLACES && share * 10n ** BigInt(places) < 10n * of) places += 1
  const scale = 10n ** BigInt(places)
  const rounded = (share * scale * 2n + of) / (2n * of)
  if (rounded === 0n) return '0.00%'
  const digits = rounded.toString().padStart(places + 1, '0')
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return `${part < 0n === whole < 0n ? '' : '-'}${text}%`
}
