/** Watches this machine's clock for steps back, against its own course and against the journal. */
import type { Clock } from '../../base/clock.ts'
import { CLOCK_STEP_MS } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Emit } from '../../domain/event.ts'

/** Time between two looks, ms. */
const LOOK_MS = 5_000

/** The clock, and what it is held against. */
export interface ClockWatch {
  readonly clock: Clock
  /** When the journal's newest record was written at this start, Unix ms; 0 without one. */
  readonly newestAtMs: number
  /** The hosts' clocks less this one, ms; undefined before any was heard. */
  readonly hostsAheadMs: () => number | undefined
  readonly emit: Emit
  readonly signal: AbortSignal
}

/**
 * Reports each step back of `CLOCK_STEP_MS` or more until the signal aborts. A step forth is none: a machine that slept makes one. What a
 * time server corrects bit by bit is held against the reading before alone, and so reports nothing.
 */
export async function watchClock(parts: ClockWatch): Promise<void> {
  const { clock, newestAtMs, hostsAheadMs, emit, signal } = parts
  const report = (backMs: number, against: 'itself' | 'journal'): void => {
    if (backMs < CLOCK_STEP_MS) return
    const aheadMs = hostsAheadMs()
    emit({
      type: 'daemon.clockSetBack',
      ...{ backMs, against },
      ...defined({ hostsAheadMs: aheadMs }),
    })
  }
  const courseMs = (): number => clock.now() - clock.monotonicMs()
  let beforeMs = courseMs()
  const startedBackMs = newestAtMs - clock.now()
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    await clock.sleep(LOOK_MS, signal)
    if (signal.aborted) return
    // By then hosts have told their time.
    if (isFirst) report(startedBackMs, 'journal')
    const nowMs = courseMs()
    report(beforeMs - nowMs, 'itself')
    beforeMs = nowMs
  }
}
