/** The rows of all kinds of tasks that make orders over time, and the common queries about a task. */
import { z } from 'zod'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { words } from '../domain/order/decisionValues.ts'
import type { ExecutorParams, ExecutorProgress, TaskGoal } from '../domain/taskStates/executorState.ts'
import type { TaskState, Tasks } from '../domain/taskStates/taskRecord.ts'
import { accumulateTask } from './accumulateTask.ts'
import { bracketTask } from './bracketTask.ts'
import { chaseTask } from './chaseTask.ts'
import { killTask } from './killTask.ts'
import { ladderTask } from './ladderTask.ts'
import { rebalanceTask } from './rebalanceTask.ts'
import { runningTasks } from './taskFacts.ts'
import type { TaskKind } from './taskKind.ts'
import { type AnyTaskRow, movesOf } from './taskRow.ts'
import { twapTask } from './twapTask.ts'
import { unwindTask } from './unwindTask.ts'
import { windDownTask } from './windDownTask.ts'

const rows = [twapTask, accumulateTask, ladderTask, chaseTask, bracketTask, rebalanceTask] as const

/** A task that is wanted. */
export type TaskWish = z.output<(typeof rows)[number]['wish']>

/** Every row, in the order in which they are shown. */
export const taskRows: readonly AnyTaskRow[] = rows

const byName = new Map(taskRows.map((row) => [row.name, row]))

/** The row of a kind. Throws TypeError where there is none. */
export function rowOfTask(name: string): AnyTaskRow {
  const row = byName.get(name)
  if (row === undefined) throw new TypeError(`There is no task ${name}.`)
  return row
}

/** A task of one of the rows. */
export type ExecutorTask = TaskState<TaskGoal, ExecutorProgress>

/** Tells whether a task is of one of the rows. */
export function isExecutor(task: TaskState): task is ExecutorTask {
  return byName.has(task.taskKind)
}

/** Schema of a strategy's wish about a task: that of its kind. */
export const taskWishes = z
  .discriminatedUnion('kind', taskRows.map(({ wish }) => wish) as unknown as [z.ZodObject])
  .meta(
    words({ name: 'task', expected: 'a kind of task with its parameters' }),
  ) as unknown as z.ZodType<TaskWish>

/** Tells whether such a task opens a position, so that its reductions are exits of that position. */
export function opens(taskKind: string): boolean {
  return rowOfTask(taskKind).hasExits !== undefined
}

/** Returns the side on which a task maintains exits of its position; undefined: it has none. */
export function exitSideOf(taskKind: string, params: TaskGoal): PositionSide | undefined {
  return byName.get(taskKind)?.hasExits?.(params) === true ? (params as ExecutorParams) : undefined
}

/** Describes a task for people: `open long ETH/USD [WETH-USDC]`. */
export function whatOf(params: TaskGoal): string {
  const moves = movesOf(params)
  if ('moves' in params) return `rebalance ${moves.map(({ symbol }) => symbol).join(', ')}`
  const [{ action, direction, symbol } = params as ExecutorParams] = moves
  return `${action === 'increase' ? 'open' : 'reduce'} ${direction} ${symbol}`
}

/** Tells whether the task only reduces. */
export function isReduction(params: TaskGoal): boolean {
  return movesOf(params).every(({ action }) => action === 'decrease')
}

/** Counts tasks without an end by kind, 0 where none runs: the known kinds only, so that the series is bounded. */
export function runningByKind(tasks: Tasks | undefined): Readonly<Record<string, number>> {
  const counted = <P, S, V>(kind: TaskKind<P, S, V>) => [kind.name, runningTasks(kind, tasks).length] as const
  return Object.fromEntries([
    counted(killTask),
    counted(unwindTask),
    counted(windDownTask),
    ...taskRows.map(counted),
  ])
}
