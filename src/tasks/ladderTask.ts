/**
 * Ladders: an entry in rungs, each at a better price or after a time, averaged, and one target and one stop for the whole. By
 * price the first rung is at the market and the others rest; the target follows the average, the stop stays where the first rung
 * put it. Once an exit fills, nothing is added any more. Pure.
 */
import { defined, ifDefined } from '../base/defined.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { BPS_ONE, bps, formatDollars, maxOf, minOf, mulDiv, ONE_USD, type Usd } from '../protocol/units.ts'
import type { ExecutorPlan, ExecutorStand } from './executorStep.ts'
import {
  cameToNothing,
  type ExecutorUse,
  type ExecutorView,
  entryPriceOf,
  isLost,
  ownTimeMs,
  takenBackOf,
} from './executorView.ts'
import { type ExitSync, isLookDue, keptExits, leftToClose, nextExit, type WantedExits } from './taskExits.ts'
import {
  everySeconds,
  initially,
  optional,
  percent,
  sizeInAll,
  timesBps,
  WEEK_MINUTES,
  whole,
} from './taskFields.ts'
import type { RunningTask } from './taskKind.ts'
import { adding, betterBy, isBeyond, priceWithin, takingOff } from './taskOrders.ts'
import { type SideParams, taskRow } from './taskRow.ts'

/** An order whose fate is unknown takes its time: a short ladder has so many minutes at least. */
const LEAST_MINUTES = 30

const fields = {
  sizeUsd: sizeInAll,
  rungs: whole([2, 50], { means: 'number of rungs', form: ['Rungs', '5'] }),
  stepBps: optional(
    percent({
      means: 'by price: distance between two rungs in terms of the price of the first',
      said: (shown) => `every ${shown}`,
      form: ['Step between rungs, percent', '1'],
    }),
  ),
  everySeconds: optional(everySeconds({ means: 'by time: between two rungs' })),
  growthBps: initially(
    BPS_ONE,
    timesBps([1_000, 50_000], {
      means: 'each rung so many times the one before',
      said: (shown) => `each ${shown} times the one before`,
    }),
  ),
  takeProfitBps: optional(
    percent({
      typed: 'profitBps',
      means: 'distance of the target from the averaged entry',
      said: (shown) => `target ${shown} from the average`,
      form: ['Target from average entry, percent', '2'],
    }),
  ),
  stopLossBps: optional(
    percent({
      typed: 'stopBps',
      means: 'distance of the stop from the price of the first rung',
      said: (shown) => `stop ${shown} from the first`,
      form: ['Stop from the first rung, percent', '8'],
    }),
  ),
}

/** Parameters of a ladder. */
export type LadderParams = SideParams<typeof fields>

/** Progress of a ladder. */
export interface LadderProgress extends ExecutorProgress {
  /** Rungs that are placed. */
  readonly rung: number
  /** The oracle's price when the first rung was made. */
  readonly firstPrice?: Usd
  /** Time of the newest rung, Unix ms. */
  readonly lastMs?: number
  /** Ids of intents of rungs that its owner's file took back, and that are to be made anew; absent: none. */
  readonly takenBack?: readonly string[]
  readonly kept?: ExitSync
}

type Task = RunningTask<LadderParams, LadderProgress>
type Plan = ExecutorPlan<LadderProgress>

/** The kind of these tasks. */
export const ladderTask = taskRow({
  name: 'ladder',
  version: 1,
  works: 'opens',
  fields,
  oneOf: ['stepBps', 'everySeconds'],
  does: 'rungs at better prices (the first at the market, the others rest) or by time; the target follows the averaged entry, the stop stays; once an exit fills, nothing is added.',
  doneWhen: 'when an exit closed all, or with the last rung without exits',
  example: '"ETH/USD [WETH-USDC]" long --size 2000 --rungs 5 --step 1% --profit 2% --stop 6% --leverage 2',
  lead: ({ size, rungs }, side) => `${side} by $${size} in ${rungs} rungs`,
  hasExits,
  plansAround: true,
  plan: planOf,
  draft({ sizeUsd, rungs, stepBps, everySeconds, stopLossBps }) {
    if ((stepBps === undefined) === (everySeconds === undefined))
      return {
        code: 'LADDER_STEP',
        reason: 'a ladder has rungs by price or by time: exactly one of the two',
      }
    const last = stepBps === undefined ? 0 : stepBps * (rungs - 1)
    if (last >= BPS_ONE || (stopLossBps !== undefined && stopLossBps <= last)) {
      const reason =
        last >= BPS_ONE
          ? `${rungs} rungs of ${stepBps ?? 0} bps reach a price of zero; use fewer rungs or a smaller step`
          : `the stop, ${stopLossBps ?? 0} bps from the first rung, is before the last rung, which is ${last} bps away`
      return { code: 'LADDER_STEP', reason }
    }
    const minutes =
      everySeconds === undefined ? WEEK_MINUTES : Math.max(LEAST_MINUTES, (2 * rungs * everySeconds) / 60)
    const state: LadderProgress = { made: 0, rung: 0 }
    return { sizeUsd, state, orders: rungs, minutes }
  },
})

function hasExits({ takeProfitBps, stopLossBps }: Partial<LadderParams>): boolean {
  return takeProfitBps !== undefined || stopLossBps !== undefined
}

/** Returns the sizes of the rungs, USD, the first one first; they add up to the whole. */
function rungSizes({ sizeUsd, rungs, growthBps }: LadderParams): readonly Usd[] {
  const weights = [ONE_USD]
  while (weights.length < rungs) weights.push(bps(weights.at(-1) ?? ONE_USD, growthBps))
  const all = weights.reduce((sum, weight) => sum + weight, 0n)
  const sizes = weights.slice(0, -1).map((weight) => mulDiv(sizeUsd, weight, all))
  return [...sizes, sizeUsd - sizes.reduce((sum, size) => sum + size, 0n)]
}

function planOf(given: Task, view: ExecutorView, stand: ExecutorStand): Plan {
  const task = { ...given, state: { ...given.state, ...begun(given.state, view) } }
  const { params, state } = task
  const { use } = stand
  const entries = use.resting.filter(({ isExit }) => !isExit)
  if (use.exitedUsd > 0n) {
    if (use.exitedUsd >= use.doneUsd)
      return { kind: 'end', outcome: 'done', why: 'its exits closed all of it' }
    // A size that another rung filled meanwhile leaves with the rest.
    if (entries.length > 0) return { kind: 'cancel', orders: entries, why: 'an exit filled' }
    if (view.snapshot === undefined) return { kind: 'read' }
    const restUsd = leftToClose(params, use, { ...view, snapshot: view.snapshot })
    if (restUsd === 0n) return { kind: 'end', outcome: 'done', why: 'its exits and others closed all of it' }
    const reason = `the task ${task.taskId} closes the rest after its exit`
    const decision = takingOff({ ...params, action: 'decrease' }, restUsd, reason, { task: task.taskId })
    return { kind: 'order', decision, sizeUsd: 0n, orders: 1, state, isExit: true }
  }
  const exits = hasExits(params) && use.doneUsd > 0n ? exitStep(task, view, use) : undefined
  if (exits !== undefined) return exits
  if (ownTimeMs(view) >= params.budget.untilMs) {
    if (entries.length > 0) return { kind: 'cancel', orders: entries, why: 'its time is over' }
    return use.doneUsd < params.sizeUsd
      ? { kind: 'end', outcome: 'out of budget', why: 'its time is over' }
      : { kind: 'wait', until: 'all of it is filled, and its exits rest at the venue' }
  }
  const takenBack = takenBackNow(state, view)
  if (takenBack.length > 0 && takenBack.join() !== state.takenBack?.join())
    return { kind: 'wait', until: 'its file cancelled rungs', state: { ...state, takenBack } }
  const lost = lostRung(view, takenBack)
  if (lost !== undefined) return rungAt(task, view, stand, lost)
  if (state.rung < params.rungs) return nextRung(task, view, stand)
  if (entries.length > 0) {
    const until =
      entries.length === 1 ? '1 rung rests at the venue' : `${entries.length} rungs rest at the venue`
    return { kind: 'wait', until }
  }
  if (use.doneUsd > 0n && hasExits(params)) return { kind: 'wait', until: 'its exits rest at the venue' }
  const outcome = use.doneUsd > 0n ? 'done' : 'stopped'
  return { kind: 'end', outcome, why: `each of its ${params.rungs} rungs has ended` }
}

/** Returns the step that the exits require now; undefined: none. */
function exitStep({ params, state, taskId }: Task, view: ExecutorView, use: ExecutorUse): Plan | undefined {
  const wanted = wantedExits(params, state, view)
  if (!isLookDue(params, wanted, use, state.kept, view)) return undefined
  if (view.snapshot === undefined) return { kind: 'read' }
  const step = nextExit(params, wanted, use, state.kept, { ...view, snapshot: view.snapshot }, taskId)
  if (step.kind === 'wait') {
    const { until, kept } = step
    return { kind: 'wait', until, ...defined({ state: kept === undefined ? undefined : { ...state, kept } }) }
  }
  if (step.kind === 'gone')
    return { kind: 'end', outcome: 'stopped', why: 'its position is gone', isBare: true }
  if (step.kind === 'order')
    return { kind: 'order', decision: step.decision, sizeUsd: 0n, orders: 1, state, isExit: true }
  const kept = keptExits(params, use, view)
  return { kind: 'wait', until: 'its exits rest at the venue', state: { ...state, kept } }
}

/** The target by the averaged entry, the stop by the first rung. */
function wantedExits(
  params: LadderParams,
  { firstPrice }: LadderProgress,
  { children }: ExecutorView,
): WantedExits {
  const { takeProfitBps, stopLossBps } = params
  const leaving = { direction: params.direction, action: 'decrease' } as const
  const entryPrice = entryPriceOf(children)
  return {
    ...defined({
      takeProfit: ifDefined(entryPrice, (price) =>
        ifDefined(takeProfitBps, (bps) => betterBy(leaving, price, bps)),
      ),
      stopLoss: ifDefined(firstPrice, (price) =>
        ifDefined(stopLossBps, (bps) => betterBy(leaving, price, -bps)),
      ),
    }),
  }
}

/** Rungs that have an order, and the first one's price: one that was accepted counts although the step that made it was not written. */
function begun(
  { rung, firstPrice }: LadderProgress,
  { children }: ExecutorView,
): { readonly rung: number; readonly firstPrice?: Usd } {
  const made = children.map(({ intent }) => Number(intent.decision.facts?.rung ?? 0))
  const price = firstPrice ?? children[0]?.intent.terms.referencePrice
  return { rung: Math.max(rung, ...made), ...defined({ firstPrice: price }) }
}

/**
 * Intents of rungs that its owner's file took back (`protect`), of the newest order of each. They are noted: the cancel that tells it is not at
 * hand for as long as a closing may last.
 */
function takenBackNow({ takenBack = [] }: LadderProgress, view: ExecutorView): readonly string[] {
  return [...rungsOf(view).values()].flatMap((orders) => {
    const newest = orders.at(-1)
    if (newest === undefined) return []
    const { intentId } = newest.intent
    return takenBack.includes(intentId) || takenBackOf(newest, view) !== undefined ? [intentId] : []
  })
}

/**
 * A rung whose order never came to the venue, failed there, or was taken back by its owner's file: it is made anew. One that somebody cancelled
 * is not.
 */
function lostRung(view: ExecutorView, takenBack: readonly string[]): number | undefined {
  for (const [rung, orders] of rungsOf(view)) {
    const newest = orders.at(-1)
    if (rung === 0 || newest === undefined || !orders.every(cameToNothing)) continue
    if (isLost(newest) || takenBack.includes(newest.intent.intentId)) return rung - 1
  }
  return undefined
}

/** Its increases by rung, from 1, those of each in their order. */
function rungsOf({ children }: ExecutorView): ReadonlyMap<number, readonly IntentState[]> {
  return Map.groupBy(
    children.filter(({ intent }) => intent.kind === 'increase'),
    ({ intent }) => Number(intent.decision.facts?.rung ?? 0),
  )
}

function nextRung(task: Task, view: ExecutorView, stand: ExecutorStand): Plan {
  const { everyMs } = task.params
  const { rung, lastMs = 0 } = task.state
  if (everyMs !== undefined && view.nowMs >= lastMs && view.nowMs - lastMs < everyMs)
    return { kind: 'wait', until: 'the next rung is not due yet' }
  return rungAt(task, view, stand, rung)
}

function rungAt(
  { params, state, taskId }: Task,
  view: ExecutorView,
  { leftUsd }: ExecutorStand,
  rung: number,
): Plan {
  const { nowMs, snapshot } = view
  const { stepBps, leverageBps, rungs } = params
  if (snapshot === undefined) return { kind: 'read' }
  const price = priceWithin(params, snapshot)
  if (typeof price === 'string') return { kind: 'wait', until: price }
  const sizeUsd = minOf(leftUsd, rungSizes(params)[rung] ?? 0n)
  const firstPrice = state.firstPrice ?? price
  const next = { ...state, rung: Math.max(state.rung, rung + 1), firstPrice, lastMs: nowMs }
  // A size that an operator's statement or the venue's rounding filled beyond a rung is subtracted from the later ones.
  if (sizeUsd <= 0n) return { kind: 'wait', until: 'all of it is placed', state: next }
  const reason = `rung ${rung + 1} of ${rungs} of the task ${taskId}, ${formatDollars(sizeUsd)}`
  const order = adding(params, sizeUsd, leverageBps, reason, { task: taskId, rung: rung + 1 })
  const restsAt =
    stepBps === undefined || rung === 0
      ? undefined
      : maxOf(1n, betterBy(params, firstPrice, Math.min(stepBps * rung, BPS_ONE - 1)))
  // If the price has gone past the rung already, it is made at once.
  if (restsAt === undefined || !isBeyond(params, price, restsAt))
    return { kind: 'order', decision: order, sizeUsd, orders: 1, state: next }
  const waiting = {
    ...order,
    orderType: 'limit',
    triggerPrice: restsAt,
    reason: `${reason} at ${formatPrice(restsAt)}`,
  } as const
  return { kind: 'order', decision: waiting, sizeUsd, orders: 1, state: next }
}
