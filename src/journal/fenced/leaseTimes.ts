/** Times of the lease of a journal on a server. */

/** Times, ms. A candidate waits longer for a beat than a holder signs without one. */
export interface LeaseTimes {
  /** Between two beats. */
  readonly beatMs: number
  /** Age of the last confirmed beat above which nothing is signed. */
  readonly staleMs: number
  /** A candidate takes the right when the beat stood so long. */
  readonly standStillMs: number
  /** Between two looks of a candidate. */
  readonly lookMs: number
}

/** Times of a daemon's lease. */
export const defaultLeaseTimes: LeaseTimes = {
  beatMs: 2_000,
  staleMs: 4_000,
  standStillMs: 7_000,
  lookMs: 250,
}
