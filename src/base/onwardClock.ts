/** A wall clock that is never set back: a world in which time runs, as that of a chain, whatever happens to the machine's clock. */
import type { Clock } from './clock.ts'

/** A step of the wall clock against the monotonic one that is a jump and no correction, ms. */
export const CLOCK_JUMP_MS = 2_000

/**
 * Makes a clock over `clock` that never tells less than it told, nor less than `leastMs`. Where the wall clock jumps back, it runs on
 * by the monotonic one; where the wall clock jumps forth again, it takes that as the way back first.
 */
export function createOnwardClock(clock: Clock, leastMs = 0): Clock {
  let told = { atMs: Math.max(clock.now(), leastMs), monotonicMs: clock.monotonicMs() }
  /** Its lead over the wall clock, ms. */
  let leadMs = told.atMs - clock.now()
  return {
    now() {
      const [wallMs, monotonicMs] = [clock.now(), clock.monotonicMs()]
      const expectedMs = told.atMs + (monotonicMs - told.monotonicMs)
      const apartMs = expectedMs - (wallMs + leadMs)
      if (apartMs > CLOCK_JUMP_MS) leadMs += apartMs
      else if (apartMs < -CLOCK_JUMP_MS) leadMs = Math.max(0, leadMs + apartMs)
      told = { atMs: Math.max(told.atMs, wallMs + leadMs), monotonicMs }
      // The monotonic clock has parts of a millisecond, and a record has none.
      return Math.floor(told.atMs)
    },
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal, again) => clock.sleep(ms, signal, again),
  }
}
