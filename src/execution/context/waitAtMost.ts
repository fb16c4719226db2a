/** Bounded waiting for slow work, without abandoning it. */
import type { Timer } from '../../base/clock.ts'

/** Resolves when the work is done, or after so long, ms; the work then continues. Rejects as the work does while it is waited for. */
export async function waitAtMost(clock: Timer, longestMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const finished = work.finally(() => done.abort('done'))
  await Promise.race([finished, clock.sleep(longestMs, done.signal)])
}
