/**
 * Chases: a limit that follows the oracle's price within a bound; the rest is taken at the market once its patience is over. It moves towards the
 * price only, by a step that is worth its message, and never beyond the bound. Pure.
 */
import { type Snapshot, triggerPriceOf } from '../domain/snapshot.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import { sameHex } from '../protocol/address.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { absOf, bps, type Usd } from '../protocol/units.ts'
import type { ExecutorPlan, ExecutorStand } from './executorStep.ts'
import { type ExecutorUse, type ExecutorView, ownTimeMs, type RestingChild } from './executorView.ts'
import { everySeconds, initially, minutes, percent, price, sizeInAll } from './taskFields.ts'
import type { RunningTask } from './taskKind.ts'
import { adding, betterBy, isBeyond, priceWithin, takenPrice, takingOff } from './taskOrders.ts'
import { aboveHeld, type SideParams, taskRow } from './taskRow.ts'

const fields = {
  sizeUsd: sizeInAll,
  minutes: minutes({
    means: 'time after which the rest is taken at the market',
    form: ['Minutes', '15'],
    keptAs: 'patienceMs',
  }),
  worstPrice: price({
    typed: 'price',
    means: 'no order while the price is worse; slippage is beyond it',
    said: (shown) => `not worse than ${shown}`,
    form: ['Worst price, USD'],
  }),
  offsetBps: initially(
    5,
    percent({ means: 'distance of the limit from the price', said: (shown) => `${shown} behind` }),
  ),
  stepBps: initially(
    5,
    percent({ means: 'least move of the limit', said: (shown) => `moved by ${shown} or more` }),
  ),
  everySeconds: initially(15, everySeconds({ means: 'least time between two moves' })),
}

/** Parameters of a chase. */
export type ChaseParams = SideParams<typeof fields>

/** Progress of a chase. */
export interface ChaseProgress extends ExecutorProgress {
  /** Time when the limit was last placed or moved, Unix ms; 0 before. */
  readonly movedMs: number
}

type Task = RunningTask<ChaseParams, ChaseProgress>
type Plan = ExecutorPlan<ChaseProgress>

/** The kind of these tasks. */
export const chaseTask = taskRow({
  name: 'chase',
  version: 1,
  works: 'either',
  fields,
  does: 'a limit that follows the price up to the bound, never away; the rest fills at the market after the minutes.',
  doneWhen: 'when all is filled',
  example: '"ETH/USD [WETH-USDC]" long --reduce --size 1000 --price 1700 --minutes 30',
  lead: ({ size, minutes }, side) =>
    `${side} by $${size} with a limit behind the price, at the market after ${minutes} min`,
  plansAround: true,
  plan: planOf,
  draft(wish, facts) {
    const { sizeUsd, minutes, everySeconds } = wish
    const denial = aboveHeld(wish, facts)
    if (denial !== undefined) return denial
    const state: ChaseProgress = { made: 0, movedMs: 0 }
    // Its first limit and the rest at the market; a move at each of its looks.
    const moves = Math.ceil((minutes * 60) / everySeconds)
    return { sizeUsd, state, orders: 2, moves, minutes: 2 * minutes }
  },
})

function planOf(task: Task, view: ExecutorView, { use, leftUsd }: ExecutorStand): Plan {
  const { params, state, sinceMs, taskId } = task
  const { snapshot, nowMs } = view
  const isLate = ownTimeMs(view) - sinceMs >= params.patienceMs
  const [resting] = use.resting
  if (resting !== undefined && !isLate && !isDue(task, nowMs))
    return { kind: 'wait', until: 'its limit rests at the venue' }
  if (snapshot === undefined) return { kind: 'read' }
  if (resting !== undefined) {
    if (isLate) return { kind: 'cancel', orders: use.resting, why: 'its waiting time is over' }
    return moved(task, view, resting, snapshot, use)
  }
  if (isLate) {
    const price = priceWithin(params, snapshot, params.worstPrice)
    if (typeof price === 'string') return { kind: 'wait', until: price }
    const reason = `the task ${taskId} fills the rest at the market`
    return { kind: 'order', decision: orderOf(task, leftUsd, reason), sizeUsd: leftUsd, orders: 1, state }
  }
  const triggerPrice = limitNow(task, view)
  if (triggerPrice === undefined)
    return { kind: 'wait', until: 'the oracle has no fresh price of the market' }
  const reason = `the task ${taskId} waits at ${formatPrice(triggerPrice)}`
  const decision = orderOf(task, leftUsd, reason, triggerPrice)
  return { kind: 'order', decision, sizeUsd: leftUsd, orders: 1, state: { ...state, movedMs: nowMs } }
}

/** Tells whether its limit may be moved again; a clock that was set back does not delay it. */
function isDue({ params, state }: Task, nowMs: number): boolean {
  return nowMs < state.movedMs || nowMs - state.movedMs >= params.everyMs
}

/** The limit brought after the price, where that is worth a message. */
function moved(
  task: Task,
  view: ExecutorView,
  { orderKey }: RestingChild,
  snapshot: Snapshot,
  use: ExecutorUse,
): Plan {
  const { params, state, taskId } = task
  const order = snapshot.orders.value.find((row) => sameHex(row.orderKey, orderKey))
  if (order === undefined) return { kind: 'wait', until: 'its limit is not in the list of orders yet' }
  const standsAt = triggerPriceOf(order, snapshot)
  const triggerPrice = limitNow(task, view)
  if (triggerPrice === undefined || standsAt === undefined)
    return { kind: 'wait', until: 'the oracle has no fresh price of the market' }
  // A place beyond the resting one is nearer to the price: the limit is never moved away from it.
  const isNearer = isBeyond(params, triggerPrice, standsAt)
  if (!isNearer || absOf(triggerPrice - standsAt) < bps(standsAt, params.stepBps))
    return { kind: 'wait', until: `its limit rests at ${formatPrice(standsAt)}` }
  if (!leavesRest(task, view, use)) {
    const until = `its limit rests at ${formatPrice(standsAt)}: its moves are used up, and the rest fills at the market after its minutes`
    return { kind: 'wait', until }
  }
  const { marketToken, direction } = params
  const reason = `the task ${taskId} follows the price from ${formatPrice(standsAt)}`
  const facts = { task: taskId }
  return {
    kind: 'order',
    decision: { kind: 'edit', marketToken, direction, orderKey, triggerPrice, reason, facts },
    sizeUsd: 0n,
    orders: 1,
    state: { ...state, movedMs: view.nowMs },
  }
}

/** Tells whether a move leaves the budget one order for the rest at the market. */
function leavesRest(
  { params: { budget } }: Task,
  { mostSendingUsd }: ExecutorView,
  use: ExecutorUse,
): boolean {
  // The fees already count the change of the position that rests.
  return use.orders + 2 <= budget.orders && use.feesUsd + 2n * mostSendingUsd <= budget.feesUsd
}

/** Returns the proper place of its limit now: behind the price by the offset, and never beyond the bound. */
function limitNow({ params }: Task, { snapshot }: ExecutorView): Usd | undefined {
  const price = snapshot === undefined ? undefined : takenPrice(params, snapshot)
  if (price === undefined) return undefined
  const wanted = betterBy(params, price, params.offsetBps)
  return isBeyond(params, wanted, params.worstPrice) ? params.worstPrice : wanted
}

function orderOf({ params, taskId }: Task, sizeUsd: Usd, reason: string, triggerPrice?: Usd) {
  const facts = { task: taskId }
  if (params.action === 'increase') {
    const order = adding(params, sizeUsd, params.leverageBps, reason, facts)
    return triggerPrice === undefined ? order : ({ ...order, orderType: 'limit', triggerPrice } as const)
  }
  const order = takingOff(params, sizeUsd, reason, facts)
  return triggerPrice === undefined ? order : ({ ...order, orderType: 'take-profit', triggerPrice } as const)
}
