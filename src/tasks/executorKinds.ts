/** The kinds of tasks that make orders over time, and the common queries about a task. */

import type { z } from 'zod'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { TaskWish } from '../domain/order/taskWish.ts'
import type { LadderParams, RebalanceParams } from '../domain/taskStates/executorParams.ts'
import type {
  ExecutorKind,
  ExecutorParams,
  ExecutorProgress,
  TaskGoal,
} from '../domain/taskStates/executorState.ts'
import { accumulateStart, accumulateTask } from './accumulateTask.ts'
import { bracketStart, bracketTask } from './bracketTask.ts'
import { chaseStart, chaseTask } from './chaseTask.ts'
import type { ExecutorView } from './executorView.ts'
import { ladderStart, ladderTask } from './ladderTask.ts'
import { rebalanceStart, rebalanceTask } from './rebalanceTask.ts'
import type { TaskKind } from './taskKind.ts'
import type { TaskStart } from './taskStart.ts'
import { twapStart, twapTask } from './twapTask.ts'

/** A kind of these tasks, whatever its parameters are. */
export type AnyExecutor = TaskKind<TaskGoal, ExecutorProgress, ExecutorView>

/** Every kind by its name. A task goes only to the kind of its own name, whose parameters it has. */
export const executors = {
  twap: twapTask,
  accumulate: accumulateTask,
  ladder: ladderTask,
  chase: chaseTask,
  bracket: bracketTask,
  rebalance: rebalanceTask,
} as unknown as Readonly<Record<ExecutorKind, AnyExecutor>>

/** The start of every kind. */
export const starts = {
  twap: twapStart,
  accumulate: accumulateStart,
  ladder: ladderStart,
  chase: chaseStart,
  bracket: bracketStart,
  rebalance: rebalanceStart,
} as const

/** The start of a kind, whatever its fields are. */
export function startOf(kind: ExecutorKind): TaskStart<z.ZodObject, TaskWish> {
  return starts[kind] as unknown as TaskStart<z.ZodObject, TaskWish>
}

/** Tells whether such a task opens a position, so that its reductions are exits of that position. */
export function opens(taskKind: string): boolean {
  return taskKind === bracketTask.name || taskKind === ladderTask.name
}

/** Returns the side on which a task maintains exits of its position; undefined: it has none. */
export function exitSideOf(taskKind: string, params: TaskGoal): PositionSide | undefined {
  if (!opens(taskKind)) return undefined
  const { takeProfitBps, stopLossBps } = params as Partial<LadderParams>
  const isBare = taskKind === ladderTask.name && takeProfitBps === undefined && stopLossBps === undefined
  return isBare ? undefined : (params as ExecutorParams)
}

/** The markets of a task. */
export function symbolsOf(params: TaskGoal): readonly string[] {
  return isOfMoves(params) ? params.moves.map(({ symbol }) => symbol) : [(params as ExecutorParams).symbol]
}

/** Describes a task for people: `open long ETH/USD [WETH-USDC]`. */
export function whatOf(params: TaskGoal): string {
  if (isOfMoves(params)) return `rebalance ${symbolsOf(params).join(', ')}`
  const { action, direction, symbol } = params as ExecutorParams
  return `${action === 'increase' ? 'open' : 'reduce'} ${direction} ${symbol}`
}

/** Tells whether the task only reduces. */
export function isReduction(params: TaskGoal): boolean {
  if (isOfMoves(params)) return params.moves.every(({ action }) => action === 'decrease')
  return (params as ExecutorParams).action === 'decrease'
}

function isOfMoves(params: TaskGoal): params is RebalanceParams {
  return 'moves' in params
}
