/** Starts a task that makes orders over time: interprets the request, and refuses impossible ones. */

import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { RebalanceParams } from '../../domain/taskStates/executorParams.ts'
import { type ExecutorParams, executorTaskId, type TaskGoal } from '../../domain/taskStates/executorState.ts'
import type { TwapParams } from '../../domain/taskStates/twapState.ts'
import { formatDollars } from '../../protocol/units.ts'
import { executors as kinds } from '../../tasks/executorKinds.ts'
import { type PlannedTask, plannedTask } from '../../tasks/plannedTask.ts'
import { taskStarted } from '../../tasks/taskFacts.ts'
import { childKeyOf } from '../../tasks/taskKind.ts'
import { hasVenueShape } from '../../tasks/twapTask.ts'
import { byFlag, json, yesFlag } from '../commandLine.ts'
import type { CommandRow } from '../commandRow.ts'
import { denied, type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'
import type { OperatorContext, TaskContext } from '../operatorContext.ts'
import { type StartTaskCommand, startTaskBody } from '../taskBodies.ts'
import { taskWishOf } from '../taskWishOf.ts'
import { askedOfTask } from '../taskWords.ts'

const minuteMs = 60_000

const taskKindsText = [
  'Limits, halts and budgets apply to each order of a task. A halt makes the task wait, a kill ends it,',
  'a restart resumes it. It ends as done, stopped or out of budget. Its exits count against no budget, and stay.',
  "twap: a size in parts over a time; one message of the venue's own twap where that fits (up to 30 parts, no price bound, all of it",
  'within the share of the capacity), else parts sized by the current capacity.',
  'accumulate: adds until the position has its target, while the price is within the bound.',
  'ladder: rungs at better prices (the first at the market, the others rest) or by time; the target follows the averaged entry, the stop',
  'stays; once an exit fills, nothing is added.',
  'chase: a limit that follows the price up to the bound; the rest fills at the market after the minutes.',
  'bracket: one entry with its stop and target in the same message; one exit cancels the other. A stopped task leaves its exits.',
  'rebalance: brings positions to weights of a total once; it reduces first and adds afterwards.',
].join('\n')

/** Its row. */
export const startTask: CommandRow<StartTaskCommand> = {
  type: 'task',
  route: '/api/tasks',
  body: startTaskBody,
  preview: start,
  run: start,
  api: {
    example: {
      id: 'a1b5',
      kind: 'twap',
      market: 'ETH',
      direction: 'long',
      size: '5000',
      parts: 10,
      minutes: 60,
      leverage: '2',
    },
    note: 'every kind takes `collateral`, `maxOrders`, `maxFees`, `maxMinutes`. twap: `reduce` in the place of `leverage`, `price`, `shareBps`, `route` (`auto` or `own`). accumulate: `target`, `price`, `leverage`, `shareBps`, `everySeconds`, `least`. ladder: `size`, `rungs`, `leverage`, `growthBps`, `stepBps` or `everySeconds`, `profitBps`, `stopBps`. chase: `size`, `price`, `minutes`, `leverage` or `reduce`, `offsetBps`, `stepBps`, `everySeconds`. bracket: `size`, `leverage`, `entry`, `takeProfit`, `stopLoss`. rebalance: `total`, `weights` (bps by market), `leverage`, `bandBps`, `shareBps`, `least`',
  },
  cli: [
    {
      name: 'task start',
      isForRunning: true,
      summary:
        'Start a task over time: twap, accumulate, ladder, chase, bracket, rebalance; asks for a confirmation.',
      details: taskKindsText,
      positional: { name: 'task-kind', doc: 'a kind: twap, accumulate, ladder, chase, bracket or rebalance' },
      more: [
        {
          name: 'market',
          doc: 'a market: its whole symbol, its address, or ETH where one market has it; of a rebalance the weights, as "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%"',
        },
        { name: 'direction', doc: 'long or short; not of a rebalance', isOptional: true },
      ],
      flags: [
        { name: 'size', value: 'USD', doc: 'twap, ladder, chase, bracket: all of it together' },
        { name: 'target', value: 'USD', doc: 'accumulate: target size of the position' },
        { name: 'total', value: 'USD', doc: 'rebalance: total of the weights' },
        { name: 'leverage', value: 'N', doc: 'size / collateral of new exposure; not with --reduce' },
        { name: 'reduce', doc: 'twap, chase: reduce the position instead of adding to it' },
        { name: 'parts', value: 'N', doc: 'twap: how many parts, 2 to 200' },
        { name: 'rungs', value: 'N', doc: 'ladder: how many rungs, 2 to 50' },
        {
          name: 'minutes',
          value: 'N',
          doc: 'twap: from the first part to the end of the last; chase: after which it takes the market',
        },
        {
          name: 'step',
          value: 'PERCENT',
          doc: 'ladder: between two rungs; chase: least move of the limit, 0.05 when not given',
        },
        {
          name: 'every',
          value: 'SECONDS',
          doc: 'ladder by time: between two rungs; accumulate (60), chase (15): between two orders or moves',
        },
        {
          name: 'growth',
          value: 'N',
          doc: 'ladder: each rung so many times the one before; 1 when not given',
        },
        { name: 'profit', value: 'PERCENT', doc: 'ladder: target, from the averaged entry' },
        { name: 'stop', value: 'PERCENT', doc: 'ladder: stop, from the price of the first rung' },
        {
          name: 'offset',
          value: 'PERCENT',
          doc: 'chase: how far the limit stays behind the price, 0.05 when not given',
        },
        {
          name: 'entry',
          value: 'PRICE',
          doc: 'bracket: the entry waits for it; at the market when not given',
        },
        { name: 'take-profit', value: 'PRICE', doc: 'bracket: its target' },
        { name: 'stop-loss', value: 'PRICE', doc: 'bracket: its stop' },
        {
          name: 'price',
          value: 'PRICE',
          doc: 'twap, accumulate, chase: no order while the price is worse; slippage is beyond it',
        },
        { name: 'collateral', value: 'SIDE', doc: "long or short: which token of the market's pool" },
        {
          name: 'share',
          value: 'PERCENT',
          doc: 'most of the available capacity for an order; 25 when not given',
        },
        { name: 'least', value: 'USD', doc: 'accumulate, rebalance: least size of an order' },
        {
          name: 'band',
          value: 'PERCENT',
          doc: 'rebalance: tolerated drift of the total, 1 when not given',
        },
        { name: 'own', doc: "twap: never the venue's own twap" },
        {
          name: 'max-orders',
          value: 'N',
          doc: 'budget: orders without exits; twice the needed number when not given',
        },
        {
          name: 'max-fees',
          value: 'USD',
          doc: 'budget: fees of these orders; their highest possible cost when not given',
        },
        { name: 'max-minutes', value: 'N', doc: 'budget: time; docs/tasks.md says how long when not given' },
        yesFlag,
        {
          name: 'id',
          value: 'ID',
          doc: 'a repeated command with the same id has no second effect; random when not given',
        },
        byFlag,
        json,
      ],
      examples: [
        'perpd task start twap "ETH/USD [WETH-USDC]" long --size 5000 --parts 10 --minutes 60 --leverage 2 --yes',
        'perpd task start accumulate "ETH/USD [WETH-USDC]" long --target 5000 --price 1900 --leverage 2 --yes',
        'perpd task start ladder "ETH/USD [WETH-USDC]" long --size 1000 --rungs 5 --step 1% --profit 2% --stop 6% --leverage 2 --yes',
        'perpd task start chase "ETH/USD [WETH-USDC]" long --reduce --size 1000 --price 1700 --minutes 30 --yes',
        'perpd task start bracket "ETH/USD [WETH-USDC]" long --size 1000 --leverage 2 --stop-loss 1700 --take-profit 2100 --yes',
        'perpd task start rebalance "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%" --total 5000 --leverage 2 --yes',
      ],
    },
  ],
}

/** Starts a task, or shows its outlook. Throws what reading and the journal throw. */
async function start(
  { tasks: context }: OperatorContext,
  command: StartTaskCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const { id, kind, isPreview } = command
  const { executors, trading, clock } = context
  const taskId = executorTaskId(kind, id)
  const asked = askedOfTask(command)
  const before = () => {
    const task = trading.accountJournal.state().tasks?.get(taskId)
    return task === undefined ? undefined : knownTask(taskId, task.params as ExecutorParams, asked, task.end)
  }
  const known = before()
  if (known !== undefined) return known
  if (!context.isRunning()) {
    return refusal('NOT_READY', 'perpd has not read the account yet; retry in a moment (perpd status)')
  }
  if (trading.halts().some(({ cause }) => cause === 'kill')) {
    return refusal('TRADING_HALTED', 'a kill is in force; release it first: perpd trading active')
  }
  const read = await taskWishOf(context, command)
  if ('ok' in read) return read
  const { wish, snapshot } = read
  const isReduction = 'reduce' in command && command.reduce
  const { mostSendingUsd } = executors.viewOf({ isReduction })
  const planned = plannedTask(wish, { snapshot, nowMs: clock.now(), mostSendingUsd, asked })
  if ('code' in planned) return denied(planned)
  const { words, warning } = outlook(context, { taskId, kind, by }, planned, snapshot)
  if (isPreview) return { ok: true, statement: `${words}${warning}` }
  // Asked twice at once: the other one did it.
  const meanwhile = before()
  if (meanwhile !== undefined) return meanwhile
  await executors.begin(taskStarted({ taskId, taskKind: kind, by, ...planned }))
  return { ok: true, statement: `task ${taskId} started: ${words}${warning} (perpd task list)` }
}

function knownTask(
  taskId: string,
  { asked: was }: ExecutorParams,
  asked: string,
  end: { readonly outcome: string } | undefined,
): OperatorAnswer {
  if (was !== asked) {
    return refusal('ID_USED', `this id was used before, for: ${was} (task ${taskId}); choose another --id`)
  }
  const standing = end === undefined ? 'runs' : `ended: ${end.outcome}`
  return {
    ok: true,
    statement: `this was started before, as task ${taskId}, which ${standing}; perpd does not repeat it`,
  }
}

/** Describes the task in words, and the result that its first step would have now. */
function outlook(
  { executors, clock, denialOf }: TaskContext,
  {
    taskId,
    kind,
    by,
  }: { readonly taskId: string; readonly kind: StartTaskCommand['kind']; readonly by: string },
  { params, state }: PlannedTask,
  snapshot: Snapshot,
): { readonly words: string; readonly warning: string } {
  const { budget } = params
  const minutes = Math.max(0, Math.round((budget.untilMs - clock.now()) / minuteMs))
  const task = { taskId, by, sinceMs: clock.now(), params, state }
  const isReduction = 'action' in params && params.action === 'decrease'
  const next = kinds[kind].next(task, { ...executors.viewOf({ isReduction }), snapshot })
  const [first] = next.kind === 'go-on' ? next.decisions : []
  const isByVenue = first?.decisionKey === childKeyOf(taskId, 1) && 'twap' in first.decision
  const words = `it ${doing(kind, params, isByVenue)}; budget: ${budget.orders} orders, ${formatDollars(budget.feesUsd)} of fees, ${minutes} min`
  const denial = first === undefined || isByVenue ? undefined : denialOf(snapshot, first.decision)
  const waits = next.kind === 'go-on' && first === undefined ? next.problem : undefined
  const problem = denial === undefined ? waits : (denied(denial) as Refusal).reason
  return { words, warning: problem === undefined ? '' : `; its first part waits now: ${problem}` }
}

function doing(kind: StartTaskCommand['kind'], params: TaskGoal, isByVenue: boolean): string {
  const size = formatDollars(params.sizeUsd)
  if (kind === 'rebalance') {
    const { moves } = params as RebalanceParams
    const each = moves.map(
      ({ action, direction, symbol, sizeUsd }) =>
        `${action === 'increase' ? 'adds' : 'takes off'} ${formatDollars(sizeUsd)} of ${direction} ${symbol}`,
    )
    return each.join(', ')
  }
  const { action, direction, symbol } = params as ExecutorParams
  const what = `${action === 'increase' ? 'opens' : 'takes off'} ${size} of ${direction} ${symbol}`
  if (kind !== 'twap') return `${what}, as ${kind === 'accumulate' ? 'an accumulation' : `a ${kind}`}`
  const twap = params as TwapParams
  const route = isByVenue
    ? "by the venue's own twap"
    : `by orders of perpd${hasVenueShape(twap) || twap.route === 'own' ? '' : " (the venue's twap has no such shape)"}`
  return `${what} in ${twap.parts} parts over ${twap.durationMs / minuteMs} min, ${route}`
}
