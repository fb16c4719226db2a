/**
 * Runs the tasks of one kind: folded from the journal at the start, looked at in turns, and continued until they are done.
 *
 * A decision is accepted in one commit with the resulting state, and its key consists of the task's id and the step. A crash between two steps
 * therefore leaves both or neither, and a repeated step is refused.
 */
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { TaskEntry, TaskState, Tasks } from '../domain/taskStates/taskRecord.ts'
import { isSameState, runningTasks, stateIn, taskChanged } from './taskFacts.ts'
import type { Child, Next, ProcessKind, RunningTask, TaskKind } from './taskKind.ts'

/** Admission's answer to a decision of a task; no denial: it was accepted. */
export interface Answer<State> {
  readonly child: Child<State>
  readonly denial?: Denial
}

/** Denials that stop a task of a kind, a clause each; those that only say "not yet" are left out. */
export function denialsOf<Params, State, View>(
  { notYet }: ProcessKind<Params, State, View>,
  answers: readonly Answer<State>[],
): readonly string[] {
  return answers.flatMap(({ child: { decision }, denial }) =>
    denial === undefined || notYet.has(denial.code)
      ? []
      : [`${decision.kind}: ${denial.code}, ${denial.reason}`],
  )
}

/** Hands a decision to admission; `beside` writes what must be durable in the commit of its acceptance. */
export type AdmitBeside = (
  snapshot: Snapshot,
  decision: Decision,
  decisionKey: string,
  beside: () => Promise<void>,
) => Promise<Denial | undefined>

/** Dependencies of the runner of a kind. */
export interface TaskRunnerParts<Params, State, View> {
  readonly kind: TaskKind<Params, State, View>
  /** Wait between two looks, ms. */
  readonly pollMs: number
  readonly clock: Clock
  readonly tasks: () => Tasks | undefined
  /** Writes a record; appends it before it awaits anything, and resolves when it is durable and folded. */
  readonly write: (entry: TaskEntry) => Promise<void>
  readonly admit: AdmitBeside
  /** Makes the task's view, with the data that was read for it; undefined: not enough to judge it by. */
  readonly see: (
    task: RunningTask<Params, State>,
    snapshot?: Snapshot,
  ) => Promise<View | undefined> | View | undefined
  /** Reads the data that the task requested. Rejects as reading does. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Receives the result of a look, for people. */
  readonly told: (
    task: RunningTask<Params, State>,
    view: View,
    next: Extract<Next<State>, { readonly kind: 'go-on' }>,
    answers: readonly Answer<State>[],
  ) => void
  /** A look failed, and is tried again. */
  readonly failed: (task: TaskState<Params, State>, reason: string) => void
  /** It is over, durably. */
  readonly ended: (
    task: RunningTask<Params, State>,
    end: Extract<Next<State>, { readonly kind: 'done' }>,
  ) => void
}

/** Runs the tasks of a kind. */
export interface TaskRunner {
  /** A task was begun: it is looked at now. */
  wake(): void
  /** Works while one runs. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** Makes the runner of a kind. */
export function createTaskRunner<Params, State, View>(
  parts: TaskRunnerParts<Params, State, View>,
): TaskRunner {
  const { kind, clock, write } = parts
  const waiting = new Set<() => void>()
  const running = () => runningTasks(kind, parts.tasks())
  const isRunning = (taskId: string) => running().some((task) => task.taskId === taskId)

  async function lookAt(kept: TaskState<Params, State>): Promise<void> {
    const { taskId, by, sinceMs } = kept
    const task = { taskId, by, sinceMs, params: kept.params, state: stateIn(kept, kind) }
    const { version } = kind
    let view = await parts.see(task)
    if (view === undefined) return
    let next = kind.next(task, view)
    let snapshot: Snapshot | undefined
    if (next.kind === 'read') {
      snapshot = await parts.read(next.symbols)
      view = await parts.see(task, snapshot)
      if (view === undefined) return
      next = kind.next(task, view)
    }
    if (next.kind === 'read') throw new TypeError(`task ${taskId}: it asks twice for what it was shown`)
    if (!isRunning(taskId)) return
    if (next.kind === 'done') {
      const { outcome, statement } = next
      await write({
        kind: 'task.ended',
        taskId,
        outcome,
        by: 'perpd',
        ...defined({ statement }),
      })
      parts.ended(task, next)
      return
    }
    if (!isSameState(next.state, task.state)) await write(taskChanged({ taskId, version, state: next.state }))
    const answers: Answer<State>[] = []
    for (const child of next.decisions) {
      if (snapshot === undefined) throw new TypeError(`task ${taskId}: it decides on what it did not read`)
      // An operator may have ended it while the one before was being admitted.
      if (!isRunning(taskId)) return
      const changed = taskChanged({ taskId, version, state: child.state })
      const denial = await parts.admit(snapshot, child.decision, child.decisionKey, () => write(changed))
      answers.push({ child, ...defined({ denial }) })
    }
    parts.told(task, view, next, answers)
  }

  return {
    wake() {
      for (const wake of waiting) wake()
      waiting.clear()
    },
    async run(signal) {
      while (!signal.aborted) {
        for (const task of running()) {
          try {
            await lookAt(task)
          } catch (error) {
            if (!(error instanceof BaseError) || error.code.startsWith('JOURNAL_')) throw error
            parts.failed(task, reasonOf(error))
          }
        }
        if (running().length > 0) {
          await clock.sleep(parts.pollMs, signal)
          continue
        }
        await new Promise<void>((resolve) => {
          waiting.add(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
  }
}
