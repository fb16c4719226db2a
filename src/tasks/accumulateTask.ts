/**
 * Accumulates: adds until the position, or its owner's part of it, has its target, while the oracle's price is within the bound. Each order is at
 * most a share of the venue's capacity at that moment. Pure.
 */
import { z } from 'zod'
import { dollars } from '../base/bodyFields.ts'
import { defined, ifDefined } from '../base/defined.ts'
import type { AccumulateWish } from '../domain/order/taskWish.ts'
import {
  type AccumulateParams,
  type AccumulateProgress,
  EXECUTORS_VERSION,
} from '../domain/taskStates/executorParams.ts'
import { formatDollars, minOf, usd } from '../protocol/units.ts'
import { type ExecutorPlan, type ExecutorStand, executorTask } from './executorStep.ts'
import type { ExecutorView } from './executorView.ts'
import type { RunningTask, TaskKind } from './taskKind.ts'
import { adding, plannedUsd, priceWithin, shareOfCapacity } from './taskOrders.ts'
import {
  DAY_MINUTES,
  everySeconds,
  leverage,
  ofCapacity,
  onSide,
  planned,
  SHARE_BPS,
  shareBps,
  startHead,
  startSide,
  taskStart,
} from './taskStart.ts'

/** The kind of these tasks. */
export const accumulateTask: TaskKind<AccumulateParams, AccumulateProgress, ExecutorView> = executorTask({
  name: 'accumulate',
  version: EXECUTORS_VERSION,
  symbolsOf: ({ symbol }) => [symbol],
  plan: planOf,
})

function planOf(
  { params, state, taskId }: RunningTask<AccumulateParams, AccumulateProgress>,
  view: ExecutorView,
  { leftUsd }: ExecutorStand,
): ExecutorPlan<AccumulateProgress> {
  const { targetUsd, worstPrice, shareBps, everyMs, leastUsd, leverageBps } = params
  const { nowMs, snapshot } = view
  // A clock that was set back does not hold it up.
  if (nowMs >= state.lastMs && nowMs - state.lastMs < everyMs)
    return { kind: 'wait', until: 'the next order is not due yet' }
  if (snapshot === undefined) return { kind: 'read' }
  const held = plannedUsd(params, view, snapshot)
  if (held >= targetUsd)
    return {
      kind: 'end',
      outcome: 'done',
      why: `${view.ownUsd === undefined ? 'the position' : 'its own part'} has reached its target with ${formatDollars(held)}`,
    }
  const price = priceWithin(params, snapshot, worstPrice)
  if (typeof price === 'string') return { kind: 'wait', until: price }
  const mostUsd = shareOfCapacity(params, shareBps, view, snapshot)
  if (typeof mostUsd === 'string') return { kind: 'wait', until: mostUsd }
  // Others' additions meanwhile count where the whole position counts: it grows to the target, and not beyond.
  const wantedUsd = minOf(leftUsd, targetUsd - held)
  const sizeUsd = minOf(wantedUsd, mostUsd)
  if (sizeUsd < minOf(leastUsd, wantedUsd)) {
    const until = `its share of the capacity is ${formatDollars(sizeUsd)}, below the smallest order of ${formatDollars(leastUsd)}`
    return { kind: 'wait', until }
  }
  const reason = `the task ${taskId} adds towards ${formatDollars(targetUsd)}`
  const decision = adding(params, sizeUsd, leverageBps, reason, { task: taskId })
  return { kind: 'order', decision, sizeUsd, orders: 1, state: { ...state, lastMs: nowMs } }
}

const lastAt: AccumulateProgress = { made: 0, lastMs: 0 }

/** Its start. */
export const accumulateStart = taskStart<AccumulateWish>()({
  body: z.strictObject({
    ...startHead,
    ...startSide,
    kind: z.literal('accumulate'),
    target: dollars,
    leverage,
    price: dollars,
    shareBps,
    everySeconds,
    least: dollars.exactOptional(),
  }),
  asked(command) {
    const { market, direction, target, price, shareBps, everySeconds, least } = command
    return [
      `add to ${market} ${direction} until it has ${target} USD`,
      `not worse than ${price}`,
      ofCapacity(shareBps, 'an order'),
      ...(everySeconds === undefined ? [] : [`every ${everySeconds} s`]),
      ...(least === undefined ? [] : [`orders of ${least} USD or more`]),
    ]
  },
  wish(command, side, opened) {
    const opening = { leverageBps: 0, ...opened }
    const { target, price, shareBps, everySeconds, least } = command
    return {
      kind: 'accumulate',
      ...side,
      ...opening,
      ...{ targetUsd: usd(target), worstPrice: usd(price), shareBps },
      ...defined({ everySeconds, leastUsd: ifDefined(least, usd) }),
    }
  },
  draft: (wish, facts) =>
    onSide(wish, facts, (base, leverageBps) => {
      const { targetUsd, worstPrice, shareBps = SHARE_BPS, everySeconds = 60 } = wish
      const sizeUsd = targetUsd - plannedUsd(base, facts, facts.snapshot)
      if (sizeUsd <= 0n) {
        const reason = `${planned(facts)} on ${base.symbol} already has ${formatDollars(targetUsd)} or more`
        return { code: 'TARGET_REACHED', reason }
      }
      const leastUsd = wish.leastUsd ?? sizeUsd / 20n
      const own = {
        ...base,
        leverageBps,
        targetUsd,
        worstPrice,
        shareBps,
        everyMs: everySeconds * 1_000,
        leastUsd,
      }
      return { own, sizeUsd, state: lastAt, orders: 20, minutes: DAY_MINUTES }
    }),
})
