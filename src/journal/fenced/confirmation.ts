/** The moment at which the right to a journal was last confirmed, and what follows from its age. */
import type { Clock } from '../../base/clock.ts'
import type { LeaseTimes } from './leaseTimes.ts'

/** A moment by both clocks: the monotonic one stands still while a machine sleeps, and the wall clock may be set. */
export interface Moment {
  readonly monotonicMs: number
  /** Unix ms. */
  readonly wallMs: number
}

/** Returns this moment. */
export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now() }
}

/** The newest confirmation. */
export class Confirmation {
  readonly #times: LeaseTimes
  #last: Moment

  /** `last`: when the right was asked for that was given, or was last confirmed. */
  constructor(times: LeaseTimes, last: Moment) {
    this.#times = times
    this.#last = last
  }

  /** Returns the moment at which the newest confirmation was asked for. */
  last(): Moment {
    return this.#last
  }

  /** Notes that what was asked for at a moment confirmed it. */
  note(asked: Moment): void {
    if (asked.monotonicMs >= this.#last.monotonicMs) this.#last = asked
  }

  /** Its age, ms, by the clock that says more. */
  ageMs({ monotonicMs, wallMs }: Moment): number {
    return Math.max(monotonicMs - this.#last.monotonicMs, wallMs - this.#last.wallMs)
  }

  /** The age by the monotonic clock above which nothing is signed, ms; undefined below it. */
  staleMs({ monotonicMs }: Moment): number | undefined {
    const ageMs = monotonicMs - this.#last.monotonicMs
    return ageMs > this.#times.staleMs ? ageMs : undefined
  }

  /** Tells whether it is young enough to be trusted on. */
  isYoung(asked: Moment): boolean {
    return this.ageMs(asked) <= this.#times.staleMs
  }

  /** Tells whether a candidate may have taken the right meanwhile. */
  mayBeTaken(asked: Moment): boolean {
    const { staleMs, standStillMs, lookMs } = this.#times
    return this.ageMs(asked) > Math.max(staleMs, standStillMs - lookMs)
  }
}
