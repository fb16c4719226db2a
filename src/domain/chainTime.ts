/**
 * The time on the chain, by the newest blocks of its endpoints, our clock and the hosts' clocks. An endpoint is only one witness: one that lags or
 * lies is set aside. Where no endpoint is left, the clocks bound the time.
 */
import { defined } from '../base/defined.ts'

/** Farthest that the time of an endpoint's newest block may be from our clock, or from the hosts', seconds. */
export const HEALTHY_SECONDS = 30
/** Farthest that a window of times reaches to each side of the hosts' time, seconds. */
export const WIDEST_SECONDS = 1_800

/** The newest block of an endpoint. */
export interface EndpointTime {
  readonly endpoint: string
  /** Unix seconds. */
  readonly seconds: number
}

/** An endpoint as it was judged. */
export interface JudgedEndpoint extends EndpointTime {
  /** Lead over our clock or over the hosts' clocks, whichever is nearer; negative: behind. Seconds. */
  readonly aheadSeconds: number
  /** True if its time counts. */
  readonly isHealthy: boolean
}

/** The chain's time as judged, Unix seconds. */
export interface ChainTime {
  readonly endpoints: readonly JudgedEndpoint[]
  /**
   * True if at least one endpoint is healthy and the healthy ones agree. The time is then the earliest of theirs, so that none of them makes a
   * deadline later.
   */
  readonly isKnown: boolean
  readonly earliestSeconds: number
  /** The same as the earliest when the time is known; else at most an hour later, where a host was heard. */
  readonly latestSeconds: number
  /** The most likely time: the hosts' time while the time is not known, and our clock's if no host responded. */
  readonly likelySeconds: number
  /** Lead of our clock over the nearest healthy endpoint, seconds; absent when none is healthy. */
  readonly skewSeconds?: number
}

/**
 * Judges endpoints. `ownSeconds`: our clock; `hostsSeconds`: the median of the hosts' clocks, absent when none was heard.
 *
 * An endpoint is healthy within `HEALTHY_SECONDS` of one of the two. When none is, or healthy ones are so far apart that our
 * clock and the hosts' differ, nobody knows which of all is right: the window spans them all, up to half an hour to each side
 * of the hosts' time.
 */
export function chainTimeOf(
  ownSeconds: number,
  hostsSeconds: number | undefined,
  times: readonly EndpointTime[],
): ChainTime {
  const clocks = hostsSeconds === undefined ? [ownSeconds] : [ownSeconds, hostsSeconds]
  const endpoints = times.map((time): JudgedEndpoint => {
    const aheadSeconds = nearestTo0(clocks.map((clock) => time.seconds - clock))
    return { ...time, aheadSeconds, isHealthy: Math.abs(aheadSeconds) <= HEALTHY_SECONDS }
  })
  const healthy = endpoints.flatMap(({ seconds, isHealthy }) => (isHealthy ? [seconds] : []))
  const skew = defined({
    skewSeconds: healthy.length === 0 ? undefined : nearestTo0(healthy.map((one) => ownSeconds - one)),
  })
  const earliest = Math.min(...healthy)
  if (healthy.length > 0 && Math.max(...healthy) - earliest <= 2 * HEALTHY_SECONDS) {
    const seconds = { earliestSeconds: earliest, latestSeconds: earliest, likelySeconds: earliest }
    return { endpoints, isKnown: true, ...seconds, ...skew }
  }
  const all = [...clocks, ...endpoints.map(({ seconds }) => seconds)]
  // Honest deadlines are counted from the hosts' time: around it lies all that a way out needs.
  const [from, to] =
    hostsSeconds === undefined
      ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
      : [hostsSeconds - WIDEST_SECONDS, hostsSeconds + WIDEST_SECONDS]
  return {
    endpoints,
    isKnown: false,
    earliestSeconds: Math.max(Math.min(...all), from),
    latestSeconds: Math.min(Math.max(...all), to),
    likelySeconds: hostsSeconds ?? ownSeconds,
    ...skew,
  }
}

function nearestTo0(values: readonly number[]): number {
  return values.reduce((one, other) => (Math.abs(other) < Math.abs(one) ? other : one))
}
