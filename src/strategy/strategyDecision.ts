/** Every decision that a strategy may make, tasks with the parameters of their kinds: the schema that its return values are checked by, and the types. */
import { z } from 'zod'
import type {
  StrategyDecision as DecisionOf,
  StartTaskDecision as StartOf,
} from '../domain/order/decision.ts'
import { decisionSchemas, startTaskOf } from '../domain/order/decisionSchema.ts'
import { type TaskWish, taskWishes } from '../tasks/taskRows.ts'

/** Schema of a decision. */
export const strategyDecision = z.discriminatedUnion('kind', [...decisionSchemas, startTaskOf(taskWishes)])

/** A decision of a strategy. */
export type StrategyDecision = DecisionOf<TaskWish>

/** Begins a task that makes orders over time, in the strategy's name. */
export type StartTaskDecision = StartOf<TaskWish>
