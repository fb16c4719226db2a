/** The time of each task that runs: it runs on where the clock is set back, so that no task lasts for longer than it was given. */
import type { Clock } from '../base/clock.ts'
import { CLOCK_JUMP_MS, createOnwardClock } from '../base/onwardClock.ts'

/** The times of tasks. */
export interface TaskTimes {
  /** Gives how far the clock was set back since a task began, ms; of one of before this process, at least as far as its start is ahead. */
  setBackSince(task: { readonly taskId: string; readonly sinceMs: number }): number
  /** Time that the clock has run without a step, ms: a machine that slept ends it too. Asked for at each look, it misses none. */
  straightMs(): number
  /** Forgets a task that ended. */
  delete(taskId: string): unknown
}

/** Begins without tasks. */
export function createTaskTimes(clock: Clock): TaskTimes {
  const times = new Map<string, Clock>()
  const courseMs = () => clock.now() - clock.monotonicMs()
  let straight = { courseMs: courseMs(), sinceMs: clock.monotonicMs() }
  return {
    straightMs() {
      const [nowMs, course] = [clock.monotonicMs(), courseMs()]
      const isStep = Math.abs(course - straight.courseMs) > CLOCK_JUMP_MS
      straight = { courseMs: course, sinceMs: isStep ? nowMs : straight.sinceMs }
      return nowMs - straight.sinceMs
    },
    setBackSince({ taskId, sinceMs }) {
      const time = times.get(taskId) ?? createOnwardClock(clock, sinceMs)
      times.set(taskId, time)
      return time.now() - clock.now()
    },
    delete: (taskId) => times.delete(taskId),
  }
}
