/** Asks a server again while its outcome is not known, for a bounded time. */

import type { MonotonicClock, Timer } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { unreachableFault } from './sharedFaults.ts'
import { OutcomeUnknown } from './sharedServer.ts'

/** Repeats what may be repeated: reads, and writes that a second time change nothing. */
export type Steady = <T>(work: () => Promise<T>) => Promise<T>

/** The time between two tries, ms. */
const RETRY_MS = 100

/** Tells whether a server may answer otherwise in a moment: the outcome is not known, or a standby is about to take over. */
export function mayPass(error: unknown): boolean {
  return (
    error instanceof OutcomeUnknown ||
    (error instanceof BaseError && error.code === 'JOURNAL_SERVER_STANDS_BY')
  )
}

/** Makes one over a clock; after `forMs` the fault is JOURNAL_UNREACHABLE. */
export function createSteady(name: string, clock: MonotonicClock & Timer, forMs: number): Steady {
  return async (work) => {
    const beganMs = clock.monotonicMs()
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!mayPass(error)) throw error
        const tookMs = clock.monotonicMs() - beganMs
        if (tookMs >= forMs) throw unreachableFault(name, Math.round(tookMs), error)
        await clock.sleep(RETRY_MS)
      }
    }
  }
}
