/** Runs the tasks of a kind whose tasks all begin alike, and keeps the problem that stops each: it is reported once, and again when it changes. */
import type { HasTrading } from '../account/accountParts.ts'
import type { TaskState } from '../domain/taskStates/taskRecord.ts'
import type { HasClock } from '../execution/context/executionParts.ts'
import { runningTasks } from '../tasks/taskFacts.ts'
import type { ProcessKind } from '../tasks/taskKind.ts'
import { createTaskRunner, type TaskRunner, type TaskRunnerParts } from '../tasks/taskRunner.ts'

type Told<Params, State, View> = Parameters<TaskRunnerParts<Params, State, View>['told']>

/** Parts in which one kind differs from another. */
export interface ProcessWorkerParts<Params, State, View>
  extends Pick<TaskRunnerParts<Params, State, View>, 'pollMs' | 'admit' | 'read' | 'see' | 'ended'> {
  readonly kind: ProcessKind<Params, State, View>
  /** The problems that a look shows, a clause each; undefined: it shows nothing of them, and the last problem stays. */
  readonly problems: (
    next: Told<Params, State, View>[2],
    answers: Told<Params, State, View>[3],
  ) => readonly string[] | undefined
  /** Receives a new problem, for people. */
  readonly waits: (params: Params, problem: string) => void
}

/** A worker. */
export interface ProcessWorker<Params, State> extends TaskRunner {
  /** Tasks that are not over, oldest first. */
  open(): readonly TaskState<Params, State>[]
  /** Returns the problem that stops a task; undefined: none, or it is over. */
  problemOf(taskId: string): string | undefined
}

/** A worker over the account's records. */
export function createProcessWorker<Params, State, View>(
  { clock, trading: { accountJournal } }: HasClock & HasTrading,
  { kind, problems, waits, ended, ...parts }: ProcessWorkerParts<Params, State, View>,
): ProcessWorker<Params, State> {
  const known = new Map<string, string>()
  const tasks = () => accountJournal.state().tasks
  const open = () => runningTasks(kind, tasks())

  function tell(
    { taskId, params }: { readonly taskId: string; readonly params: Params },
    problem: string,
  ): void {
    if (problem === '') known.delete(taskId)
    else if (known.get(taskId) !== problem) {
      known.set(taskId, problem)
      waits(params, problem)
    }
  }

  const runner = createTaskRunner({
    ...parts,
    ...{ kind, clock, tasks },
    write: (entry) => accountJournal.write(entry),
    told(task, _view, next, answers) {
      const shown = problems(next, answers)
      if (shown !== undefined) tell(task, shown.join('; '))
    },
    failed: tell,
    ended(task, end) {
      known.delete(task.taskId)
      ended(task, end)
    },
  })

  return {
    ...runner,
    open,
    problemOf: (taskId) => known.get(taskId),
  }
}
