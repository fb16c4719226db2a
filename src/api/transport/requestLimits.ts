/** Limits of the transport, all with names, units and defaults. */

/** Limits of the transport; each has a default in `defaultApiLimits`. */
export interface ApiLimits {
  /** Longest wait for a read or a status, ms; Infinity waits for ever. */
  readonly timeoutMs: number
  /** Longest wait for prepare, ms (the venue's own limit is 60 s). */
  readonly prepareTimeoutMs: number
  /** Longest wait for the answer to a submit, ms; then the order is followed by its status. */
  readonly submitTimeoutMs: number
  /** Attempts of one read, prepare or status. A submit always has one. */
  readonly attempts: number
  /** First backoff, ms; doubles with each attempt. The wait is drawn evenly from 0 to it. */
  readonly backoffMs: number
  readonly backoffMaxMs: number
  /** A longer `Retry-After` than this is not waited for, ms. */
  readonly retryAfterMaxMs: number
  /** Reads in flight at one host. */
  readonly concurrencyPerHost: number
  /** Reads a second at one host in the long run (none published; gaps: 5 is polite); Infinity for no limit. */
  readonly requestsPerSecondPerHost: number
  /** Reads at one host that may leave at once. */
  readonly burstPerHost: number
  /** Reads that may wait for one host, and as many of history; more are refused. */
  readonly queuePerHost: number
  /** Failures in a row after which a host is in cooldown. */
  readonly failuresToCooldown: number
  /** First rest, ms; doubles while the host stays bad. */
  readonly cooldownMs: number
  readonly cooldownMaxMs: number
  /** Oldest price of a host whose prices count as going on, ms; with older ones it failed, and its fallbacks are asked. */
  readonly maxPriceAgeMs: number
}

/** Defaults of all limits. */
export const defaultApiLimits: ApiLimits = {
  timeoutMs: 10_000,
  prepareTimeoutMs: 20_000,
  submitTimeoutMs: 20_000,
  attempts: 4,
  backoffMs: 250,
  backoffMaxMs: 5_000,
  retryAfterMaxMs: 10_000,
  concurrencyPerHost: 8,
  requestsPerSecondPerHost: 5,
  burstPerHost: 20,
  queuePerHost: 100,
  failuresToCooldown: 3,
  cooldownMs: 5_000,
  cooldownMaxMs: 120_000,
  maxPriceAgeMs: 15_000,
}
