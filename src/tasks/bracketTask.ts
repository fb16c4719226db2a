/**
 * Brackets: one entry whose stop, and target, are at the venue in the same message, so that they protect while perpd is down. One
 * exit cancels the other; a stop that is missing is placed anew. Pure.
 */
import { defined } from '../base/defined.ts'
import type { ExitRequest, IncreaseDecision } from '../domain/order/decision.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import type { Direction } from '../protocol/market.ts'
import { formatPrice } from '../protocol/priceText.ts'
import type { Usd } from '../protocol/units.ts'
import type { ExecutorPlan, ExecutorStand } from './executorStep.ts'
import { type ExecutorView, isLost, takenBackOf } from './executorView.ts'
import { type ExitSync, isLookDue, keptExits, nextExit } from './taskExits.ts'
import { DAY_MINUTES, optional, price, sizeInAll } from './taskFields.ts'
import type { RunningTask } from './taskKind.ts'
import { adding, isBeyond, takenPrice } from './taskOrders.ts'
import { type SideParams, taskRow } from './taskRow.ts'

const fields = {
  sizeUsd: sizeInAll,
  entryPrice: optional(
    price({
      typed: 'entry',
      means:
        'price that the entry waits for: a better one than the market is a limit, a worse one a stop; at the market when not given',
      form: ['Entry, USD; empty for the market'],
    }),
  ),
  stopLoss: price({ means: 'its stop', said: (shown) => `stop ${shown}`, form: ['Stop, USD'] }),
  takeProfit: optional(
    price({ means: 'its target', said: (shown) => `target ${shown}`, form: ['Target, USD'] }),
  ),
}

/** Parameters of a bracket. */
export type BracketParams = SideParams<typeof fields> & {
  /** Order type of the entry; `market`: it does not wait. */
  readonly entry: 'market' | 'limit' | 'stop-market'
}

/** Progress of a bracket. */
export interface BracketProgress extends ExecutorProgress {
  readonly kept?: ExitSync
}

type Task = RunningTask<BracketParams, BracketProgress>

/** The kind of these tasks. */
export const bracketTask = taskRow({
  name: 'bracket',
  version: 1,
  works: 'opens',
  fields,
  does: 'one entry with its stop and target in the same message; one exit cancels the other. A stopped task leaves its exits.',
  doneWhen: 'when an exit closed it; the other is cancelled',
  example: '"ETH/USD [WETH-USDC]" long --size 1000 --leverage 2 --stop-loss 1700 --take-profit 2100',
  lead: ({ size, entry }, side) => `${side} by $${size} at ${entry ?? 'the market'}`,
  hasExits: () => true,
  plansAround: true,
  plan: planOf,
  draft(wish, facts) {
    const { direction, symbol, sizeUsd, entryPrice, takeProfit, stopLoss } = wish
    const price = takenPrice(wish, facts.snapshot)
    if (price === undefined)
      return { code: 'PRICE_UNKNOWN', reason: `the oracle has no fresh price of ${symbol}; retry` }
    const wrong = misplaced(direction, entryPrice ?? price, takeProfit, stopLoss)
    if (wrong !== undefined) return { code: 'EXIT_MISPLACED', reason: wrong }
    const entry =
      entryPrice === undefined ? 'market' : isBeyond(wish, entryPrice, price) ? 'stop-market' : 'limit'
    const exits = takeProfit === undefined ? 1 : 2
    return { own: { entry }, sizeUsd, state: { made: 0 }, orders: 1, exits, minutes: DAY_MINUTES }
  },
})

function planOf(
  task: Task,
  view: ExecutorView,
  { use, leftUsd }: ExecutorStand,
): ExecutorPlan<BracketProgress> {
  const { params, state, taskId } = task
  const { snapshot } = view
  const entry = view.children.findLast(({ intent }) => intent.kind === 'increase')
  if (entry === undefined || isLost(entry)) {
    if (snapshot === undefined) return { kind: 'read' }
    const decision = entryOf(task)
    return { kind: 'order', decision, sizeUsd: leftUsd, orders: 1, exits: decision.tpsl?.length ?? 0, state }
  }
  if (use.doneUsd === 0n) {
    if (entry.closing === undefined) return { kind: 'wait', until: 'its entry rests at the venue' }
    const rule = takenBackOf(entry, view)
    const why =
      rule === undefined
        ? `its entry ended without a fill: ${entry.closing.reason}`
        : `its file cancelled its entry (${rule}), and its prices may be out of date when it may add again`
    return { kind: 'end', outcome: 'stopped', why, isBare: true }
  }
  if (use.exitedUsd >= use.doneUsd) return { kind: 'end', outcome: 'done', why: 'an exit closed it' }
  if (!isLookDue(params, params, use, state.kept, view))
    return { kind: 'wait', until: 'its exits rest at the venue' }
  if (snapshot === undefined) return { kind: 'read' }
  const step = nextExit(params, params, use, state.kept, { ...view, snapshot }, taskId)
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

function entryOf({ params, taskId }: Task): IncreaseDecision {
  const { sizeUsd, leverageBps, entry, entryPrice, takeProfit, stopLoss } = params
  const exits: ExitRequest[] = [{ type: 'stop-loss', triggerPrice: stopLoss }]
  if (takeProfit !== undefined) exits.push({ type: 'take-profit', triggerPrice: takeProfit })
  const order = adding(params, sizeUsd, leverageBps, `the entry of the task ${taskId}`, { task: taskId })
  if (entry === 'market' || entryPrice === undefined) return { ...order, tpsl: exits }
  return { ...order, orderType: entry, triggerPrice: entryPrice, tpsl: exits }
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
