/** Distance of our clock from the venue's, as several hosts report it. */

/**
 * Returns the median of the hosts' readings of our clock's error, ms; of two in the middle the one nearer to 0. A single host with a wrong `Date`
 * therefore denies nothing among several hosts, while a wrong clock of ours shows with most of them. 0 without a reading.
 */
export function medianSkewMs(readingsMs: readonly number[]): number {
  const sorted = readingsMs.toSorted((one, other) => one - other)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0
  if (sorted.length % 2 === 1) return upper
  const lower = sorted[sorted.length / 2 - 1] ?? 0
  return Math.abs(lower) <= Math.abs(upper) ? lower : upper
}
