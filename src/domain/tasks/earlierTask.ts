/**
 * Records of unwinds and kills from before tasks had records of their own. Journals of users hold them; nothing writes them any
 * more. They are raised to today's as they are folded, so that what was under way goes on as a task.
 */
import { KILL, KILL_VERSION, killBegins } from './killState.ts'
import { runningTasks, type TaskEntry, type Tasks } from './taskRecord.ts'
import { UNWIND, UNWIND_VERSION, type UnwindOutcome, unwindBegins, unwindTaskId } from './unwindState.ts'

/** What was kept: the part of an account's record that is not its stamp. `of` is the order's intent. */
export type EarlierTaskEntry =
  | { readonly kind: 'flatten.wanted'; readonly of: string; readonly by: string; readonly reason: string }
  | {
      readonly kind: 'flatten.ended'
      readonly of: string
      readonly outcome: UnwindOutcome
      readonly statement: string
    }
  | { readonly kind: 'kill.started'; readonly by: string; readonly close: boolean }
  | { readonly kind: 'kill.ended'; readonly by: string; readonly outcome: 'done' | 'abandoned' }

/** Kinds of the entries above. */
export const earlierTaskKinds = [
  'flatten.wanted',
  'flatten.ended',
  'kill.started',
  'kill.ended',
] as const satisfies readonly EarlierTaskEntry['kind'][]

/** What an earlier record of `atMs` says in today's words, of these tasks. Pure. */
export function raiseEarlierTask(tasks: Tasks, entry: EarlierTaskEntry, atMs: number): readonly TaskEntry[] {
  switch (entry.kind) {
    case 'flatten.wanted': {
      const { of: intentId, by, reason } = entry
      const params = { intentId, reason }
      return [
        {
          kind: 'task.started',
          taskId: unwindTaskId(intentId),
          taskKind: UNWIND,
          version: UNWIND_VERSION,
          by,
          params,
          state: unwindBegins,
        },
      ]
    }
    case 'flatten.ended': {
      const { of, outcome, statement } = entry
      return [{ kind: 'task.ended', taskId: unwindTaskId(of), outcome, by: 'perpd', statement }]
    }
    case 'kill.started': {
      const { by, close } = entry
      // A kill had no id: one of the same millisecond is the one that takes its place.
      const isTaken = (count: number) => tasks.has(earlierKillId(atMs, count))
      let count = 1
      while (isTaken(count)) count += 1
      return [
        ...endsOfKills(tasks, by, 'replaced'),
        {
          kind: 'task.started',
          taskId: earlierKillId(atMs, count),
          taskKind: KILL,
          version: KILL_VERSION,
          by,
          params: { close },
          state: killBegins,
        },
      ]
    }
    case 'kill.ended':
      return endsOfKills(tasks, entry.by, entry.outcome)
  }
}

function earlierKillId(atMs: number, count: number): string {
  return `${KILL}:at-${atMs}${count === 1 ? '' : `-${count}`}`
}

function endsOfKills(tasks: Tasks, by: string, outcome: string): readonly TaskEntry[] {
  return runningTasks(tasks, KILL).map(({ taskId }) => ({ kind: 'task.ended', taskId, outcome, by }))
}
