/** What the hosts' `Date` headers tell about our wall clock, over jumps of that clock and over a machine that was suspended. */
import type { Clock } from '../../base/clock.ts'

/** The hosts' clocks as they were heard. */
export interface HostClocks {
  /** One reading of a host's clock: its `Date` (whole seconds) against the middle of our request, which has just ended. */
  saw(host: string, serverDateMs: number, tookMs: number): void
  /** The host's clock less our wall clock, ms; undefined while no reading of it counts. */
  skewMs(host: string): number | undefined
}

interface Reading {
  /** The host's clock less our monotonic one, ms: a jump of our wall clock does not reach it. */
  readonly hostMs: number
  /** Our wall clock less our monotonic one at that time, ms. */
  readonly wallMs: number
}

/** Readings kept of each host: odd, so that the median is one of them. */
const READINGS = 9

/** Half of the second that a `Date` header leaves unsaid. */
const HALF_DATE_STEP_MS = 500

/** Our two clocks went apart by more than a correction does, ms: one was set, or the monotonic one stood still. */
const JUMP_MS = 2_000

/** Hosts that must be heard after a jump before what all said earlier counts no more: one alone may be wrong. */
const HEARD_AGAIN = 2

/** Makes the readings of all hosts. Pure but for the clock. */
export function createHostClocks(clock: Pick<Clock, 'now' | 'monotonicMs'>): HostClocks {
  const readings = new Map<string, Reading[]>()
  const wallMs = (): number => clock.now() - clock.monotonicMs()

  /**
   * Readings from before a jump are right when the wall clock was set, and wrong by its length when the machine slept, for then the
   * monotonic clock stood still. Nothing of ours tells one from the other; the next answers do.
   */
  function countsOf(host: string): readonly Reading[] {
    const nowMs = wallMs()
    const isSince = (reading: Reading): boolean => Math.abs(reading.wallMs - nowMs) <= JUMP_MS
    let again = 0
    for (const each of readings.values()) if (each.some(isSince)) again += 1
    const all = readings.get(host) ?? []
    return again >= Math.min(HEARD_AGAIN, readings.size) ? all.filter(isSince) : all
  }

  return {
    saw(host, serverDateMs, tookMs) {
      const own = readings.get(host) ?? []
      readings.set(host, own)
      const middleMs = clock.monotonicMs() - tookMs / 2
      own.push({ hostMs: serverDateMs + HALF_DATE_STEP_MS - middleMs, wallMs: wallMs() })
      if (own.length > READINGS) own.shift()
    },

    skewMs(host) {
      const sorted = countsOf(host)
        .map(({ hostMs }) => hostMs)
        .toSorted((one, other) => one - other)
      const median = sorted[Math.floor(sorted.length / 2)]
      return median === undefined ? undefined : median - wallMs()
    },
  }
}
