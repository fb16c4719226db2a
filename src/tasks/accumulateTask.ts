/**
 * Accumulates: adds until the position, or its owner's part of it, has its target, while the oracle's price is within the bound. Each order is at
 * most a share of the venue's capacity at that moment. Pure.
 */
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import { formatDollars, minOf, mulDivUp, type Usd } from '../protocol/units.ts'
import type { ExecutorPlan, ExecutorStand } from './executorStep.ts'
import type { ExecutorView } from './executorView.ts'
import { amount, capacityShare, DAY_MINUTES, everySeconds, initially, optional, price } from './taskFields.ts'
import type { RunningTask } from './taskKind.ts'
import { adding, plannedUsd, priceWithin, shareOfCapacity } from './taskOrders.ts'
import { planned, type SideParams, taskRow } from './taskRow.ts'

/** Orders that its smallest order gives it at most. */
const ORDERS_MOST = 20n

const fields = {
  targetUsd: amount({
    typed: 'target',
    means: 'target size of the position',
    form: ['Position size, USD'],
  }),
  worstPrice: price({
    typed: 'price',
    means: 'no order while the price is worse; slippage is beyond it',
    said: (shown) => `not worse than ${shown}`,
    form: ['Worst price, USD'],
  }),
  shareBps: capacityShare('an order'),
  everySeconds: initially(60, everySeconds({ means: 'least time between two orders' })),
  leastUsd: optional(
    amount({
      typed: 'least',
      means: 'least size of an order; a twentieth of the missing size when not given',
      said: (shown) => `orders of $${shown} or more`,
    }),
  ),
}

/** Goal: `targetUsd` is the target size of the position, `sizeUsd` the missing size at the start. */
type AccumulateParams = SideParams<typeof fields> & { readonly leastUsd: Usd }

/** Progress of an accumulation. */
export interface AccumulateProgress extends ExecutorProgress {
  /** Time of its newest order, Unix ms; 0 before the first. */
  readonly lastMs: number
}

/** The kind of these tasks. */
export const accumulateTask = taskRow({
  name: 'accumulate',
  version: 1,
  noun: 'an accumulation',
  works: 'opens',
  fields,
  does: 'adds until the position has its target, while the price is within the bound; each order takes a share of the capacity.',
  doneWhen: 'when the position has its target, whoever added',
  example: '"ETH/USD [WETH-USDC]" long --target 10000 --price 1900 --leverage 2',
  lead: ({ market, direction, target }) => `add to ${market} ${direction} until it has $${target}`,
  plan: planOf,
  draft(wish, facts) {
    const { targetUsd, symbol } = wish
    const sizeUsd = targetUsd - plannedUsd(wish, facts, facts.snapshot)
    if (sizeUsd <= 0n) {
      const reason = `${planned(facts)} on ${symbol} already has ${formatDollars(targetUsd)} or more`
      return { code: 'TARGET_REACHED', reason }
    }
    const leastUsd = wish.leastUsd ?? sizeUsd / ORDERS_MOST
    const state: AccumulateProgress = { made: 0, lastMs: 0 }
    const orders = leastUsd === 0n ? ORDERS_MOST : minOf(ORDERS_MOST, mulDivUp(sizeUsd, 1n, leastUsd))
    return { own: { leastUsd }, sizeUsd, state, orders: Number(orders), minutes: DAY_MINUTES }
  },
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
