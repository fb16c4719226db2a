/**
 * The twap: a size in parts over a time. Where the venue's own twap fits, one message has all parts; else each part is an order of
 * perpd's own, whose size follows the capacity of its moment. What a part leaves, later ones catch up, at most one part each.
 * Pure.
 */
import { z } from 'zod'
import type { Decision } from '../domain/order/decision.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import { formatDollars, minOf, mulDiv, mulDivUp, type Usd } from '../protocol/units.ts'
import type { ExecutorPlan, ExecutorStand } from './executorStep.ts'
import { type ExecutorView, ownTimeMs } from './executorView.ts'
import {
  capacityShare,
  initially,
  MINUTE_MS,
  minutes,
  optional,
  price,
  sizeInAll,
  type TaskField,
  whole,
} from './taskFields.ts'
import type { RunningTask } from './taskKind.ts'
import { adding, priceWithin, shareOfCapacity, takingOff } from './taskOrders.ts'
import { aboveHeld, openingText, type SideParams, taskRow } from './taskRow.ts'

/** The parts that a twap of the venue may have, and the step of its duration, ms. */
const VENUE_MOST_PARTS = 30
const VENUE_STEP_MS = 60_000
/** The shortest stretch of a part of a twap, ms: an order is in flight for seconds. */
const SLOT_LEAST_MS = 10_000

const routes = z.enum(['auto', 'own'])
const route: TaskField<typeof routes, 'needed', never> = {
  schema: routes,
  text: routes,
  read: (text: 'auto' | 'own') => text,
  show: String,
  given: 'needed',
  isInitialSaid: true,
  flagGives: { flag: 'own', value: 'own' },
  means: "never the venue's own twap",
  said: (shown) => (shown === 'own' ? "without the venue's own twap" : undefined),
}

const fields = {
  sizeUsd: sizeInAll,
  parts: whole([2, 200], { means: 'number of parts', form: ['Parts', '10'] }),
  minutes: minutes({
    means: 'time from the first part to the end of the last',
    form: ['Minutes', '60'],
    keptAs: 'durationMs',
  }),
  worstPrice: optional(
    price({
      typed: 'price',
      means: 'no order while the price is worse; slippage is beyond it',
      said: (shown) => `not worse than ${shown}`,
      form: ['Worst price, USD'],
    }),
  ),
  shareBps: capacityShare('a part'),
  route: initially('auto', route),
}

/** Parameters of a twap. */
export type TwapParams = SideParams<typeof fields>

/** Progress of a twap. */
export interface TwapProgress extends ExecutorProgress {
  /** The newest stretch of time in which a part was made, from 1; 0 before the first. A stretch has one part at most. */
  readonly slot: number
}

/** The kind of these tasks. */
export const twapTask = taskRow({
  name: 'twap',
  version: 1,
  works: 'either',
  fields,
  does: "a size in equal parts over some minutes: one message of the venue's own twap where that fits (up to 30 parts, whole minutes, no price bound, all of it within the share of the capacity), else orders sized by the capacity of their moment.",
  doneWhen: 'when all is filled',
  example: '"ETH/USD [WETH-USDC]" long --size 5000 --parts 10 --minutes 60 --leverage 2',
  lead: ({ size, parts, minutes }, side) => `${side} by $${size} in ${parts} parts over ${minutes} min`,
  plan: planOf,
  draft(wish, facts) {
    const { sizeUsd, parts, minutes } = wish
    if (minutes * MINUTE_MS < parts * SLOT_LEAST_MS) {
      const least = Math.ceil((parts * SLOT_LEAST_MS) / MINUTE_MS)
      return {
        code: 'TASK_TOO_FAST',
        reason: `${parts} parts take ${least} min at least; give --minutes ${least} or more`,
      }
    }
    const denial = aboveHeld(wish, facts)
    if (denial !== undefined) return denial
    const state: TwapProgress = { made: 0, slot: 0 }
    return { sizeUsd, state, orders: parts, minutes: 2 * minutes }
  },
  outlook(params, isByVenue) {
    const { parts, durationMs, route } = params
    const ownShape = route === 'own' || hasVenueShape(params)
    const by = isByVenue
      ? "by the venue's own twap"
      : `by orders of perpd${ownShape ? '' : " (the venue's twap has no such shape)"}`
    return `${openingText(params)} in ${parts} parts over ${durationMs / MINUTE_MS} min, ${by}`
  },
})

/** Tells whether the venue has this shape of a twap; it has none with a price bound. */
function hasVenueShape({ parts, durationMs, worstPrice }: TwapParams): boolean {
  return worstPrice === undefined && parts <= VENUE_MOST_PARTS && durationMs % VENUE_STEP_MS === 0
}

/** Returns the size due by a moment, USD; the first part begins at once. `slot`: the stretch of that moment, from 1. */
function dueBy({ sizeUsd, parts }: TwapParams, slot: number): Usd {
  return slot >= parts ? sizeUsd : mulDiv(sizeUsd, BigInt(slot), BigInt(parts))
}

function planOf(
  { params, state, sinceMs, taskId }: RunningTask<TwapParams, TwapProgress>,
  view: ExecutorView,
  { use, leftUsd }: ExecutorStand,
): ExecutorPlan<TwapProgress> {
  const { durationMs, parts, sizeUsd } = params
  // A clock that was set back begins no stretch before the first.
  const elapsedMs = Math.max(0, ownTimeMs(view) - sinceMs)
  const slot = Math.floor((elapsedMs * parts) / durationMs) + 1
  if (slot <= state.slot) return { kind: 'wait', until: 'the next part is not due yet' }
  const behindUsd = minOf(leftUsd, dueBy(params, slot) - use.doneUsd)
  if (behindUsd <= 0n) return { kind: 'wait', until: 'it is ahead of schedule' }
  if (view.snapshot === undefined) return { kind: 'read' }
  const { snapshot } = view
  const next = { ...state, slot }
  if (state.made === 0 && params.route === 'auto' && hasVenueShape(params) && fits(params, view, snapshot)) {
    const decision = venueTwap(params, taskId)
    if (view.denialOf(snapshot, decision) === undefined) {
      return { kind: 'order', decision, sizeUsd, orders: parts, state: next }
    }
  }
  const price = priceWithin(params, snapshot, params.worstPrice)
  if (typeof price === 'string') return { kind: 'wait', until: price }
  const evenUsd = mulDivUp(sizeUsd, 1n, BigInt(parts))
  const wantedUsd = minOf(behindUsd, 2n * evenUsd)
  const mostUsd = mostOf(params, view, snapshot)
  if (typeof mostUsd === 'string') return { kind: 'wait', until: mostUsd }
  const partUsd = minOf(wantedUsd, mostUsd)
  if (partUsd <= 0n) return { kind: 'wait', until: 'the venue has no capacity left on this side' }
  return {
    kind: 'order',
    decision: part(params, partUsd, `part of the task ${taskId}, stretch ${slot}`, taskId),
    sizeUsd: partUsd,
    orders: 1,
    state: next,
  }
}

/** The most that an order of it may have by the capacity of now, USD; or why that is not known. Reductions need none. */
function mostOf(params: TwapParams, view: ExecutorView, snapshot: Snapshot): Usd | string {
  if (params.action === 'decrease') return params.sizeUsd
  return shareOfCapacity(params, params.shareBps, view, snapshot)
}

/** Tells whether one message may have all of it: the venue's parts do not follow the capacity of their moment. */
function fits(params: TwapParams, view: ExecutorView, snapshot: Snapshot): boolean {
  const mostUsd = mostOf(params, view, snapshot)
  return typeof mostUsd === 'bigint' && params.sizeUsd <= mostUsd
}

function part(params: TwapParams, sizeDeltaUsd: Usd, reason: string, taskId: string): Decision {
  const facts = { task: taskId }
  return params.action === 'increase'
    ? adding(params, sizeDeltaUsd, params.leverageBps, reason, facts)
    : takingOff(params, sizeDeltaUsd, reason, facts)
}

function venueTwap(params: TwapParams, taskId: string): Decision {
  const { sizeUsd, parts, durationMs } = params
  const reason = `the task ${taskId}: ${formatDollars(sizeUsd)} in ${parts} parts at the venue`
  const decision = part(params, sizeUsd, reason, taskId)
  const twap = { parts, durationSeconds: durationMs / 1_000 }
  return { ...decision, orderType: 'twap', twap } as Decision
}
