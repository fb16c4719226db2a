/** Derives the skew of our wall clock from the hosts' `Date` headers, across jumps of that clock and suspensions of the machine. */
import type { Clocks } from '../../base/clock.ts'

/** The hosts' clocks as they were heard. */
export interface HostClocks {
  /** One reading of a host's clock: its `Date` (whole seconds) against the middle of our request, which has just ended. */
  saw(host: string, serverDateMs: number, request: TimedRequest): void
  /** The host's clock less our wall clock, ms; undefined while no reading of it counts. */
  skewMs(host: string): number | undefined
}

/** When a request was under way. */
export interface TimedRequest {
  /** When it left, by our wall clock, Unix ms. */
  readonly leftAtMs: number
  /** Duration by our monotonic clock, ms. */
  readonly tookMs: number
}

interface Reading {
  /** The host's clock less our monotonic one, ms: a jump of our wall clock does not reach it. */
  readonly hostMs: number
  /** Our wall clock less our monotonic one at that time, ms. */
  readonly wallMs: number
  readonly isExact: boolean
}

/** Readings kept of each host: odd, so that the median is one of them. */
const READINGS = 9

/** Half of the second that a `Date` header leaves unsaid. */
const HALF_DATE_STEP_MS = 500

/** Our two clocks went apart by more than a correction does, ms: one was set, or the monotonic one stood still. */
const JUMP_MS = 2_000

/** Longest that the request of an exact reading takes, ms: nobody knows when between its two ends the host wrote its `Date`. */
const EXACT_MS = 10_000

/** Hosts that must be heard after a jump before what all said earlier counts no more: one alone may be wrong. */
const HEARD_AGAIN = 2

/** All readings together. */
interface Heard {
  /** The median of each host, ms, as `Reading.hostMs`. */
  readonly medians: ReadonlyMap<string, number>
  /** The least and the most of `Reading.wallMs`, ms. */
  readonly leastMs: number
  readonly mostMs: number
}

function heardOf(readings: ReadonlyMap<string, readonly Reading[]>): Heard {
  const walls = [...readings.values()].flat().map(({ wallMs }) => wallMs)
  const medians = [...readings].flatMap(([host, own]) => {
    const median = medianOf(own)
    return median === undefined ? [] : [[host, median] as const]
  })
  return { medians: new Map(medians), leastMs: Math.min(...walls), mostMs: Math.max(...walls) }
}

function medianOf(readings: readonly Reading[]): number | undefined {
  const sorted = readings.map(({ hostMs }) => hostMs).toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)]
}

/** Makes the readings of all hosts. Pure but for the clock. */
export function createHostClocks(clock: Clocks): HostClocks {
  const readings = new Map<string, Reading[]>()
  /** Medians of all readings by host, and the narrowest and widest of our clocks apart at any; made anew once another is heard. */
  let heard: Heard | undefined
  const wallMs = (): number => clock.now() - clock.monotonicMs()

  /**
   * Readings from before a jump are right when the wall clock was set, and wrong by its length when the machine slept, for then the
   * monotonic clock stood still. Nothing of ours tells one from the other; the next exact answers do.
   */
  function countsOf(host: string): readonly Reading[] {
    const nowMs = wallMs()
    const isSince = (reading: Reading): boolean => Math.abs(reading.wallMs - nowMs) <= JUMP_MS
    let again = 0
    let exact = 0
    for (const each of readings.values()) {
      const ofHost = each.filter(({ isExact }) => isExact)
      if (ofHost.length > 0) exact += 1
      if (ofHost.some(isSince)) again += 1
    }
    const all = readings.get(host) ?? []
    return again >= Math.min(HEARD_AGAIN, exact) ? all.filter(isSince) : all
  }

  return {
    saw(host, serverDateMs, { leftAtMs, tookMs }) {
      const middleMs = clock.monotonicMs() - tookMs / 2
      // A process that was stopped, or a machine that slept, between the two ends of a request: its middle says nothing.
      const isExact = tookMs <= EXACT_MS && Math.abs(clock.now() - leftAtMs - tookMs) <= JUMP_MS
      const before = readings.get(host) ?? []
      const wasExact = before.some((reading) => reading.isExact)
      if (wasExact && !isExact) return
      const own = wasExact === isExact ? before : []
      own.push({ hostMs: serverDateMs + HALF_DATE_STEP_MS - middleMs, wallMs: wallMs(), isExact })
      if (own.length > READINGS) own.shift()
      readings.set(host, own)
      heard = undefined
    },

    skewMs(host) {
      heard ??= heardOf(readings)
      const nowMs = wallMs()
      // Without a jump since any of them, all count.
      const isSteady = heard.mostMs - nowMs <= JUMP_MS && nowMs - heard.leastMs <= JUMP_MS
      const median = isSteady ? heard.medians.get(host) : medianOf(countsOf(host))
      return median === undefined ? undefined : median - wallMs()
    },
  }
}
