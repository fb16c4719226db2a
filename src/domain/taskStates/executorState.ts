/**
 * Common parts of tasks that make orders over time, as the journal persists them: a budget, their progress, and their end. Each kind adds its
 * parameters and its state.
 */
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'

/** Budget of a task. Ending it, and cancelling its resting orders, is never held back by the budget. */
export interface TaskBudget {
  /** Orders at the venue, those that came to nothing too; each part of a twap of the venue's counts. Exits do not. */
  readonly orders: number
  /**
   * Budget of fees, USD: the fees of its messages, and the venue's fees of the position's changes. An order is made only while its highest possible
   * cost is left. The cost of its exits and their changes does not count. Funding and borrowing that a fill settles belong to the position, and do
   * not count.
   */
  readonly feesUsd: Usd
  /** Unix ms after which it makes no more orders. */
  readonly untilMs: number
}

/** Goal of every such task, whatever its kind. */
export interface TaskGoal {
  /** Total size to trade, USD, above 0. */
  readonly sizeUsd: Usd
  readonly budget: TaskBudget
  /** The request in words: a second start under the same id must agree with it. */
  readonly asked: string
  /** The instance whose strategy asked, and in whose name its orders are made; absent: an operator. */
  readonly owner?: string
}

/** Goal of a task on one side of one market. */
export interface ExecutorParams extends TaskGoal {
  readonly symbol: string
  readonly marketToken: Address
  readonly direction: Direction
  readonly collateralToken: Address
  /** Direction of the task: to open and add, or to reduce. */
  readonly action: 'increase' | 'decrease'
}

/** Request to end the task early. */
export interface StopWish {
  readonly by: string
  /** One sentence. */
  readonly reason: string
}

/** Progress of every such task; its orders themselves show its results. */
export interface ExecutorProgress {
  /** The newest order that it made, from 1; 0 before the first. */
  readonly made: number
  /** Absent while it continues. */
  readonly stop?: StopWish
  /** End of its own plan, which stays while its resting orders are cancelled. */
  readonly ending?: ExecutorEnd
}

/** The way in which it ended. */
export type ExecutorOutcome = 'done' | 'stopped' | 'out of budget'

/** Its end, and why. */
export interface ExecutorEnd {
  readonly outcome: ExecutorOutcome
  /** One clause. */
  readonly why: string
  /** True if exits of its position are cancelled too although it is not done: nothing is left for them to protect. */
  readonly isBare?: boolean
}

/** The id of a task that a strategy asked for: no operator's id has a slash. */
export function strategyTaskId(kind: string, owner: string, label: string): string {
  return `${kind}:${owner}/${label}`
}

/** The label of a strategy's task, by its id. */
export function labelOfTask(taskId: string): string {
  return taskId.slice(taskId.indexOf('/') + 1)
}

/** The task of an id that whoever starts it chose: the same id is one task for ever. */
export function executorTaskId(kind: string, id: string): string {
  return `${kind}:${id}`
}
