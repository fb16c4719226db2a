/** Starts a task that makes orders over time: interprets the request, and refuses impossible ones. */

import { defined } from '../../base/defined.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { type ExecutorParams, executorTaskId } from '../../domain/taskStates/executorState.ts'
import { usdOfFee } from '../../market/orderCost.ts'
import { marketsNamed } from '../../protocol/marketName.ts'
import { formatPercent } from '../../protocol/percentText.ts'
import {
  BPS_ONE,
  formatAtMost,
  formatDollars,
  mulDivUp,
  USD_DECIMALS,
  type Usd,
} from '../../protocol/units.ts'
import { mostFeeUsd } from '../../tasks/executorView.ts'
import { type PlannedTask, plannedTask } from '../../tasks/plannedTask.ts'
import { taskStarted } from '../../tasks/taskFacts.ts'
import { childKeyOf } from '../../tasks/taskKind.ts'
import { askedOf, outlookOf } from '../../tasks/taskRow.ts'
import { isReduction, rowOfTask } from '../../tasks/taskRows.ts'
import { byFlag, json, yesFlag } from '../commandLine.ts'
import type { CommandRow } from '../commandRow.ts'
import { denied, type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'
import type { OperatorContext, TaskContext } from '../operatorContext.ts'
import { type StartTaskCommand, startTaskBody } from '../taskBodies.ts'
import {
  taskBodiesText,
  taskExamples,
  taskFlags,
  taskForms,
  taskHelps,
  taskLines,
  taskNames,
} from '../taskForms.ts'
import { taskWishOf } from '../taskWishOf.ts'

const minuteMs = 60_000
/** Share of a task's size beyond which its fees must be agreed to, bps. */
const HIGH_BPS = 200n
const CENT = 10n ** BigInt(USD_DECIMALS - 2)

const details = `Limits, halts and budgets apply to each order of a task. A halt makes the task wait, a kill ends it,
a restart resumes it. It ends as done, stopped or out of budget. Its exits count against no budget, and stay.
Fees that may exceed 2% of its size are asked about too; --yes needs --max-fees then.
${taskLines}`

/** Flags of every kind: the budget, the confirmation, the id. */
const sharedFlags = [
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
] as const

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
    note: taskBodiesText(),
  },
  forms: taskForms(),
  cli: [
    {
      name: 'task start',
      isForRunning: true,
      summary: `Start a task over time: ${taskNames}; asks for a confirmation.`,
      details,
      positional: {
        name: 'task-kind',
        doc: `a kind: ${taskNames}; asked for at a terminal when not given`,
        isOptional: true,
      },
      helpOfWord: taskHelps(sharedFlags),
      more: [
        {
          name: 'market',
          among: 'markets',
          doc: 'a market: its whole symbol, its address, or ETH where one market has it; of a rebalance the weights, as "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%"',
        },
        { name: 'direction', doc: 'long or short; not of a rebalance', isOptional: true },
      ],
      flags: [...taskFlags(), ...sharedFlags],
      examples: taskExamples as [string, ...string[]],
    },
  ],
}

/** Starts a task, or shows its outlook. Throws what reading and the journal throw. */
async function start(
  { tasks: context, byHand: { fees: gasFees, chain } }: OperatorContext,
  command: StartTaskCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const { id, kind, isPreview } = command
  const { executors, trading, clock } = context
  const taskId = executorTaskId(kind, id)
  const asked = askedOf(rowOfTask(kind), command)
  const before = () => {
    const task = trading.accountJournal.state().tasks?.get(taskId)
    if (task === undefined) return undefined
    const params = task.params as ExecutorParams
    return knownTask(taskId, params, askedAs(command, params), task.end)
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
  const found = plannedTask(wish, { ...executors.planFacts(), snapshot, nowMs: clock.now(), asked })
  if ('code' in found) return denied(found)
  const { messages, ...planned } = found
  const each = gasFees?.expectedForEntry(0)
  const expectedUsd =
    each === undefined
      ? undefined
      : usdOfFee(each.relayFee, chain.feeToken.decimals) * BigInt(messages) +
        mostFeeUsd(planned.params.sizeUsd)
  const { market, chosen } = read
  const { words: plain, warning } = outlook(context, { taskId, kind, by, expectedUsd }, planned, snapshot)
  const words = chosen === undefined ? plain : `${plain}; on ${chosen}`
  const maxFees = command.maxFees === undefined ? highFees(planned) : undefined
  if (isPreview) {
    const statement = `${words}${warning}${maxFees === undefined ? '' : `; ${maxFees.way}`}`
    return { ok: true, statement, ...defined({ market, maxFees: maxFees?.text }) }
  }
  if (maxFees !== undefined) return refusal('BUDGET_HIGH', `${maxFees.words}: ${maxFees.way}`)
  // Asked twice at once: the other one did it.
  const meanwhile = before()
  if (meanwhile !== undefined) return meanwhile
  await executors.begin(taskStarted({ taskId, taskKind: kind, by, ...planned }))
  return { ok: true, taskId, statement: `task ${taskId} started: ${words}${warning} (perpd task list)` }
}

/** The fees that somebody must agree to: their bound exceeds the share of the size that nobody is asked about. Undefined: it does not. */
function highFees({
  params: { budget, sizeUsd },
}: PlannedTask): { readonly text: string; readonly words: string; readonly way: string } | undefined {
  const { feesUsd } = budget
  if (feesUsd * BigInt(BPS_ONE) <= sizeUsd * HIGH_BPS) return undefined
  const text = feesText(feesUsd)
  const words = `its fees may reach ${formatAtMost(feesUsd)}, ${formatPercent(feesUsd, sizeUsd)} of its size`
  return {
    text,
    words,
    way: `agree to these fees with --max-fees ${text}, or make it of fewer or larger orders`,
  }
}

/** A budget of fees as it is typed, USD, rounded up to cents: `30.10`. */
function feesText(feesUsd: Usd): string {
  const cents = mulDivUp(feesUsd, 1n, CENT)
  return `${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`
}

/**
 * The request in words, in each form that it may have been sent in: as it stands, by the whole symbol of its market once a short one was understood,
 * and with the fees that were agreed to after they were shown.
 */
function askedAs(command: StartTaskCommand, params: ExecutorParams): readonly string[] {
  const { symbol, marketToken, budget } = params
  const { market = '', kind, maxFees } = command
  const isMeant = symbol !== undefined && marketsNamed([{ symbol, marketToken }], market).length === 1
  const named = isMeant ? [command, { ...command, market: symbol }] : [command]
  const agreed =
    maxFees === undefined ? named.map((each) => ({ ...each, maxFees: feesText(budget.feesUsd) })) : []
  return [...named, ...agreed].map((each) => askedOf(rowOfTask(kind), each))
}

function knownTask(
  taskId: string,
  { asked: was }: ExecutorParams,
  asked: readonly string[],
  end: { readonly outcome: string } | undefined,
): OperatorAnswer {
  if (!asked.includes(was)) {
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
    expectedUsd,
  }: {
    readonly taskId: string
    readonly kind: string
    readonly by: string
    /** Fees to expect if each part fills at its first order, USD; undefined: nothing estimates them. */
    readonly expectedUsd: Usd | undefined
  },
  { params, state }: PlannedTask,
  snapshot: Snapshot,
): { readonly words: string; readonly warning: string } {
  const { budget } = params
  const minutes = Math.max(0, Math.round((budget.untilMs - clock.now()) / minuteMs))
  const task = { taskId, by, sinceMs: clock.now(), params, state }
  const row = rowOfTask(kind)
  const next = row.next(task, { ...executors.viewOf({ isReduction: isReduction(params) }), snapshot })
  const [first] = next.kind === 'go-on' ? next.decisions : []
  const isByVenue = first?.decisionKey === childKeyOf(taskId, 1) && 'twap' in first.decision
  const most = `at most ${formatDollars(budget.feesUsd)} of fees (${formatPercent(budget.feesUsd, params.sizeUsd)} of its size)`
  const fees = expectedUsd === undefined ? most : `${most}, about ${formatDollars(expectedUsd)} expected`
  const words = `it ${outlookOf(row, params, isByVenue)}; budget: ${budget.orders} orders, ${fees}, ${minutes} min`
  const denial = first === undefined || isByVenue ? undefined : denialOf(snapshot, first.decision)
  const waits = next.kind === 'go-on' && first === undefined ? next.problem : undefined
  const problem = denial === undefined ? waits : (denied(denial) as Refusal).reason
  return { words, warning: problem === undefined ? '' : `; its first part waits now: ${problem}` }
}
