/** A simulated day: one timeline for the venue and the daemon, moved on when all that was woken has done its work. */
import type { Clock } from '../../src/base/clock.ts'
import { createTimeline, processClock } from '../simulation/timeline.ts'

/** Turns of the event loop without anything new after which all is quiet: a group commit of the journal takes one. */
const QUIET_TURNS = 3

/** The day's time. */
export interface DayTime {
  /** Milliseconds since the day began. */
  readonly nowMs: number
  /** A clock that is `offsetMs` off the daemon's. */
  clock(offsetMs?: number): Clock
  /** Work that the timeline does not know of: while any is under way, time stands. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Does `work` every `everyMs`. */
  every(everyMs: number, work: () => void): void
  /** Moves on to `untilMs` of the day. */
  runTo(untilMs: number): Promise<void>
}

/** Makes a day at its beginning. */
export function createDayTime(): DayTime {
  const timeline = createTimeline()
  let inWork = 0
  /** Counts all that began or slept: a turn that leaves it as it was, was quiet. */
  let moves = 0

  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const before = moves
      await new Promise((resolve) => setImmediate(resolve))
      quiet = inWork === 0 && moves === before ? quiet + 1 : 0
    }
  }

  const every = (everyMs: number, work: () => void): void => {
    timeline.after(everyMs, () => {
      work()
      every(everyMs, work)
    })
  }
  return {
    get nowMs() {
      return timeline.nowMs
    },
    clock(offsetMs = 0) {
      const clock = processClock(
        timeline,
        () => true,
        () => offsetMs,
      )
      return {
        now: clock.now,
        monotonicMs: clock.monotonicMs,
        sleep: (ms, signal) => {
          moves += 1
          return clock.sleep(ms, signal)
        },
      }
    },
    async busy(work) {
      inWork += 1
      moves += 1
      try {
        return await work()
      } finally {
        inWork -= 1
        moves += 1
      }
    },
    every,
    async runTo(untilMs) {
      await settle()
      while (timeline.runNext(untilMs)) await settle()
      timeline.after(untilMs - timeline.nowMs, () => undefined)
      while (timeline.runNext(untilMs)) await settle()
    },
  }
}
