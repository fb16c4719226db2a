/** Makes a task of a wish: its complete parameters, with a budget, or the reason why there can be no such task. Pure. */
import { defined } from '../base/defined.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { TaskWish } from '../domain/order/taskWish.ts'
import type { ExecutorProgress, TaskGoal } from '../domain/taskStates/executorState.ts'
import { formatDollars } from '../protocol/units.ts'
import { executors, startOf } from './executorKinds.ts'
import { mostFeeUsd } from './executorView.ts'
import { minuteMs, type PlanFacts, SPARE } from './taskStart.ts'

/** A task that may begin. */
export interface PlannedTask {
  readonly version: number
  readonly params: TaskGoal
  readonly state: ExecutorProgress
}

/** The task, or why there is none: MARKET_UNKNOWN, MIN_LEVERAGE, TASK_BUDGET and the codes of the kinds. */
export function plannedTask(wish: TaskWish, facts: PlanFacts): PlannedTask | Denial {
  const drafted = startOf(wish.kind).draft(wish, facts)
  if ('code' in drafted) return drafted
  const { own, sizeUsd, state, orders, exits = 0, minutes } = drafted
  const { asked, owner, mostSendingUsd, nowMs } = facts
  const sendingUsd = mostSendingUsd * BigInt(1 + exits)
  const { budget = {} } = wish
  const feesUsd = budget.feesUsd ?? sendingUsd * BigInt(orders) + mostFeeUsd(sizeUsd)
  const eachUsd = sendingUsd + mostFeeUsd(sizeUsd / BigInt(orders))
  if (feesUsd < eachUsd) {
    return {
      code: 'TASK_BUDGET',
      reason: `the fees of one part may be ${formatDollars(eachUsd)} at most (signing.maxRelayFee), and the budget is ${formatDollars(feesUsd)}: it could not pay for one part`,
    }
  }
  const untilMs = nowMs + Math.ceil((budget.minutes ?? minutes) * minuteMs)
  const goal: TaskGoal = {
    sizeUsd,
    budget: { orders: budget.orders ?? SPARE * orders, feesUsd, untilMs },
    asked,
    ...defined({ owner }),
  }
  const { version } = executors[wish.kind]
  return { version, params: { ...own, ...goal } as TaskGoal, state }
}
