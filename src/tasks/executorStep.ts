/**
 * What every task that makes orders over time does around its own plan: ends when it is done, stopped or out of its budget, waits
 * under a halt and for what is under way, and cancels what of it rests before it ends. Pure.
 */
import type { CancelDecision, Decision } from '../domain/order/decision.ts'
import type { ExecutorOutcome, ExecutorParams, ExecutorProgress } from '../domain/tasks/executorState.ts'
import { formatDollars, maxOf, type Usd } from '../protocol/units.ts'
import { type ExecutorUse, type ExecutorView, mostFeeUsd, useOf } from './executorView.ts'
import { childKeyOf, type Next, type RunningTask } from './taskKind.ts'

/** Most orders that one message cancels. */
const CANCEL_MOST = 20
/** After a cancel that left something resting, another follows no sooner, ms. */
const CANCEL_AGAIN_MS = 15_000

/** What a task's own plan says, once nothing ends it and nothing is under way. */
export type ExecutorPlan<State> =
  /** It must see its market to tell. */
  | { readonly kind: 'read' }
  /** Nothing is to be made now, and why. */
  | { readonly kind: 'wait'; readonly until: string }
  | {
      readonly kind: 'order'
      readonly decision: Decision
      /** What it adds or takes off, USD, above 0 and at most what is left. */
      readonly sizeUsd: Usd
      /** Orders at the venue that it makes. */
      readonly orders: number
      /** The state once it is accepted; `made` is the step's own. */
      readonly state: State
    }

/** Where a task stands, for its plan and for people. */
export interface ExecutorStand {
  readonly use: ExecutorUse
  /** Of the size that it is to come to, USD. */
  readonly leftUsd: Usd
}

/** Where a task stands by its orders. */
export function standOf({ sizeUsd }: Pick<ExecutorParams, 'sizeUsd'>, view: ExecutorView): ExecutorStand {
  const use = useOf(view)
  return { use, leftUsd: maxOf(0n, sizeUsd - use.doneUsd - use.openUsd) }
}

/** The next step of a task whose own orders `plan` gives: one at a time. */
export function executorStep<Params extends ExecutorParams, State extends ExecutorProgress>(
  task: RunningTask<Params, State>,
  view: ExecutorView,
  plan: (stand: ExecutorStand, state: State) => ExecutorPlan<State>,
): Next<State> {
  const { params, taskId } = task
  let { made } = task.state
  while (view.isMade(childKeyOf(taskId, made + 1))) made += 1
  const state: State = made === task.state.made ? task.state : { ...task.state, made }
  const stand = standOf(params, view)
  const end = endOf(params, state, stand, view)
  if (end !== undefined) return windDown(task, state, stand, view, end)
  const wait = (problem: string): Next<State> => ({ kind: 'go-on', state, decisions: [], problem })
  if (stand.use.inFlight > 0) return wait(underWay(stand.use))
  if (view.halt !== undefined) return wait(view.halt)
  if (view.paused !== undefined) return wait(view.paused)
  const planned = plan(stand, state)
  if (planned.kind === 'read') return { kind: 'read', symbols: [params.symbol] }
  if (planned.kind === 'wait') return wait(planned.until)
  const { decision, sizeUsd, orders } = planned
  if (sizeUsd <= 0n || sizeUsd > stand.leftUsd) {
    throw new TypeError(`task ${taskId}: a part of ${sizeUsd} where ${stand.leftUsd} are left`)
  }
  const spent = overBudget(params, stand, view, sizeUsd, orders)
  if (spent !== undefined) return windDown(task, state, stand, view, spent)
  const next = { ...planned.state, made: made + 1 }
  return {
    kind: 'go-on',
    state,
    decisions: [{ decisionKey: childKeyOf(taskId, made + 1), decision, state: next }],
  }
}

interface End {
  readonly outcome: ExecutorOutcome
  readonly why: string
}

/** What ends it whatever its plan says. */
function endOf(
  { sizeUsd, budget }: ExecutorParams,
  { stop }: ExecutorProgress,
  { use }: ExecutorStand,
  { nowMs }: ExecutorView,
): End | undefined {
  if (use.doneUsd >= sizeUsd) return { outcome: 'done', why: 'all of it is filled' }
  if (stop !== undefined) return { outcome: 'stopped', why: `${stop.by}: ${stop.reason}` }
  if (nowMs >= budget.untilMs) return { outcome: 'out of budget', why: 'its time is over' }
  return undefined
}

/** Whether another order fits into its budget. */
function overBudget(
  { budget }: ExecutorParams,
  { use }: ExecutorStand,
  { mostSendingUsd }: ExecutorView,
  sizeUsd: Usd,
  orders: number,
): End | undefined {
  if (use.orders + orders > budget.orders) {
    const why = `${use.orders} of ${budget.orders} orders are used`
    return { outcome: 'out of budget', why }
  }
  const mostUsd = mostSendingUsd * BigInt(orders) + mostFeeUsd(sizeUsd)
  if (use.feesUsd + mostUsd <= budget.feesUsd) return undefined
  const why = `fees of ${formatDollars(use.feesUsd)} are used of ${formatDollars(budget.feesUsd)}, and the next order may cost ${formatDollars(mostUsd)}`
  return { outcome: 'out of budget', why }
}

/** Cancels what rests, waits for what is under way, and ends. */
function windDown<Params extends ExecutorParams, State extends ExecutorProgress>(
  { params, taskId }: RunningTask<Params, State>,
  state: State,
  { use }: ExecutorStand,
  view: ExecutorView,
  { outcome, why }: End,
): Next<State> {
  if (use.inFlight === 0) {
    const statement = `${formatDollars(use.doneUsd)} of ${formatDollars(params.sizeUsd)} by ${use.orders} order${use.orders === 1 ? '' : 's'}: ${why}`
    return { kind: 'done', outcome, statement }
  }
  const problem = `it ends (${why}) once what is under way has ended: ${underWay(use)}`
  const wait: Next<State> = { kind: 'go-on', state, decisions: [], problem }
  const isEarly = use.cancelledAtMs !== undefined && view.nowMs - use.cancelledAtMs < CANCEL_AGAIN_MS
  if (use.resting.length === 0 || isEarly || view.paused !== undefined) return wait
  if (view.snapshot === undefined) return { kind: 'read', symbols: [params.symbol] }
  const { marketToken, direction } = params
  const decision: CancelDecision = {
    kind: 'cancel',
    marketToken,
    direction,
    orderKeys: use.resting.slice(0, CANCEL_MOST),
    reason: `the task ${taskId} ends: ${why}`,
    facts: { task: taskId },
  }
  const made = state.made + 1
  return {
    ...wait,
    decisions: [{ decisionKey: childKeyOf(taskId, made), decision, state: { ...state, made } }],
  }
}

function underWay({ unknown, resting, doneUsd, openUsd }: ExecutorUse): string {
  if (unknown > 0) return 'the fate of an order of it is unknown'
  if (resting.length > 1)
    return `${resting.length} parts of it rest at the venue; ${formatDollars(doneUsd)} are filled`
  return openUsd === 0n ? 'a cancel of it is under way' : 'an order of it is under way'
}
