/** Pauses between tries of what may be put right meanwhile: a file, a remote signer, an endpoint. */

/** The first pause, and the longest one, ms. */
const [FIRST_PAUSE_MS, MOST_PAUSE_MS] = [1_000, 60_000]

/** Pauses that grow. */
export interface GrowingPause {
  /** Returns the next one, ms: 1 s at first, then twice the one before, at most 60 s. */
  readonly next: () => number
  /** Begins with the first one again. */
  readonly reset: () => void
}

/** Makes one. */
export function createGrowingPause(): GrowingPause {
  let pauseMs = FIRST_PAUSE_MS
  return {
    next() {
      const own = pauseMs
      pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS)
      return own
    },
    reset() {
      pauseMs = FIRST_PAUSE_MS
    },
  }
}
