/**
 * Common step of every task that makes orders over time, around its own plan. It ends the task when it is done, stopped or out of its budget, and
 * waits under a halt and for orders in flight. It cancels resting orders before the task ends. Pure.
 */
import { defined } from '../base/defined.ts'
import { addsRisk, type CancelDecision, type Decision } from '../domain/order/decision.ts'
import type { ExecutorEnd, ExecutorProgress, TaskGoal } from '../domain/taskStates/executorState.ts'
import type { Hex } from '../protocol/address.ts'
import { formatDollars, maxOf, type Usd } from '../protocol/units.ts'
import {
  type ExecutorUse,
  type ExecutorView,
  mostFeeUsd,
  ownTimeMs,
  type RestingChild,
  useOf,
} from './executorView.ts'
import { childKeyOf, type Next, type RunningTask, type TaskKind } from './taskKind.ts'

/** Most orders that one message cancels. */
const CANCEL_MOST = 20
/** After a cancel that left something resting, another follows no sooner, ms. */
const CANCEL_AGAIN_MS = 15_000

/** Result of a task's own plan, once nothing ends it and nothing is in flight. */
export type ExecutorPlan<State> =
  /** The plan needs its markets: it is asked again once they were read. An order or a cancel without them has the same effect. */
  | { readonly kind: 'read' }
  /** Nothing is to be made now, and why. */
  | { readonly kind: 'wait'; readonly until: string; readonly state?: State }
  | {
      readonly kind: 'order'
      readonly decision: Decision
      /** Part of the rest that it adds or reduces, USD: 0 for a change of an order, and for exits. */
      readonly sizeUsd: Usd
      /** Orders at the venue that it makes, without exits that come with them. */
      readonly orders: number
      /** Exits that come with them; absent: none. */
      readonly exits?: number
      /** The state once it is accepted; `made` is the step's own. */
      readonly state: State
      /** True if it reduces the task's own position: no budget holds it back. */
      readonly isExit?: boolean
    }
  /** Cancels some of its orders that rest. */
  | { readonly kind: 'cancel'; readonly orders: readonly RestingChild[]; readonly why: string }
  | ({ readonly kind: 'end' } & ExecutorEnd)

/** State of a task, for its plan and for people. */
export interface ExecutorStand {
  readonly use: ExecutorUse
  /** Rest of the target size, USD. */
  readonly leftUsd: Usd
}

/** Rules of a kind for its next step. */
export interface ExecutorRules<Params, State> {
  readonly name: string
  readonly version: number
  readonly symbolsOf: (params: Params) => readonly string[]
  /** True if it opens a position, so that its reductions are exits of it. Absent: false. */
  readonly opens?: boolean
  /** True if its plan is consulted while orders of it rest; absent: one order at a time. */
  readonly plansAround?: boolean
  /** Tells whether it continues once all of its size is filled, or its time is over: it has exits to manage. */
  readonly outlasts?: (params: Params, stand: ExecutorStand) => boolean
  /** Tells whether it may reduce besides adding, so that its plan is consulted although nothing may be added. */
  readonly reduces?: (params: Params, stand: ExecutorStand) => boolean
  readonly plan: (
    task: RunningTask<Params, State>,
    view: ExecutorView,
    stand: ExecutorStand,
  ) => ExecutorPlan<State>
}

/** Returns the state of a task by its orders. */
export function standOf({ sizeUsd }: TaskGoal, view: ExecutorView, opens?: boolean): ExecutorStand {
  const use = useOf(view, opens)
  return { use, leftUsd: maxOf(0n, sizeUsd - use.doneUsd - use.openUsd) }
}

/** A kind of task by its rules. */
export function executorTask<Params extends TaskGoal, State extends ExecutorProgress>(
  rules: ExecutorRules<Params, State>,
): TaskKind<Params, State, ExecutorView> {
  const { name, version } = rules
  return { name, version, next: (task, view) => executorStep(rules, task, view) }
}

/** The next step of a task whose own orders the rules' plan gives: one message at a time. */
function executorStep<Params extends TaskGoal, State extends ExecutorProgress>(
  rules: ExecutorRules<Params, State>,
  task: RunningTask<Params, State>,
  view: ExecutorView,
): Next<State> {
  const { params, taskId } = task
  let { made } = task.state
  while (view.isMade(childKeyOf(taskId, made + 1))) made += 1
  const state: State = made === task.state.made ? task.state : { ...task.state, made }
  const stand = standOf(params, view, rules.opens)
  const { use } = stand
  const end = endOf(rules, params, state, stand, view)
  if (end !== undefined) return windDown(rules, task, state, stand, view, end)
  const wait = (problem: string, next = state): Next<State> => ({
    kind: 'go-on',
    state: next,
    decisions: [],
    problem,
  })
  const isBusy = rules.plansAround === true ? use.moving > 0 : use.inFlight > 0
  if (isBusy) return wait(underWay(use))
  const reduces = rules.reduces?.(params, stand) === true
  const isHalted = view.halt !== undefined && !(reduces && view.reducingHalt === undefined)
  if (view.halt !== undefined && isHalted) return wait(view.halt)
  if (view.paused !== undefined) return wait(view.paused)
  const planned = rules.plan({ ...task, state }, view, stand)
  const isBlind = view.snapshot === undefined && (planned.kind === 'order' || planned.kind === 'cancel')
  // Admission judges each order by the markets as they were read: a plan that did not need them is asked again with them.
  if (isBlind || planned.kind === 'read') return { kind: 'read', symbols: rules.symbolsOf(params) }
  if (planned.kind === 'wait') return wait(planned.until, planned.state)
  const sticky = ({ outcome, why, isBare }: ExecutorEnd): Next<State> => {
    const ending = { outcome, why, ...defined({ isBare }) }
    return windDown(rules, task, { ...state, ending }, stand, view, ending)
  }
  if (planned.kind === 'end') return sticky(planned)
  const step = (decision: Decision, next: State): Next<State> => ({
    kind: 'go-on',
    state,
    decisions: [{ decisionKey: childKeyOf(taskId, made + 1), decision, state: { ...next, made: made + 1 } }],
  })
  if (planned.kind === 'cancel') {
    if (isCancelEarly(use, view)) return wait(planned.why)
    return step(cancelOf(planned.orders, `the task ${taskId}: ${planned.why}`, taskId), state)
  }
  const { decision, sizeUsd, orders, exits = 0, isExit = false } = planned
  if (sizeUsd < 0n || sizeUsd > stand.leftUsd) {
    throw new TypeError(`task ${taskId}: a part of ${sizeUsd} where ${stand.leftUsd} are left`)
  }
  const halt = addsRisk(decision, view.snapshot?.orders?.value) ? view.halt : view.reducingHalt
  if (halt !== undefined) return wait(halt)
  const spent = isExit ? undefined : overBudget(params, stand, view, { sizeUsd, orders, exits })
  if (spent !== undefined) {
    // First stop further fills: fills meanwhile still get their exits, because the plan manages those before it adds.
    const entries = use.resting.filter((each) => !each.isExit)
    if (rules.outlasts?.(params, stand) !== true || entries.length === 0) return sticky(spent)
    if (isCancelEarly(use, view)) return wait(spent.why)
    return step(cancelOf(entries, `the task ${taskId}: ${spent.why}`, taskId), state)
  }
  return step(decision, planned.state)
}

/** Returns the end of the task that holds whatever its plan says. */
function endOf<Params extends TaskGoal>(
  rules: Pick<ExecutorRules<Params, never>, 'outlasts'>,
  params: Params,
  { stop, ending }: ExecutorProgress,
  stand: ExecutorStand,
  view: ExecutorView,
): ExecutorEnd | undefined {
  if (ending !== undefined) return ending
  const outlasts = rules.outlasts?.(params, stand) === true
  const { doneUsd, exitedUsd } = stand.use
  if (doneUsd >= params.sizeUsd && !outlasts)
    return { outcome: 'done', why: exitedUsd > 0n ? 'an exit closed it' : 'all of it is filled' }
  if (stop !== undefined) return { outcome: 'stopped', why: `${stop.by}: ${stop.reason}` }
  if (ownTimeMs(view) >= params.budget.untilMs && !outlasts)
    return { outcome: 'out of budget', why: 'its time is over' }
  return undefined
}

/** Returns the end of the task when another order exceeds its budget; undefined while it fits. */
function overBudget(
  { budget }: TaskGoal,
  { use }: ExecutorStand,
  { mostSendingUsd }: ExecutorView,
  { sizeUsd, orders, exits }: { readonly sizeUsd: Usd; readonly orders: number; readonly exits: number },
): ExecutorEnd | undefined {
  if (use.orders + orders > budget.orders) {
    const why = `${use.orders} of ${budget.orders} orders are used`
    return { outcome: 'out of budget', why }
  }
  const mostUsd = mostSendingUsd * BigInt(orders + exits) + mostFeeUsd(sizeUsd)
  if (use.feesUsd + mostUsd <= budget.feesUsd) return undefined
  const why = `fees of ${formatDollars(use.feesUsd)} of ${formatDollars(budget.feesUsd)} are used, and the next order may cost ${formatDollars(mostUsd)}`
  return { outcome: 'out of budget', why }
}

/** Cancels resting orders, waits for orders in flight, and ends. Exits of a position that it leaves behind stay. */
function windDown<Params extends TaskGoal, State extends ExecutorProgress>(
  rules: ExecutorRules<Params, State>,
  { params, taskId }: RunningTask<Params, State>,
  state: State,
  { use }: ExecutorStand,
  view: ExecutorView,
  { outcome, why, isBare }: ExecutorEnd,
): Next<State> {
  const leavesExits =
    rules.opens === true && outcome !== 'done' && isBare !== true && use.doneUsd > use.exitedUsd
  const leaving = use.resting.filter(({ isExit }) => !(leavesExits && isExit))
  const left = use.resting.length - leaving.length
  if (leaving.length === 0 && use.moving === 0) {
    const exits =
      left === 0
        ? ''
        : `; ${left} exit${left === 1 ? '' : 's'} of it rest${left === 1 ? 's' : ''} at the venue`
    const ofExits = use.exitOrders === 0 ? '' : ` and ${use.exitOrders} of exits`
    const statement = `${formatDollars(use.doneUsd)} of ${formatDollars(params.sizeUsd)} by ${use.orders} order${use.orders === 1 ? '' : 's'}${ofExits}: ${why}${exits}`
    return { kind: 'done', outcome, statement }
  }
  const problem = `it ends (${why}) when its open orders have ended: ${underWay(use)}`
  const wait: Next<State> = { kind: 'go-on', state, decisions: [], problem }
  if (leaving.length === 0 || isCancelEarly(use, view) || view.paused !== undefined) return wait
  if (view.snapshot === undefined) return { kind: 'read', symbols: rules.symbolsOf(params) }
  const decision = cancelOf(leaving, `the task ${taskId} ends: ${why}`, taskId)
  const made = state.made + 1
  return {
    ...wait,
    decisions: [{ decisionKey: childKeyOf(taskId, made), decision, state: { ...state, made } }],
  }
}

function isCancelEarly({ cancelledAtMs }: ExecutorUse, { nowMs }: ExecutorView): boolean {
  return cancelledAtMs !== undefined && Math.abs(nowMs - cancelledAtMs) < CANCEL_AGAIN_MS
}

/** A cancel of those of the first one's side; others follow. */
function cancelOf(orders: readonly RestingChild[], reason: string, taskId: string): CancelDecision {
  const [first] = orders
  if (first === undefined) throw new TypeError(`task ${taskId}: a cancel of nothing`)
  const { marketToken, direction } = first.state.intent.terms
  const orderKeys: readonly Hex[] = orders
    .filter(
      ({ state: { intent } }) =>
        intent.terms.marketToken === marketToken && intent.terms.direction === direction,
    )
    .slice(0, CANCEL_MOST)
    .map(({ orderKey }) => orderKey)
  return { kind: 'cancel', marketToken, direction, orderKeys, reason, facts: { task: taskId } }
}

function underWay({ unknown, resting, moving, doneUsd, openUsd }: ExecutorUse): string {
  if (unknown > 0) return 'the fate of an order of it is unknown'
  if (resting.length > 1)
    return `${resting.length} parts of it rest at the venue; ${formatDollars(doneUsd)} are filled`
  if (openUsd === 0n && moving > 0) return 'a cancel or a change of it is in flight'
  return openUsd === 0n ? 'an exit of it rests' : 'an order of it is in flight'
}
