/**
 * The twap: a size in parts over a time. Where the venue's own twap fits, one message has all parts; else each part is an order of
 * perpd's own, whose size follows the capacity of its moment. What a part leaves, later ones catch up, at most one part each.
 * Pure.
 */
import { z } from 'zod'
import { dollars } from '../base/bodyFields.ts'
import { defined, ifDefined } from '../base/defined.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { TwapWish } from '../domain/order/taskWish.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import { TWAP, TWAP_VERSION, type TwapParams, type TwapProgress } from '../domain/taskStates/twapState.ts'
import { formatDollars, minOf, mulDiv, mulDivUp, type Usd, usd } from '../protocol/units.ts'
import { type ExecutorPlan, type ExecutorStand, executorTask } from './executorStep.ts'
import { type ExecutorView, ownTimeMs } from './executorView.ts'
import type { RunningTask, TaskKind } from './taskKind.ts'
import { adding, plannedUsd, priceWithin, shareOfCapacity, takingOff } from './taskOrders.ts'
import {
  aboveHeld,
  leverage,
  minuteMs,
  minutes,
  ofCapacity,
  onSide,
  SHARE_BPS,
  SPARE,
  shareBps,
  startHead,
  startSide,
  taskRanges,
  taskStart,
} from './taskStart.ts'

/** The parts that a twap of the venue may have, and the step of its duration, ms. */
const VENUE_MOST_PARTS = 30
const VENUE_STEP_MS = 60_000

/** The kind of these tasks. */
export const twapTask: TaskKind<TwapParams, TwapProgress, ExecutorView> = executorTask({
  name: TWAP,
  version: TWAP_VERSION,
  symbolsOf: ({ symbol }) => [symbol],
  reduces: ({ action }) => action === 'decrease',
  plan: planOf,
})

/** Tells whether the venue has this shape of a twap; it has none with a price bound. */
export function hasVenueShape({
  parts,
  durationMs,
  worstPrice,
}: Pick<TwapParams, 'parts' | 'durationMs' | 'worstPrice'>): boolean {
  return worstPrice === undefined && parts <= VENUE_MOST_PARTS && durationMs % VENUE_STEP_MS === 0
}

/** Returns the size due by a moment, USD; the first part begins at once. `slot`: the stretch of that moment, from 1. */
function dueBy({ sizeUsd, parts }: Pick<TwapParams, 'sizeUsd' | 'parts'>, slot: number): Usd {
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

/** The shortest stretch of a part of a twap, ms: an order is in flight for seconds. */
const SLOT_LEAST_MS = 10_000

/** Its start. */
export const twapStart = taskStart<TwapWish>()({
  body: z.strictObject({
    ...startHead,
    ...startSide,
    kind: z.literal('twap'),
    size: dollars,
    reduce: z.boolean().default(false),
    leverage: leverage.exactOptional(),
    parts: z.number().int().min(2).max(taskRanges.partsMost),
    minutes,
    price: dollars.exactOptional(),
    shareBps,
    route: z.enum(['auto', 'own']).default('auto'),
  }),
  asked(command) {
    const { market, direction, size, reduce, parts, minutes, price, shareBps, route } = command
    return [
      `${reduce ? 'reduce' : 'open'} ${market} ${direction} by ${size} USD in ${parts} parts over ${minutes} min`,
      ...(price === undefined ? [] : [`not worse than ${price}`]),
      ofCapacity(shareBps, 'a part'),
      ...(route === 'own' ? ["without the venue's own twap"] : []),
    ]
  },
  wish(command, side, opened) {
    const { size, reduce, parts, minutes, shareBps, price, route } = command
    const bound = defined({ worstPrice: ifDefined(price, usd) })
    const action = reduce ? 'decrease' : 'increase'
    return {
      kind: 'twap',
      ...side,
      ...opened,
      ...bound,
      ...{ action, sizeUsd: usd(size), parts, minutes, shareBps, route },
    }
  },
  draft: (wish, facts) =>
    onSide(wish, facts, (base, leverageBps) => {
      const { sizeUsd, parts, minutes, shareBps = SHARE_BPS, worstPrice, route = 'auto' } = wish
      const durationMs = minutes * minuteMs
      if (durationMs < parts * SLOT_LEAST_MS) {
        const least = Math.ceil((parts * SLOT_LEAST_MS) / minuteMs)
        return {
          code: 'TASK_TOO_FAST',
          reason: `${parts} parts take ${least} min at least; give --minutes ${least} or more`,
        }
      }
      if (base.action === 'decrease' && sizeUsd > plannedUsd(base, facts, facts.snapshot))
        return aboveHeld(base, sizeUsd, facts)
      const bound = defined({ worstPrice })
      const own = { ...base, leverageBps, parts, durationMs, shareBps, ...bound, route }
      const state: ExecutorProgress & { readonly slot: number } = { made: 0, slot: 0 }
      return { own, sizeUsd, state, orders: parts, minutes: SPARE * minutes }
    }),
})
