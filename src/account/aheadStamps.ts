/**
 * Stamps in the future: a clock that was ahead wrote them, or ours was set back. Waits that begin with such a stamp begin when it is first seen. A
 * recent event therefore holds increases back for its whole wait, and for no day more.
 */
import { CLOCK_STEP_MS, type Clocks } from '../base/clock.ts'

/** Stamps by the clock of now. */
export interface AheadStamps {
  /** A stamp as it is, or, where it is to come, how long ago it was first seen; Unix ms. */
  settledMs(atMs: number): number
}

/** Most stamps that are remembered; the one that was seen first goes. */
const mostStamps = 1_000

/** Begins with none. */
export function createAheadStamps(clock: Clocks): AheadStamps {
  /** Times when each was first seen, monotonic ms. */
  const seenMs = new Map<number, number>()
  return {
    settledMs(atMs) {
      if (atMs - clock.now() < CLOCK_STEP_MS) return atMs
      const firstMs = seenMs.get(atMs) ?? clock.monotonicMs()
      seenMs.set(atMs, firstMs)
      const [oldest] = seenMs.keys()
      if (seenMs.size > mostStamps && oldest !== undefined) seenMs.delete(oldest)
      return clock.now() - Math.floor(clock.monotonicMs() - firstMs)
    },
  }
}
