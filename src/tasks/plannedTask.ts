/** Makes a task of a wish: its complete parameters, with a budget, or the reason why there can be no such task. Pure. */
import { defined } from '../base/defined.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { RebalanceWish, TaskWish } from '../domain/order/taskWish.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { EXECUTORS_VERSION, type RebalanceMove } from '../domain/tasks/executorParams.ts'
import type { ExecutorProgress, TaskGoal } from '../domain/tasks/executorState.ts'
import { TWAP_VERSION } from '../domain/tasks/twapState.ts'
import type { Address } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { absOf, BPS_ONE, bps, formatDollars, type Usd, usd } from '../protocol/units.ts'
import { type ExecutorView, mostFeeUsd } from './executorView.ts'
import { isBeyond, plannedUsd, type TaskSide, takenPrice } from './taskOrders.ts'

const minuteMs = 60_000
/** The shortest stretch of a part of a twap, ms: an order is in flight for seconds. */
const SLOT_LEAST_MS = 10_000
/** Multiple of a task's parts, and of its time, that its budget has by default. */
const SPARE = 2
/** The most of the capacity that an order takes when nothing is said, bps. */
const SHARE_BPS = 2_500
/** An order whose fate is unknown takes its time: a short task has so much at least. */
const LEAST_MINUTES = 30
const DAY_MINUTES = 1_440
const WEEK_MINUTES = 10_080

/** Facts for planning a task. */
export interface PlanFacts extends Pick<ExecutorView, 'ownUsd'> {
  /** Snapshot of the task's markets. */
  readonly snapshot: Snapshot
  /** Unix ms. */
  readonly nowMs: number
  /** The most that sending one order may cost, USD. */
  readonly mostSendingUsd: Usd
  readonly asked: string
  readonly owner?: string
}

/** A task that may begin. */
export interface PlannedTask {
  readonly version: number
  readonly params: TaskGoal
  readonly state: ExecutorProgress
}

/** A kind's own part of a task, and the base of its budget. */
interface Draft {
  readonly own: object
  readonly sizeUsd: Usd
  readonly state: ExecutorProgress
  /** Orders that it takes when all goes well, without exits; its budget has twice of it. */
  readonly orders: number
  /** Exits that come with each of them; absent: none. */
  readonly exits?: number
  readonly minutes: number
}

/** The task, or why there is none: MARKET_UNKNOWN, MIN_LEVERAGE, TASK_BUDGET and the codes of the kinds. */
export function plannedTask(wish: TaskWish, facts: PlanFacts): PlannedTask | Denial {
  const drafted = draftOf(wish, facts)
  if ('code' in drafted) return drafted
  const { own, sizeUsd, state, orders, exits = 0, minutes } = drafted
  const { asked, owner, mostSendingUsd, nowMs } = facts
  const sendingUsd = mostSendingUsd * BigInt(1 + exits)
  const { budget = {} } = wish
  const feesUsd = budget.feesUsd ?? sendingUsd * BigInt(orders) + mostFeeUsd(sizeUsd)
  const eachUsd = sendingUsd + mostFeeUsd(sizeUsd / BigInt(orders))
  if (feesUsd < eachUsd) {
    return {
      code: 'TASK_BUDGET',
      reason: `the fees of one part may be ${formatDollars(eachUsd)} at most (signing.maxRelayFee), and the budget is ${formatDollars(feesUsd)}: it could not pay for one part`,
    }
  }
  const untilMs = nowMs + Math.ceil((budget.minutes ?? minutes) * minuteMs)
  const goal: TaskGoal = {
    sizeUsd,
    budget: { orders: budget.orders ?? SPARE * orders, feesUsd, untilMs },
    asked,
    ...defined({ owner }),
  }
  const version = wish.kind === 'twap' ? TWAP_VERSION : EXECUTORS_VERSION
  return { version, params: { ...own, ...goal } as TaskGoal, state }
}

function draftOf(wish: TaskWish, facts: PlanFacts): Draft | Denial {
  if (wish.kind === 'rebalance') return rebalanceDraft(wish, facts)
  const { marketToken, direction, collateralToken } = wish
  const action = 'action' in wish ? (wish.action ?? 'increase') : 'increase'
  const view = marketOf(facts.snapshot, marketToken)
  if (view === undefined) return unread(marketToken)
  const { symbol, marketToken: token } = view.market
  const leverageBps = wish.leverageBps ?? 0
  if (action === 'increase' && leverageBps < BPS_ONE) return tooLowLeverage
  const base = { symbol, marketToken: token, direction, collateralToken, action } as const
  switch (wish.kind) {
    case 'twap':
      return twapDraft(wish, base, leverageBps, facts)
    case 'accumulate': {
      const { targetUsd, worstPrice, shareBps = SHARE_BPS, everySeconds = 60 } = wish
      const sizeUsd = targetUsd - plannedUsd(base, facts, facts.snapshot)
      if (sizeUsd <= 0n) {
        const reason = `${planned(facts)} on ${symbol} already has ${formatDollars(targetUsd)} or more`
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
    }
    case 'ladder':
      return ladderDraft(wish, base, leverageBps)
    case 'chase': {
      const { sizeUsd, worstPrice, minutes, offsetBps = 5, stepBps = 5, everySeconds = 15 } = wish
      if (action === 'decrease' && sizeUsd > plannedUsd(base, facts, facts.snapshot))
        return aboveHeld(base, sizeUsd, facts)
      const patienceMs = minutes * minuteMs
      const own = {
        ...base,
        leverageBps,
        offsetBps,
        stepBps,
        everyMs: everySeconds * 1_000,
        worstPrice,
        patienceMs,
      }
      return {
        own,
        sizeUsd,
        state: { made: 0, movedMs: 0 } as ExecutorProgress,
        // A move at each of its looks, its first limit and the rest at the market.
        orders: Math.max(20, Math.ceil((minutes * 60) / everySeconds) + 2),
        minutes: SPARE * minutes,
      }
    }
    case 'bracket': {
      const { sizeUsd, entryPrice, takeProfit, stopLoss } = wish
      const price = takenPrice(base, facts.snapshot)
      if (price === undefined)
        return { code: 'PRICE_UNKNOWN', reason: `the oracle has no fresh price of ${symbol}; retry` }
      const at = entryPrice ?? price
      const wrong = misplaced(direction, at, takeProfit, stopLoss)
      if (wrong !== undefined) return { code: 'EXIT_MISPLACED', reason: wrong }
      const entry =
        entryPrice === undefined ? 'market' : isBeyond(base, entryPrice, price) ? 'stop-market' : 'limit'
      const own = {
        ...base,
        ...{ leverageBps, stopLoss, entry },
        ...defined({ entryPrice, takeProfit }),
      }
      const exits = takeProfit === undefined ? 1 : 2
      return { own, sizeUsd, state: { made: 0 }, orders: 1, exits, minutes: DAY_MINUTES }
    }
  }
}

const lastAt: ExecutorProgress & { readonly lastMs: number } = { made: 0, lastMs: 0 }

type Base = TaskSide & { readonly symbol: string }

function twapDraft(
  wish: Extract<TaskWish, { kind: 'twap' }>,
  base: Base,
  leverageBps: number,
  facts: PlanFacts,
): Draft | Denial {
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
  const bound = worstPrice === undefined ? {} : { worstPrice }
  const own = { ...base, leverageBps, parts, durationMs, shareBps, ...bound, route }
  const state: ExecutorProgress & { readonly slot: number } = { made: 0, slot: 0 }
  return { own, sizeUsd, state, orders: parts, minutes: SPARE * minutes }
}

function ladderDraft(
  wish: Extract<TaskWish, { kind: 'ladder' }>,
  base: Base,
  leverageBps: number,
): Draft | Denial {
  const { sizeUsd, rungs, growthBps = BPS_ONE, stepBps, everySeconds, takeProfitBps, stopLossBps } = wish
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
  const own = {
    ...base,
    ...{ leverageBps, rungs, growthBps },
    ...defined({ stepBps }),
    ...(everySeconds === undefined ? {} : { everyMs: everySeconds * 1_000 }),
    ...defined({ takeProfitBps, stopLossBps }),
  }
  const minutes =
    everySeconds === undefined ? WEEK_MINUTES : Math.max(LEAST_MINUTES, (SPARE * rungs * everySeconds) / 60)
  return { own, sizeUsd, state: { made: 0, rung: 0 } as ExecutorProgress, orders: rungs, minutes }
}

function rebalanceDraft(wish: RebalanceWish, facts: PlanFacts): Draft | Denial {
  const { snapshot } = facts
  const { totalUsd, weights, leverageBps, bandBps = 100, shareBps = SHARE_BPS, leastUsd = usd(10) } = wish
  const all = weights.reduce((sum, { weightBps }) => sum + Math.abs(weightBps), 0)
  if (all > BPS_ONE)
    return { code: 'WEIGHTS', reason: `the weights add up to ${all / 100} percent, more than 100` }
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
}

const tooLowLeverage: Denial = {
  code: 'MIN_LEVERAGE',
  reason: 'an increase needs a leverage of 1 or more, for example --leverage 2',
}

function unread(marketToken: Address): Denial {
  return { code: 'MARKET_UNKNOWN', reason: `the market ${marketToken} cannot be read now; retry` }
}

/** Describes the part of a position that counts. */
function planned({ ownUsd }: PlanFacts): string {
  return ownUsd === undefined ? 'the position' : 'its own part of the position'
}

function aboveHeld(base: Base, sizeUsd: Usd, facts: PlanFacts): Denial {
  return {
    code: 'SIZE_ABOVE_POSITION',
    reason: `${planned(facts)} is ${formatDollars(plannedUsd(base, facts, facts.snapshot))}, which is less than ${formatDollars(sizeUsd)}`,
  }
}

/** Returns the reason why an exit is on the wrong side of the entry. */
function misplaced(
  direction: Direction,
  entry: Usd,
  takeProfit: Usd | undefined,
  stopLoss: Usd,
): string | undefined {
  const isLong = direction === 'long'
  const at = `an entry of a ${direction} at ${formatPrice(entry)}`
  if (isLong ? stopLoss >= entry : stopLoss <= entry)
    return `the stop ${formatPrice(stopLoss)} is not ${isLong ? 'below' : 'above'} ${at}`
  if (takeProfit === undefined || (isLong ? takeProfit > entry : takeProfit < entry)) return undefined
  return `the target ${formatPrice(takeProfit)} is not ${isLong ? 'above' : 'below'} ${at}`
}
