/**
 * Rebalances: brings positions, or their owner's parts of them, to target weights once, by moves that were computed when it began. Reductions come
 * before increases, and each order that adds is at most a share of the capacity of its moment. Pure.
 */
import {
  EXECUTORS_VERSION,
  type RebalanceMove,
  type RebalanceParams,
  type RebalanceProgress,
} from '../domain/tasks/executorParams.ts'
import { sameHex } from '../protocol/address.ts'
import { formatDollars, minOf } from '../protocol/units.ts'
import { type ExecutorPlan, type ExecutorStand, executorTask } from './executorStep.ts'
import { type ExecutorView, useOf } from './executorView.ts'
import type { RunningTask, TaskKind } from './taskKind.ts'
import { adding, heldUsd, plannedUsd, shareOfCapacity, takingOff } from './taskOrders.ts'

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
