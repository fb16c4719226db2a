/** Distributions: how many values lie in each of a few equal spans. Pure. */
import type { Decimal } from 'decimal.js'

/** One bucket. Its lower end belongs to it; the last bucket has its upper end too. */
export interface Bucket {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Most spans of a distribution. */
const MOST_BUCKETS = 24

/** Spans of a round width (1, 2 or 5 times a power of ten) that hold all values; at most 24, and one where all are alike. */
export function histogramOf(values: readonly Decimal[]): readonly Bucket[] {
  const numbers = values.map((each) => each.toNumber())
  if (numbers.length === 0) return []
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  const width =
    least === most ? Math.max(Math.abs(least), 1) : roundWidth((most - least) / (MOST_BUCKETS - 2))
  const first = Math.floor(least / width)
  const count = Math.floor(most / width) - first + 1
  const counts = Array.from({ length: count }, () => 0)
  for (const each of numbers) {
    const at = Math.min(count - 1, Math.floor(each / width) - first)
    counts[at] = (counts[at] ?? 0) + 1
  }
  return counts.map((own, at) => ({ from: (first + at) * width, to: (first + at + 1) * width, count: own }))
}

function roundWidth(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  const digit = [1, 2, 5, 10].find((each) => each * power >= least) ?? 10
  return digit * power
}
