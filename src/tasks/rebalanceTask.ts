/**
 * Rebalances: brings positions, or their owner's parts of them, to target weights once, by moves that were computed when it began. Reductions come
 * before increases, and each order that adds is at most a share of the capacity of its moment. Pure.
 */

import { z } from 'zod'
import { line } from '../base/bodyFields.ts'
import type { MarketSide } from '../domain/accountRecords/accountRecord.ts'
import { address, whole, words } from '../domain/order/decisionValues.ts'
import { marketOf } from '../domain/snapshot.ts'
import type { ExecutorProgress, TaskGoal } from '../domain/taskStates/executorState.ts'
import { sameHex } from '../protocol/address.ts'
import { absOf, BPS_ONE, bps, formatDollars, minOf, type Usd, usd } from '../protocol/units.ts'
import type { ExecutorPlan, ExecutorStand } from './executorStep.ts'
import { type ExecutorView, useOf } from './executorView.ts'
import {
  amount,
  capacityShare,
  DAY_MINUTES,
  initially,
  percent,
  percentText,
  type TaskField,
} from './taskFields.ts'
import type { RunningTask } from './taskKind.ts'
import { adding, heldUsd, plannedUsd, shareOfCapacity, takingOff } from './taskOrders.ts'
import { type TaskMove, taskRow, tooLowLeverage, unread } from './taskRow.ts'

/** Most markets of a rebalance. */
const WEIGHTS_MOST = 20

const weightsOfMarkets = z
  .array(
    z
      .strictObject({
        marketToken: address.describe('Market.'),
        collateralToken: address.describe('Token of its pool that backs the position.'),
        weightBps: whole(-BPS_ONE, BPS_ONE).describe(
          'Share of the total, bps; below 0 for a short, 0 for none.',
        ),
      })
      .meta(words({ name: 'a weight' })),
  )
  .meta(words({ members: 'weights' }))
  .readonly()
const weightTexts = z.record(line(120), z.number().int().min(-BPS_ONE).max(BPS_ONE)).refine((weights) => {
  const count = Object.keys(weights).length
  return count >= 1 && count <= WEIGHTS_MOST
}, `1 to ${WEIGHTS_MOST} markets with their weights`)

/** The weights of markets; an operator names the markets, which its command looks up. */
const weights: TaskField<typeof weightsOfMarkets, 'needed', false> = {
  schema: weightsOfMarkets,
  text: weightTexts,
  read: () => [],
  show: String,
  given: 'needed',
  keptAs: false,
  means: 'weights of markets; their sizes add up to 10000 bps at most',
  form: ['Weights, percent'],
}

const fields = {
  weights,
  totalUsd: amount({ typed: 'total', means: 'total of the weights', form: ['Total, USD'], keptAs: false }),
  bandBps: initially(
    100,
    percent({
      typedMost: 5_000,
      means: 'tolerated drift of the total',
      said: (shown) => `a drift of ${shown} tolerated`,
      keptAs: false,
    }),
  ),
  shareBps: capacityShare('an order'),
  leastUsd: initially(
    usd(10),
    amount({
      typed: 'least',
      means: 'least size of an order',
      said: (shown) => `orders of $${shown} or more`,
    }),
  ),
}

/** Parameters of a rebalance. */
export interface RebalanceParams extends TaskGoal {
  readonly leverageBps: number
  /** Moves in their order: reductions come before increases. No two are on one side of one market. */
  readonly moves: readonly TaskMove[]
  readonly shareBps: number
  readonly leastUsd: Usd
}

type Plan = ExecutorPlan<ExecutorProgress>

/** The kind of these tasks. */
export const rebalanceTask = taskRow({
  name: 'rebalance',
  version: 1,
  works: 'none',
  fields,
  does: 'brings positions to weights of a total once; it reduces first and adds afterwards.',
  doneWhen: 'when each market has its weight',
  example: '"ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%" --total 5000 --leverage 2',
  lead({ total, weights }) {
    const each = Object.entries(weights as Readonly<Record<string, number>>)
    return `bring $${total} to ${each.map(([market, weightBps]) => `${market} ${percentText(weightBps)}`).join(', ')}`
  },
  plan: planOf,
  draft(wish, facts) {
    const { snapshot } = facts
    const { totalUsd, weights, leverageBps, bandBps, leastUsd } = wish
    const all = weights.reduce((sum, { weightBps }) => sum + Math.abs(weightBps), 0)
    if (all > BPS_ONE)
      return {
        code: 'WEIGHTS',
        reason: `the weights add up to ${all / 100} percent, more than 100`,
      }
    if (leverageBps < BPS_ONE) return tooLowLeverage
    const off: TaskMove[] = []
    const on: TaskMove[] = []
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
    return { own: { moves }, sizeUsd, state: { made: 0 }, orders: 2 * moves.length, minutes: DAY_MINUTES }
  },
  outlook: ({ moves }) =>
    moves
      .map(
        ({ action, direction, symbol, sizeUsd }) =>
          `${action === 'increase' ? 'adds' : 'takes off'} ${formatDollars(sizeUsd)} of ${direction} ${symbol}`,
      )
      .join(', '),
})

function planOf(
  { params, state, taskId }: RunningTask<RebalanceParams, ExecutorProgress>,
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
  { kind, terms }: { readonly kind: string; readonly terms: MarketSide },
  { marketToken, direction, action }: TaskMove,
): boolean {
  return (
    sameHex(terms.marketToken, marketToken) &&
    terms.direction === direction &&
    (kind === 'increase') === (action === 'increase')
  )
}
