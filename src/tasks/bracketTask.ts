/**
 * Brackets: one entry whose stop, and target, are at the venue in the same message, so that they protect while perpd is down. One
 * exit cancels the other; a stop that is missing is placed anew. Pure.
 */
import { z } from 'zod'
import { dollars } from '../base/bodyFields.ts'
import { defined, ifDefined } from '../base/defined.ts'
import type { ExitRequest, IncreaseDecision } from '../domain/order/decision.ts'
import type { BracketWish } from '../domain/order/taskWish.ts'
import {
  type BracketParams,
  type BracketProgress,
  EXECUTORS_VERSION,
} from '../domain/taskStates/executorParams.ts'
import type { Direction } from '../protocol/market.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { type Usd, usd } from '../protocol/units.ts'
import { type ExecutorPlan, type ExecutorStand, executorTask } from './executorStep.ts'
import { type ExecutorView, isLost, takenBackOf } from './executorView.ts'
import { isLookDue, keptExits, nextExit } from './taskExits.ts'
import type { RunningTask, TaskKind } from './taskKind.ts'
import { adding, isBeyond, takenPrice } from './taskOrders.ts'
import { DAY_MINUTES, leverage, onSide, startHead, startSide, taskStart } from './taskStart.ts'

type Task = RunningTask<BracketParams, BracketProgress>

/** The kind of these tasks. */
export const bracketTask: TaskKind<BracketParams, BracketProgress, ExecutorView> = executorTask({
  name: 'bracket',
  version: EXECUTORS_VERSION,
  symbolsOf: ({ symbol }) => [symbol],
  opens: true,
  plansAround: true,
  outlasts: (_, { use }) => use.doneUsd > use.exitedUsd,
  reduces: (_, { use }) => use.doneUsd > use.exitedUsd,
  plan: planOf,
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

/** Its start. */
export const bracketStart = taskStart<BracketWish>()({
  body: z.strictObject({
    ...startHead,
    ...startSide,
    kind: z.literal('bracket'),
    size: dollars,
    leverage,
    entry: dollars.exactOptional(),
    takeProfit: dollars.exactOptional(),
    stopLoss: dollars,
  }),
  asked(command) {
    const { market, direction, size, entry, takeProfit, stopLoss } = command
    return [
      `open ${market} ${direction} by ${size} USD at ${entry ?? 'the market'}`,
      `stop ${stopLoss}`,
      ...(takeProfit === undefined ? [] : [`target ${takeProfit}`]),
    ]
  },
  wish(command, side, opened) {
    const opening = { leverageBps: 0, ...opened }
    const { size, entry, takeProfit, stopLoss } = command
    return {
      kind: 'bracket',
      ...side,
      ...opening,
      ...{ sizeUsd: usd(size), stopLoss: usd(stopLoss) },
      ...defined({ entryPrice: ifDefined(entry, usd), takeProfit: ifDefined(takeProfit, usd) }),
    }
  },
  draft: (wish, facts) =>
    onSide(wish, facts, (base, leverageBps) => {
      const { sizeUsd, entryPrice, takeProfit, stopLoss } = wish
      const price = takenPrice(base, facts.snapshot)
      if (price === undefined)
        return { code: 'PRICE_UNKNOWN', reason: `the oracle has no fresh price of ${base.symbol}; retry` }
      const at = entryPrice ?? price
      const wrong = misplaced(base.direction, at, takeProfit, stopLoss)
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
    }),
})

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
