/** Makes a task of a wish: its complete parameters, with a budget, or the reason why there can be no such task. Pure. */
import { defined } from '../base/defined.ts'
import type { Denial } from '../domain/order/intent.ts'
import { marketOf } from '../domain/snapshot.ts'
import type { ExecutorProgress, TaskGoal } from '../domain/taskStates/executorState.ts'
import { BPS_ONE, bps, formatDollars, type Usd } from '../protocol/units.ts'
import { mostFeeUsd } from './executorView.ts'
import { filled, kept, MINUTE_MS } from './taskFields.ts'
import {
  type AnyWish,
  type PlanFacts,
  type SideBase,
  tooLowLeverage,
  unread,
  type WishSide,
} from './taskRow.ts'
import { isReduction, rowOfTask, type TaskWish } from './taskRows.ts'

/** Multiple of a task's orders that its budget has by default. */
const SPARE_ORDERS = 2
/** Share of a task's size that moves may cost which only better its price, bps, and the moves that it has in any case. */
const MOVES_BPS = 100
const MOVES_LEAST = 4

/** A task that may begin. */
export interface PlannedTask {
  readonly version: number
  readonly params: TaskGoal
  readonly state: ExecutorProgress
}

/** The same with what it takes. */
interface SizedTask extends PlannedTask {
  /** Messages that it needs if each part fills at its first order, without moves. */
  readonly messages: number
}

/** The task, or why there is none: MARKET_UNKNOWN, MIN_LEVERAGE, TASK_BUDGET and the codes of the kinds. */
export function plannedTask(wish: TaskWish, facts: PlanFacts): SizedTask | Denial {
  const row = rowOfTask(wish.kind)
  const side = row.works === 'none' ? undefined : sideOf(wish, facts)
  if (side !== undefined && 'code' in side) return side
  const { leverageBps = 0, budget = {} } = wish
  if (side?.action === 'increase' && leverageBps < BPS_ONE) return tooLowLeverage
  const values = filled(row.fields, wish)
  const drafted = row.draft({ ...side, leverageBps, ...values } as never, facts)
  if ('code' in drafted) return drafted
  const { own, sizeUsd, state, orders: needed, exits = 0, minutes } = drafted
  const { asked, owner, nowMs } = facts
  const reduces = isReduction({ ...side, ...own } as TaskGoal)
  // The bound that its orders are signed by: a smaller budget could end before it sends one.
  const sendingUsd = (reduces ? facts.mostReducingUsd : facts.mostSendingUsd) * BigInt(1 + exits)
  const moves = movesWorth(drafted.moves ?? 0, sizeUsd, sendingUsd)
  const feesUsd = budget.feesUsd ?? sendingUsd * BigInt(needed + moves) + mostFeeUsd(sizeUsd)
  const eachUsd = sendingUsd + mostFeeUsd(sizeUsd / BigInt(needed))
  if (feesUsd < eachUsd) {
    return {
      code: 'TASK_BUDGET',
      reason: `the fees of one part may be ${formatDollars(eachUsd)} at most (signing.maxRelayFee), and the budget is ${formatDollars(feesUsd)}: it could not pay for one part`,
    }
  }
  const untilMs = nowMs + Math.ceil((budget.minutes ?? minutes) * MINUTE_MS)
  const goal: TaskGoal = {
    sizeUsd,
    budget: { orders: budget.orders ?? SPARE_ORDERS * needed + moves, feesUsd, untilMs },
    asked,
    ...defined({ owner }),
  }
  const params = { ...side, leverageBps, ...kept(row.fields, values), ...own, ...goal }
  return { version: row.version, params, state, messages: needed * (1 + exits) }
}

/** Returns the moves that a size is worth, of so many at most: their messages cost a small share of it, by what they may be signed for. */
function movesWorth(most: number, sizeUsd: Usd, sendingUsd: Usd): number {
  const worth = sendingUsd === 0n ? most : Number(bps(sizeUsd, MOVES_BPS) / sendingUsd)
  return Math.min(most, Math.max(MOVES_LEAST, worth))
}

/** The side of a wish with its market, or the denial where the market is not read. */
function sideOf(wish: AnyWish, { snapshot }: PlanFacts): SideBase | Denial {
  const { marketToken, direction, collateralToken } = wish as WishSide
  const view = marketOf(snapshot, marketToken)
  if (view === undefined) return unread(marketToken)
  const { symbol, marketToken: token } = view.market
  const { action = 'increase' } = wish
  return { symbol, marketToken: token, direction, collateralToken, action }
}
