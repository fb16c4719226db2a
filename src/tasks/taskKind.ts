/**
 * A task: a process of several steps that a restart resumes. Its next step is a pure function of its state and of its view; the runner
 * (`taskRunner.ts`) reads the world for it, hands its decisions to admission, and persists its state in the journal.
 */
import type { Decision } from '../domain/order/decision.ts'
import type { TaskState } from '../domain/taskStates/taskRecord.ts'

/** A decision of a task. */
export interface Child<State> {
  /** The key of the decision: made of the task's id and the step alone, so that a step that is taken again is refused. */
  readonly decisionKey: string
  readonly decision: Decision
  /** The task's state once the decision is accepted: durable in the commit of its acceptance. */
  readonly state: State
}

/** Next step of a task. */
export type Next<State> =
  /** It must see these markets, and every market with a position, to tell. */
  | { readonly kind: 'read'; readonly symbols: readonly string[] }
  | {
      readonly kind: 'go-on'
      /** Its state before any of the decisions is accepted. */
      readonly state: State
      readonly decisions: readonly Child<State>[]
      /** The reason why it cannot continue, besides admission's answers to the decisions. */
      readonly problem?: string
    }
  | { readonly kind: 'done'; readonly outcome: string; readonly statement?: string }

/** A kind of task, pure: the same answer to the same state and view, in every process. */
export interface TaskKind<Params, State, View> {
  readonly name: string
  /** Version of its parameters and state; raised when either changes. */
  readonly version: number
  /** State of an older version as today's. Absent for the first version. */
  readonly upcast?: (version: number, state: unknown) => State
  next(task: RunningTask<Params, State>, view: View): Next<State>
}

/** A kind whose tasks all begin in one state: a kill, an unwind, a wind-down. */
export interface ProcessKind<Params, State, View> extends TaskKind<Params, State, View> {
  /** State before its first step. */
  readonly begins: State
  /** Codes of denials that only say "not yet": they are no problem of the task. */
  readonly notYet: ReadonlySet<string>
}

/** A task that runs, in the words of its kind. */
export interface RunningTask<Params, State> extends Pick<TaskState, 'taskId' | 'by' | 'sinceMs'> {
  readonly params: Params
  readonly state: State
}

/** The key of a decision of a task; `step` is unique in the task. */
export function childKeyOf(taskId: string, step: string | number): string {
  return `${taskId}#${step}`
}
