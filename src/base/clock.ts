/** Last moment that a date can name, Unix ms (ECMAScript, time values); a time beyond it is none. */
export const LAST_TIME_MS = 8.64e15

/** A moment as `2026-08-22T21:03:11.000Z`. Never throws: one that no date can name is `no date`. */
export function isoTime(atMs: number): string {
  return Math.abs(atMs) <= LAST_TIME_MS ? new Date(atMs).toISOString() : 'no date'
}

/** A clock to read: the time of day. */
export interface WallClock {
  /** Wall clock, Unix milliseconds. Stamps records and compares with the venue's times; decides nothing final. */
  now(): number
}

/** A clock to read: time that only moves forward. */
export interface MonotonicClock {
  /** Monotonic milliseconds since some fixed point; drives timers, latencies and ages. */
  monotonicMs(): number
}

/** Both clocks to read. */
export interface Clocks extends WallClock, MonotonicClock {}

/** Tells at the end of a pause how long nothing is to be done after it, ms; undefined when something is. It changes nothing that another sees. */
export type Again = () => number | undefined

/** A timer to wait by. */
export interface Timer {
  /**
   * Resolves after `ms`, or at once when the signal aborts; never rejects. `again` is asked at the end: the milliseconds that it gives are slept too,
   * without waking anybody for it. A clock may leave it unasked, so that a sleeper asks itself too.
   */
  sleep(ms: number, signal?: AbortSignal, again?: Again): Promise<void>
}

/** Time, always handed in: the system's in live and paper, a jumping one in backtest and simulation. */
export interface Clock extends Clocks, Timer {}

/** A moment by both clocks. */
export interface Moment {
  /** Unix ms. */
  readonly wallMs: number
  readonly monotonicMs: number
}

/** Gives the moment that was so long ago. */
export function momentOf(clock: Clocks, agoMs = 0): Moment {
  return { wallMs: clock.now() - agoMs, monotonicMs: clock.monotonicMs() - agoMs }
}

/**
 * Gives the age of a moment, whole ms: of its two ages the longer one. The monotonic clock stands while the machine sleeps, and the wall clock may be
 * set back.
 */
export function ageMsOf({ wallMs, monotonicMs }: Moment, clock: Clocks): number {
  return Math.max(clock.now() - wallMs, Math.floor(clock.monotonicMs() - monotonicMs))
}

/** A step back of the clock that is reported, ms: more than a time server corrects, and farther than clocks may be apart for an increase. */
export const CLOCK_STEP_MS = 30_000
