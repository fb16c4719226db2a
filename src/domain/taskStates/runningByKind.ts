/** Counts running tasks by kind: the known kinds only, so that the series is bounded. Pure. */
import { executorKinds } from './executorState.ts'
import { KILL } from './killState.ts'
import { runningTasks, type Tasks } from './taskRecord.ts'
import { UNWIND } from './unwindState.ts'
import { WIND_DOWN } from './windDownState.ts'

const kinds = [KILL, UNWIND, WIND_DOWN, ...executorKinds] as const

/** A number for each kind of task, 0 where none runs. */
export type RunningByKind = Readonly<Record<(typeof kinds)[number], number>>

/** Tasks without an end, counted by kind; undefined is an account that never had one. */
export function runningByKind(tasks: Tasks | undefined): RunningByKind {
  return Object.fromEntries(
    kinds.map((kind) => [kind, runningTasks(tasks, kind).length]),
  ) as unknown as RunningByKind
}
