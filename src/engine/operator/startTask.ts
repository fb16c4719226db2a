/** Starts and stops tasks that make orders over time, for an operator: understands what is asked, and refuses what cannot be. */
import { type ExecutorParams, executorTaskId } from '../../domain/tasks/executorState.ts'
import { TWAP, TWAP_VERSION, type TwapParams, twapBegins } from '../../domain/tasks/twapState.ts'
import { sameHex } from '../../protocol/address.ts'
import { formatDollars, maxOf, parseUnits, type Usd, usd } from '../../protocol/units.ts'
import { mostFeeUsd } from '../../tasks/executorView.ts'
import { taskStarted } from '../../tasks/taskFacts.ts'
import { childKeyOf, type RunningTask } from '../../tasks/taskKind.ts'
import { hasVenueShape, twapTask } from '../../tasks/twapTask.ts'
import type { EngineContext } from '../context/engineContext.ts'
import type { ExecutorContext, Executors } from './executors.ts'
import { denied, type ManualAnswer, type Refusal, refusal, theOne } from './manualAnswers.ts'
import { askedOfTask, type StartTwapCommand, type StopTaskCommand } from './taskCommand.ts'
import { delistedText } from './unknownMarket.ts'

const minuteMs = 60_000
/** The shortest stretch of a part, ms: an order is on its way for seconds. */
const SLOT_LEAST_MS = 10_000
/** How many times a task's parts, and its time, its budget has when none is given. */
const SPARE = 2

/** What starting and stopping is done with. */
export interface TaskContext extends Pick<EngineContext, 'api' | 'catalogue' | 'clock' | 'trading'> {
  readonly executors: Executors
  readonly read: ExecutorContext['read']
  /** False while the account is not read yet. */
  readonly isRunning: () => boolean
  /** What admission would say to a decision now. */
  readonly denialOf: ExecutorContext['wholeDenial']
}

/** Starts a task, or says what it would be. Throws what reading and the journal throw. */
export async function startTask(
  context: TaskContext,
  command: StartTwapCommand,
  by: string,
): Promise<ManualAnswer> {
  const { id, kind, isPreview } = command
  const { executors, trading } = context
  const taskId = executorTaskId(kind, id)
  const asked = askedOfTask(command)
  const before = () => {
    const task = trading.accountJournal.state().tasks?.get(taskId)
    return task === undefined ? undefined : knownTask(taskId, task.params as ExecutorParams, asked, task.end)
  }
  const known = before()
  if (known !== undefined) return known
  if (!context.isRunning()) {
    return refusal('NOT_READY', 'perpd has not read the account yet; ask again in a moment (perpd status)')
  }
  if (trading.halts().some(({ cause }) => cause === 'kill')) {
    return refusal('TRADING_HALTED', 'a kill holds trading back; let it go on first: perpd trading active')
  }
  const params = await twapParams(context, command, asked)
  if ('ok' in params) return params
  const { words, warning } = await outlook(context, taskId, params, by)
  if (isPreview) return { ok: true, statement: `${words}${warning}` }
  // Asked twice at once: the other one did it.
  const meanwhile = before()
  if (meanwhile !== undefined) return meanwhile
  await executors.begin(
    taskStarted({ taskId, taskKind: TWAP, version: TWAP_VERSION, by, params, state: twapBegins }),
  )
  return { ok: true, statement: `task ${taskId} is started: ${words}${warning} (perpd task list)` }
}

/** Has a task end. Throws what the journal throws. */
export async function stopTask(
  { executors }: Pick<TaskContext, 'executors'>,
  { task, reason }: StopTaskCommand,
  by: string,
): Promise<ManualAnswer> {
  const running = executors.running()
  const found = running.filter(({ taskId }) => taskId === task || taskId.startsWith(task))
  const [one] = found.length === 1 ? found : found.filter(({ taskId }) => taskId === task)
  if (one === undefined) {
    const problem = found.length === 0 ? 'no task runs' : `${found.length} tasks run`
    const ids = running.map(({ taskId }) => taskId).join(', ')
    return refusal(
      'TASK_NOT_FOUND',
      `${problem} whose id begins with ${task}; ${ids === '' ? 'none runs' : `there are ${ids}`}`,
    )
  }
  await executors.stop(one.taskId, { by, reason })
  return {
    ok: true,
    statement: `task ${one.taskId} is to end: it makes no more orders, and what of it rests is cancelled`,
  }
}

function knownTask(
  taskId: string,
  { asked: was }: ExecutorParams,
  asked: string,
  end: { readonly outcome: string } | undefined,
): ManualAnswer {
  if (was !== asked) {
    return refusal('ID_USED', `this id was used before, for: ${was} (task ${taskId}); choose another --id`)
  }
  const standing = end === undefined ? 'runs' : `ended: ${end.outcome}`
  return {
    ok: true,
    statement: `this was started before, as task ${taskId}, which ${standing}; nothing is done twice`,
  }
}

async function twapParams(
  { api, catalogue, clock, executors, read }: TaskContext,
  command: StartTwapCommand,
  asked: string,
): Promise<TwapParams | Refusal> {
  const { direction, size, reduce, leverage, collateral, parts, minutes, price, shareBps, route } = command
  const durationMs = minutes * minuteMs
  if (durationMs < parts * SLOT_LEAST_MS) {
    const least = Math.ceil((parts * SLOT_LEAST_MS) / minuteMs)
    return refusal(
      'TASK_TOO_FAST',
      `${parts} parts take ${least} min at least; give --minutes ${least} or more`,
    )
  }
  if (!reduce && (leverage === undefined || Number(leverage) < 1)) {
    return refusal('MIN_LEVERAGE', 'an increase needs a leverage of 1 or more, for example --leverage 2')
  }
  const listed = (await api.getMarkets()).value.filter(({ isListed }) => isListed)
  const gone = delistedText(catalogue.standings(), listed, command.market)
  if (gone !== undefined && !reduce) return refusal('MARKET_NOT_LISTED', gone)
  const market = theOne(
    listed.filter(({ isSpotOnly }) => !isSpotOnly),
    command.market,
  )
  if ('ok' in market) return market
  const { symbol, marketToken } = market
  const snapshot = await read([symbol])
  const view = snapshot.markets.get(marketToken.toLowerCase())
  if (view === undefined) return refusal('MARKET_UNKNOWN', `${symbol} cannot be read now; ask again`)
  const tokenOf = (side: 'long' | 'short') => (side === 'long' ? view.longToken : view.shortToken).address
  const sizeUsd = usd(size)
  const held = snapshot.positions.value.filter(
    (row) =>
      row.sizeInUsd > 0n &&
      sameHex(row.marketToken, marketToken) &&
      row.direction === direction &&
      (collateral === undefined || sameHex(row.collateralToken, tokenOf(collateral))),
  )
  const [one] = held
  if (reduce && (one === undefined || held.length > 1)) {
    return one === undefined
      ? refusal('POSITION_NOT_FOUND', `no ${direction} position is held on ${symbol} (perpd positions)`)
      : refusal('POSITION_AMBIGUOUS', `two positions are held there; give --collateral long or short`)
  }
  if (reduce && one !== undefined && sizeUsd > one.sizeInUsd) {
    return refusal(
      'SIZE_ABOVE_POSITION',
      `the position is ${formatDollars(one.sizeInUsd)}, which is less than ${formatDollars(sizeUsd)}`,
    )
  }
  const base = {
    symbol,
    marketToken: view.market.marketToken,
    direction,
    action: reduce ? 'decrease' : 'increase',
    collateralToken: reduce && one !== undefined ? one.collateralToken : tokenOf(collateral ?? 'short'),
    sizeUsd,
    asked,
  } as const
  const untilMs = clock.now() + (command.maxMinutes ?? SPARE * minutes) * minuteMs
  const orders = command.maxOrders ?? SPARE * parts
  const planned = { ...base, budget: { orders, feesUsd: 0n, untilMs } }
  const { mostSendingUsd } = executors.viewOf(planned)
  const mostUsd: Usd = mostSendingUsd * BigInt(parts) + mostFeeUsd(sizeUsd)
  const feesUsd = command.maxFees === undefined ? mostUsd : usd(command.maxFees)
  const eachUsd = mostSendingUsd + mostFeeUsd(sizeUsd / BigInt(parts))
  if (feesUsd < eachUsd) {
    return refusal(
      'TASK_BUDGET',
      `the fees of one part may be ${formatDollars(eachUsd)} at most (signing.maxRelayFee), and the budget is ${formatDollars(feesUsd)}: no part could be made`,
    )
  }
  return {
    ...base,
    budget: { orders, feesUsd, untilMs },
    leverageBps: leverage === undefined ? 0 : Number(parseUnits(leverage, 4)),
    parts,
    durationMs,
    shareBps,
    ...(price === undefined ? {} : { worstPrice: usd(price) }),
    route,
  }
}

/** What the task is, in words, and what its first step would come to now. */
async function outlook(
  { executors, clock, read, denialOf }: TaskContext,
  taskId: string,
  params: TwapParams,
  by: string,
): Promise<{ readonly words: string; readonly warning: string }> {
  const { direction, symbol, sizeUsd, parts, durationMs, budget, action } = params
  const verb = action === 'increase' ? 'opens' : 'takes off'
  const minutes = Math.round(
    maxOf(0n, BigInt(budget.untilMs - clock.now())) === 0n ? 0 : (budget.untilMs - clock.now()) / minuteMs,
  )
  const task: RunningTask<TwapParams, typeof twapBegins> = {
    taskId,
    by,
    sinceMs: clock.now(),
    params,
    state: twapBegins,
  }
  const snapshot = await read([symbol])
  const next = twapTask.next(task, { ...executors.viewOf(params), snapshot })
  const [first] = next.kind === 'go-on' ? next.decisions : []
  const isByVenue = first?.decisionKey === childKeyOf(taskId, 1) && 'twap' in first.decision
  const route = isByVenue
    ? "by the venue's own twap"
    : `by orders of perpd${hasVenueShape(params) || params.route === 'own' ? '' : " (the venue's twap has no such shape)"}`
  const words = `it ${verb} ${formatDollars(sizeUsd)} of ${direction} ${symbol} in ${parts} parts over ${durationMs / minuteMs} min, ${route}; budget: ${budget.orders} orders, ${formatDollars(budget.feesUsd)} of fees, ${minutes} min`
  const denial = first === undefined || isByVenue ? undefined : denialOf(snapshot, first.decision)
  const waits = next.kind === 'go-on' && first === undefined ? next.problem : undefined
  const problem = denial === undefined ? waits : (denied(denial) as Refusal).reason
  return { words, warning: problem === undefined ? '' : `; its first part waits now: ${problem}` }
}
