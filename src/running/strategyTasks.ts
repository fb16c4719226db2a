/**
 * Tasks of strategies: the outcome of a decision that starts or ends one, and a strategy's view of its own tasks. A task belongs to one instance and
 * one label for ever, so that a repeated decision starts nothing twice.
 */

import type { Trading } from '../account/halts/tradingHalts.ts'
import type { WallClock } from '../base/clock.ts'
import type { Event } from '../domain/event.ts'
import type { TaskDecision as TaskDecisionOf } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { labelOfTask, type StopWish, strategyTaskId } from '../domain/taskStates/executorState.ts'
import type { OwnTask } from '../domain/taskStates/ownTask.ts'
import type { TaskEntry } from '../domain/taskStates/taskRecord.ts'
import { plannedTask } from '../tasks/plannedTask.ts'
import { taskChanged, taskStarted } from '../tasks/taskFacts.ts'
import type { OwnerFacts } from '../tasks/taskRow.ts'
import { type ExecutorTask, isExecutor, rowOfTask, type TaskWish } from '../tasks/taskRows.ts'

/** Most tasks of one instance that run at once. */
const RUNNING_MOST = 20
/** Newest tasks that ended which a strategy is shown. */
const ENDED_MOST = 20

type TaskDecision = TaskDecisionOf<TaskWish>

/** Outcome of a decision about a task. */
export type TaskPlan =
  | { readonly kind: 'denied'; readonly denial: Denial }
  /** It was begun, or is to end, already. */
  | { readonly kind: 'same' }
  /** `begun` is to be called once `fact` is durable. */
  | { readonly kind: 'new'; readonly fact: TaskEntry; begun(): void }

/** Results of a task's orders. */
export interface TaskFigures extends Pick<OwnTask, 'doneUsd' | 'exitedUsd' | 'openUsd'> {
  /** Its messages whose end is not proven. */
  readonly inFlight: number
}

/** Dependencies of strategies' tasks. */
export interface StrategyTasksParts {
  readonly trading: Trading
  readonly clock: WallClock
  readonly emit: (event: Event) => void
  /** Facts for planning a task of an instance, besides a snapshot. */
  readonly planFacts: (owner: string) => OwnerFacts
  readonly figuresOf: (task: ExecutorTask) => Promise<TaskFigures>
  /** Has a running task end: a step that is written meanwhile keeps the wish. */
  readonly expectStop: (taskId: string, wish: StopWish) => void
  readonly wake: () => void
}

/** Source of a decision about a task. */
export interface TaskSource {
  readonly name: string
  /** Exits of its file; absent: none. */
  readonly exits?: unknown
}

/** The tasks of strategies. */
export interface StrategyTasks {
  /**
   * Plans the record of a decision. Refuses with EXITS_TWICE, TASKS_TOO_MANY, TRADING_HALTED under a kill, TASK_NOT_FOUND, and the codes of
   * `plannedTask`.
   */
  plan(source: TaskSource, decision: TaskDecision, snapshot: Snapshot): TaskPlan
  /** Those that run, oldest first, then the newest that ended. */
  own(name: string): Promise<readonly OwnTask[]>
}

/** Makes them. */
export function createStrategyTasks(parts: StrategyTasksParts): StrategyTasks {
  const { trading, clock, emit } = parts
  /** Figures of tasks that ended and of which nothing is left at the venue: they change no more. */
  const ended = new Map<string, TaskFigures>()
  const all = () => [...(trading.accountJournal.state().tasks?.values() ?? [])].filter(isExecutor)
  const ownOf = (name: string) => all().filter(({ params }) => params.owner === name)

  function started(
    { name, exits }: TaskSource,
    { label, task: wish, reason }: Extract<TaskDecision, { kind: 'start-task' }>,
    snapshot: Snapshot,
  ): TaskPlan {
    const taskId = strategyTaskId(wish.kind, name, label)
    if (trading.accountJournal.state().tasks?.has(taskId) === true) return { kind: 'same' }
    if (exits !== undefined && rowOfTask(wish.kind).hasExits?.(wish) === true) {
      const denial = {
        code: 'EXITS_TWICE',
        reason: `the file of ${name} has an exit block, but a ${wish.kind} with its own exits would move the same orders; use only one of them`,
      }
      return { kind: 'denied', denial }
    }
    const running = ownOf(name).filter(({ end }) => end === undefined).length
    if (running >= RUNNING_MOST) {
      const denial = {
        code: 'TASKS_TOO_MANY',
        reason: `${name} already runs ${running} tasks; another waits until one ends`,
      }
      return { kind: 'denied', denial }
    }
    if (trading.halts().some(({ cause }) => cause === 'kill')) {
      const denial = { code: 'TRADING_HALTED', reason: 'a kill is in force, so no task can start' }
      return { kind: 'denied', denial }
    }
    const asked = `${wish.kind} ${label}: ${reason}`
    const facts = { ...parts.planFacts(name), snapshot, nowMs: clock.now(), asked, owner: name }
    const found = plannedTask(wish, facts)
    if ('code' in found) return { kind: 'denied', denial: found }
    const { messages: _, ...planned } = found
    return {
      kind: 'new',
      fact: taskStarted({ taskId, taskKind: wish.kind, by: name, ...planned }),
      begun() {
        emit({ type: 'task.started', taskId, by: name, asked })
        parts.wake()
      },
    }
  }

  function stopped(name: string, { label, reason }: Extract<TaskDecision, { kind: 'stop-task' }>): TaskPlan {
    const task = ownOf(name).find(({ taskId, end }) => end === undefined && labelOfTask(taskId) === label)
    if (task === undefined) {
      const denial = { code: 'TASK_NOT_FOUND', reason: `no task ${label} of ${name} runs` }
      return { kind: 'denied', denial }
    }
    const { state } = task
    if (state?.stop !== undefined) return { kind: 'same' }
    const stop = { by: name, reason }
    const { taskId, version } = task
    parts.expectStop(taskId, stop)
    return {
      kind: 'new',
      fact: taskChanged({ taskId, version, state: { ...state, stop } }),
      begun: parts.wake,
    }
  }

  async function shown(task: ExecutorTask): Promise<OwnTask> {
    const { taskId, taskKind, params, sinceMs, end, state } = task
    const figures = ended.get(taskId) ?? (await parts.figuresOf(task))
    if (end !== undefined && figures.inFlight === 0) ended.set(taskId, figures)
    return {
      label: labelOfTask(taskId),
      kind: taskKind,
      standing: end !== undefined ? 'ended' : state?.stop !== undefined ? 'stopping' : 'running',
      sinceMs,
      sizeUsd: params.sizeUsd,
      doneUsd: figures.doneUsd,
      exitedUsd: figures.exitedUsd,
      openUsd: figures.openUsd,
      ...(end === undefined
        ? {}
        : { outcome: end.outcome as NonNullable<OwnTask['outcome']>, endedAtMs: end.atMs }),
    }
  }

  return {
    plan: (source, decision, snapshot) =>
      decision.kind === 'start-task' ? started(source, decision, snapshot) : stopped(source.name, decision),
    async own(name) {
      const tasks = ownOf(name)
      const over = tasks.filter(({ end }) => end !== undefined).slice(-ENDED_MOST)
      const running = tasks.filter(({ end }) => end === undefined)
      return await Promise.all([...running, ...over.toReversed()].map(shown))
    },
  }
}
