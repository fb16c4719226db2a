import { defined } from '../../base/defined.ts'

/**
 * Journal records about tasks: processes of several steps that resume after a restart (`src/tasks`). Each step is written in the commit of its
 * decisions. State and parameters are values of the task's own kind, which a record carries unchanged.
 */

/** A record of a task: the part of an account's record that is not its stamp. */
export type TaskEntry =
  | {
      readonly kind: 'task.started'
      /** Unique in the journal, and of one task for ever. */
      readonly taskId: string
      readonly taskKind: string
      /** Version of the kind's parameters and state. */
      readonly version: number
      /** An operator's name, or the strategy that asked. */
      readonly by: string
      /** Goal of the task; never changes. Plain values, bigints and maps. */
      readonly params: unknown
      /** Progress of the task: the same sort of values, at most `TASK_STATE_MOST_BYTES` as text. */
      readonly state: unknown
    }
  | {
      readonly kind: 'task.changed'
      readonly taskId: string
      readonly version: number
      readonly state: unknown
    }
  | {
      readonly kind: 'task.ended'
      readonly taskId: string
      readonly outcome: string
      /** `perpd` when it ended by itself. */
      readonly by: string
      /** One sentence: the result. */
      readonly statement?: string
    }

/** Kinds of the entries above. */
export const taskKinds = [
  'task.started',
  'task.changed',
  'task.ended',
] as const satisfies readonly TaskEntry['kind'][]

/** Most bytes of a task's state, and of its parameters, as text of a record: 64 KiB. */
export const TASK_STATE_MOST_BYTES = 65_536

/** The way in which a task ended. */
export interface TaskEnd {
  /** Unix ms. */
  readonly atMs: number
  readonly outcome: string
  readonly by: string
  readonly statement?: string
}

/** A task as its records tell it. `Params` and `State`: in the words of its kind (`tasks/taskFacts.ts`). */
export interface TaskState<Params = unknown, State = unknown> {
  readonly taskId: string
  readonly taskKind: string
  /** Version of `state` and `params`. */
  readonly version: number
  readonly by: string
  readonly params: Params
  /** Absent when it ended. */
  readonly state?: State
  /** Unix ms. */
  readonly sinceMs: number
  /** Absent while it runs. */
  readonly end?: TaskEnd
}

/** All of a journal, by id, oldest first. */
export type Tasks = ReadonlyMap<string, TaskState>

/** Before the first record. */
export const noTasks: Tasks = new Map()

/**
 * The fold after one more record of `atMs`. Pure. A second start of a task changes nothing, and neither does a change or an end
 * of one that does not run.
 */
export function applyTaskEntry(tasks: Tasks, entry: TaskEntry, atMs: number): Tasks {
  const known = tasks.get(entry.taskId)
  if (entry.kind === 'task.started') {
    if (known !== undefined) return tasks
    const { taskId, taskKind, version, by, params, state } = entry
    return new Map(tasks).set(taskId, { taskId, taskKind, version, by, params, state, sinceMs: atMs })
  }
  if (known === undefined || known.end !== undefined) return tasks
  if (entry.kind === 'task.changed') {
    const { version, state } = entry
    return new Map(tasks).set(entry.taskId, { ...known, version, state })
  }
  const { outcome, by, statement } = entry
  const { state: _, ...ended } = known
  const end = { atMs, outcome, by, ...defined({ statement }) }
  return new Map(tasks).set(entry.taskId, { ...ended, end })
}
