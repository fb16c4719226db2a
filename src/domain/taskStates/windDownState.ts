/** Wind-down of a strategy whose file was removed, as a task of the journal: it stops adding exposure, or its whole position is closed. */
import { runningTasks, type TaskState, type Tasks } from './taskRecord.ts'

/** The kind of these tasks. */
export const WIND_DOWN = 'wind-down'

/** Version of the parameters and the state below. */
export const WIND_DOWN_VERSION = 1

/** Goal of a wind-down. */
export interface WindDownParams {
  /** Name of the instance. */
  readonly strategy: string
  /** True if its own part of positions is closed; else its exits end it. */
  readonly close: boolean
}

/** Progress of a wind-down. */
export interface WindDownProgress {
  /** The newest decision that it made, from 1; 0 before the first. */
  readonly made: number
}

/** Before its first step. */
export const windDownBegins: WindDownProgress = { made: 0 }

/** A strategy that is being wound down. It ends as `done`, or as `taken-over` when a file of its name runs again. */
export interface WindDownState extends WindDownParams {
  readonly taskId: string
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
}

/** Those that are not over, oldest first. */
export function windDownsOf(tasks: Tasks | undefined): readonly WindDownState[] {
  return runningTasks(tasks, WIND_DOWN).map(windDownStateOf)
}

function windDownStateOf({ taskId, params, by, sinceMs }: TaskState): WindDownState {
  return { ...(params as WindDownParams), taskId, by, sinceMs }
}
