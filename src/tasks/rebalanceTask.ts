/**
 * Rebalances: brings positions, or their owner's parts of them, to target weights once, by moves that were computed when it began. Reductions come
 * before increases, and each order that adds is at most a share of the capacity of its moment. Pure.
 */
import { z } from 'zod'
import { dollars, line, pool, typed } from '../base/bodyFields.ts'
import type { RebalanceWish } from '../domain/order/taskWish.ts'
import { marketOf } from '../domain/snapshot.ts'
import {
  EXECUTORS_VERSION,
  type RebalanceMove,
  type RebalanceParams,
  type RebalanceProgress,
} from '../domain/taskStates/executorParams.ts'
import { sameHex } from '../protocol/address.ts'
import { absOf, BPS_ONE, bps, formatDollars, minOf, usd } from '../protocol/units.ts'
import { type ExecutorPlan, type ExecutorStand, executorTask } from './executorStep.ts'
import { type ExecutorView, useOf } from './executorView.ts'
import type { RunningTask, TaskKind } from './taskKind.ts'
import { adding, heldUsd, plannedUsd, shareOfCapacity, takingOff } from './taskOrders.ts'
import {
  DAY_MINUTES,
  leverage,
  ofCapacity,
  percent,
  SHARE_BPS,
  SPARE,
  shareBps,
  startHead,
  taskStart,
  tooLowLeverage,
  unread,
} from './taskStart.ts'

type Plan = ExecutorPlan<RebalanceProgress>

/** The kind of these tasks. */
export const rebalanceTask: TaskKind<RebalanceParams, RebalanceProgress, ExecutorView> = executorTask({
  name: 'rebalance',
  version: EXECUTORS_VERSION,
  symbolsOf: ({ moves }) => moves.map(({ symbol }) => symbol),
  reduces: ({ moves }) => moves.some(({ action }) => action === 'decrease'),
  plan: planOf,
})

function planOf(
  { params, state, taskId }: RunningTask<RebalanceParams, RebalanceProgress>,
  view: ExecutorView,
  { leftUsd }: ExecutorStand,
): Plan {
  let waits: string | undefined
  for (const move of params.moves) {
    const { doneUsd, openUsd } = useOf({
      ...view,
      children: view.children.filter(({ intent }) => isOf(intent, move)),
    })
    const missingUsd = minOf(leftUsd, move.sizeUsd - doneUsd - openUsd)
    // A remainder that rounding left in a position is not worth an order.
    if (missingUsd <= 0n || (doneUsd > 0n && missingUsd < params.leastUsd)) continue
    if (view.snapshot === undefined) return { kind: 'read' }
    const facts = { task: taskId }
    if (move.action === 'decrease') {
      const heldOfSideUsd = minOf(plannedUsd(move, view, view.snapshot), heldUsd(move, view.snapshot))
      const sizeUsd = minOf(missingUsd, heldOfSideUsd)
      if (sizeUsd === 0n) continue
      const decision = takingOff(move, sizeUsd, `the task ${taskId} reduces a market above its weight`, facts)
      return { kind: 'order', decision, sizeUsd, orders: 1, state }
    }
    const mostUsd = shareOfCapacity(move, params.shareBps, view, view.snapshot)
    const sizeUsd = typeof mostUsd === 'string' ? 0n : minOf(missingUsd, mostUsd)
    if (sizeUsd === 0n || sizeUsd < minOf(params.leastUsd, missingUsd)) {
      waits ??=
        typeof mostUsd === 'string'
          ? mostUsd
          : `the share of the capacity of ${move.symbol} is ${formatDollars(mostUsd)}`
      continue
    }
    const reason = `the task ${taskId} adds to a market below its weight`
    const decision = adding(move, sizeUsd, params.leverageBps, reason, facts)
    return { kind: 'order', decision, sizeUsd, orders: 1, state }
  }
  return waits === undefined
    ? { kind: 'end', outcome: 'done', why: 'every market is at its weight' }
    : { kind: 'wait', until: waits }
}

function isOf(
  {
    kind,
    terms,
  }: { readonly kind: string; readonly terms: Pick<RebalanceMove, 'marketToken' | 'direction'> },
  { marketToken, direction, action }: RebalanceMove,
): boolean {
  return (
    sameHex(terms.marketToken, marketToken) &&
    terms.direction === direction &&
    (kind === 'increase') === (action === 'increase')
  )
}

/** Most markets of a rebalance. */
const WEIGHTS_MOST = 20

/** Its start. */
export const rebalanceStart = taskStart<RebalanceWish>()({
  body: z.strictObject({
    ...startHead,
    kind: z.literal('rebalance'),
    total: dollars,
    weights: z.record(line(120), z.number().int().min(-10_000).max(10_000)).refine((weights) => {
      const count = Object.keys(weights).length
      return count >= 1 && count <= WEIGHTS_MOST
    }, `1 to ${WEIGHTS_MOST} markets with their weights`),
    leverage,
    collateral: pool.exactOptional(),
    bandBps: z.number().int().min(1).max(5_000).meta(typed('percent')).exactOptional(),
    shareBps,
    least: dollars.exactOptional(),
  }),
  asked(command) {
    const { total, weights, bandBps, shareBps, least } = command
    const each = Object.entries(weights).map(([market, weightBps]) => `${market} ${percent(weightBps)}`)
    return [
      `bring ${total} USD to ${each.join(', ')}`,
      ...(bandBps === undefined ? [] : [`a drift of ${percent(bandBps)} left alone`]),
      ofCapacity(shareBps, 'an order'),
      ...(least === undefined ? [] : [`orders of ${least} USD or more`]),
    ]
  },
  draft(wish, facts) {
    const { snapshot } = facts
    const { totalUsd, weights, leverageBps, bandBps = 100, shareBps = SHARE_BPS, leastUsd = usd(10) } = wish
    const all = weights.reduce((sum, { weightBps }) => sum + Math.abs(weightBps), 0)
    if (all > BPS_ONE)
      return {
        code: 'WEIGHTS',
        reason: `the weights add up to ${all / 100} percent, more than 100`,
      }
    if (leverageBps < BPS_ONE) return tooLowLeverage
    const off: RebalanceMove[] = []
    const on: RebalanceMove[] = []
    for (const { marketToken, collateralToken, weightBps } of weights) {
      const view = marketOf(snapshot, marketToken)
      if (view === undefined) return unread(marketToken)
      const { symbol, marketToken: token } = view.market
      for (const direction of ['long', 'short'] as const) {
        const isWanted = weightBps !== 0 && weightBps > 0 === (direction === 'long')
        const wantedUsd = isWanted ? bps(totalUsd, Math.abs(weightBps)) : 0n
        const base = { symbol, marketToken: token, direction, collateralToken, action: 'increase' as const }
        const drift = wantedUsd - plannedUsd(base, facts, snapshot)
        const isSmall = absOf(drift) < bps(totalUsd, bandBps) || absOf(drift) < leastUsd
        // A side that is to be empty is closed, however small it is.
        if (drift === 0n || (isSmall && wantedUsd > 0n)) continue
        if (drift < 0n) off.push({ ...base, action: 'decrease', sizeUsd: -drift })
        else on.push({ ...base, sizeUsd: drift })
      }
    }
    const moves = [...off, ...on]
    if (moves.length === 0)
      return { code: 'TARGET_REACHED', reason: 'every market is within its band of its weight already' }
    const sizeUsd = moves.reduce((sum, move) => sum + move.sizeUsd, 0n)
    const own = { leverageBps, moves, shareBps, leastUsd }
    return { own, sizeUsd, state: { made: 0 }, orders: SPARE * moves.length, minutes: DAY_MINUTES }
  },
})
