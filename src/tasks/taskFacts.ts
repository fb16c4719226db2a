/** Records of tasks as they are written, bounded and in this version's words; and tasks of a kind as they are read. */
import { BaseError } from '../base/errors.ts'
import { encodeExact } from '../domain/records.ts'
import {
  TASK_STATE_MOST_BYTES,
  type TaskEntry,
  type TaskState,
  type Tasks,
} from '../domain/taskStates/taskRecord.ts'
import type { ProcessKind, TaskKind } from './taskKind.ts'

type Started = Extract<TaskEntry, { readonly kind: 'task.started' }>
type Changed = Extract<TaskEntry, { readonly kind: 'task.changed' }>

/** The record that begins a task. Throws BaseError TASK_STATE_TOO_LARGE. */
export function taskStarted(parts: Omit<Started, 'kind'>): Started {
  checkSize(parts.taskId, 'params', parts.params)
  checkSize(parts.taskId, 'state', parts.state)
  return { kind: 'task.started', ...parts }
}

/** The record of a task's new state. Throws as above. */
export function taskChanged(parts: Omit<Changed, 'kind'>): Changed {
  checkSize(parts.taskId, 'state', parts.state)
  return { kind: 'task.changed', ...parts }
}

/** The record that begins a task of a kind whose tasks begin alike. Throws as above. */
export function processStarted<Params, State, View>(
  { name: taskKind, version, begins: state }: ProcessKind<Params, State, View>,
  parts: { readonly taskId: string; readonly by: string; readonly params: Params },
): Started {
  return taskStarted({ ...parts, taskKind, version, state })
}

/** Tasks of a kind, running or ended, oldest first. */
export function tasksOf<Params, State, View>(
  { name }: TaskKind<Params, State, View>,
  tasks: Tasks | undefined,
): readonly TaskState<Params, State>[] {
  const isOf = (task: TaskState): task is TaskState<Params, State> => task.taskKind === name
  return [...(tasks?.values() ?? [])].filter(isOf)
}

/** Tasks of a kind that are not over, oldest first. */
export function runningTasks<Params, State, View>(
  kind: TaskKind<Params, State, View>,
  tasks: Tasks | undefined,
): readonly TaskState<Params, State>[] {
  return tasksOf(kind, tasks).filter(({ end }) => end === undefined)
}

/** Tells whether two states are persisted as the same text. */
export function isSameState(one: unknown, other: unknown): boolean {
  return encodeExact(one) === encodeExact(other)
}

function checkSize(taskId: string, part: 'params' | 'state', value: unknown): void {
  // No global of Node: whoever writes a kind compiles this file without its types.
  const bytes = new TextEncoder().encode(encodeExact(value)).byteLength
  if (bytes <= TASK_STATE_MOST_BYTES) return
  throw new BaseError('The state of a task is too large for a record.', {
    code: 'TASK_STATE_TOO_LARGE',
    facts: { task: taskId, part, bytes, most: TASK_STATE_MOST_BYTES },
    details: 'Nothing was written; the task stays at its previous step.',
  })
}

/**
 * A task's state in the version of its kind.
 *
 * @throws BaseError JOURNAL_TASK_NEWER when a newer perpd wrote it, JOURNAL_TASK_UNREADABLE when nothing raises it.
 */
export function stateIn<State>(
  { taskId, taskKind, version, state }: TaskState,
  kind: { readonly version: number; readonly upcast?: (version: number, state: unknown) => State },
): State {
  if (version === kind.version) return state as State
  const facts = { task: taskId, kind: taskKind, version, readable: kind.version }
  if (version > kind.version) {
    throw new BaseError('A task in the journal was written by a newer perpd.', {
      code: 'JOURNAL_TASK_NEWER',
      facts,
      details: 'Nothing was changed. Run the newer perpd: this version may follow other rules for the task.',
    })
  }
  if (kind.upcast === undefined) {
    throw new BaseError('A task in the journal cannot be read.', { code: 'JOURNAL_TASK_UNREADABLE', facts })
  }
  return kind.upcast(version, state)
}
