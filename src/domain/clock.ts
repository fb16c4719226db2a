/** Time, always handed in: the system's in live and paper, a jumping one in backtest and simulation. */
export interface Clock {
  /** Wall clock, Unix milliseconds. Stamps records and compares with the venue's times; decides nothing final. */
  now(): number
  /** Monotonic milliseconds since some fixed point; drives timers, latencies and ages. */
  monotonicMs(): number
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
