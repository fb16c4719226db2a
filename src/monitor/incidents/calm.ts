/**
 * Decides how long a trouble must have been over before its end is reported. Otherwise a trouble that comes and goes would be reported each
 * time with its end. So the first end is reported as soon as allowed. Each further one within the hour waits ever longer, up to a quarter of
 * an hour. In any hour at most eight ends of one trouble are reported. One comes at once, then four after 1, 2, 4 and 8 minutes, and three
 * after 15 minutes each.
 */

const HOUR_MS = 3_600_000
/** After the second end within the hour; each further one doubles it. */
const FIRST_MS = 60_000
const MOST_MS = 900_000
/** Troubles remembered at most; the oldest is forgotten, and its next end is told as a first one. */
const MAX_TOPICS = 1_000

/** Memory of the reported ends. */
export interface Calm {
  /** Returns how long the trouble `topic` must have been over by now, ms; `leastMs`: for a first end. */
  neededMs(topic: string, leastMs: number): number
  /** Its end was told. */
  ended(topic: string): void
}

/** One that knows of no end yet. `now`: ms of any clock. */
export function createCalm(now: () => number): Calm {
  const ends = new Map<string, { readonly count: number; readonly atMs: number }>()
  const lately = (topic: string): number => {
    const known = ends.get(topic)
    return known === undefined || now() - known.atMs >= HOUR_MS ? 0 : known.count
  }
  return {
    neededMs(topic, leastMs) {
      const count = lately(topic)
      if (count === 0) return leastMs
      return Math.max(leastMs, Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(20, count - 1)))
    },
    ended(topic) {
      const count = lately(topic) + 1
      // Put in anew, so that the oldest stands first.
      ends.delete(topic)
      ends.set(topic, { count, atMs: now() })
      const [oldest] = ends.keys()
      if (ends.size > MAX_TOPICS && oldest !== undefined) ends.delete(oldest)
    },
  }
}
