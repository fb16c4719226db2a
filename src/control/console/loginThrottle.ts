/** Limits the rate of log-in attempts at the console. */

/** Counts log-ins that failed. */
export interface LoginThrottle {
  /** True while another log-in from this address may be tried. */
  isOpen(address: string): boolean
  /** One from this address failed. */
  failed(address: string): void
}

/** Failures that count together, ms. */
const windowMs = 60_000
/** Most failures of one address, and of all together, in that time. */
const mostOfAddress = 5
const mostOfAll = 30

/**
 * A throttle without failures. It never keeps more than those of all together, so that a flood takes no memory.
 *
 * @param now any clock in ms; only differences count.
 */
export function createLoginThrottle(now: () => number): LoginThrottle {
  let failures: readonly { readonly address: string; readonly atMs: number }[] = []
  const recent = () => {
    const since = now() - windowMs
    failures = failures.filter(({ atMs }) => atMs > since)
    return failures
  }
  return {
    isOpen(address) {
      const all = recent()
      return all.length < mostOfAll && all.filter((each) => each.address === address).length < mostOfAddress
    },
    failed(address) {
      failures = [...recent(), { address, atMs: now() }].slice(-mostOfAll)
    },
  }
}
