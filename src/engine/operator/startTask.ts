/** Starts and stops tasks that make orders over time, for an operator: interprets the request, and refuses impossible ones. */

import type { Decision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { RebalanceParams } from '../../domain/tasks/executorParams.ts'
import { type ExecutorParams, executorTaskId, type TaskGoal } from '../../domain/tasks/executorState.ts'
import type { TwapParams } from '../../domain/tasks/twapState.ts'
import { formatDollars } from '../../protocol/units.ts'
import { executors as kinds } from '../../tasks/executorKinds.ts'
import { type PlannedTask, plannedTask } from '../../tasks/plannedTask.ts'
import { taskStarted } from '../../tasks/taskFacts.ts'
import { childKeyOf } from '../../tasks/taskKind.ts'
import { hasVenueShape } from '../../tasks/twapTask.ts'
import type { EngineContext } from '../context/engineContext.ts'
import type { ExecutorContext, Executors } from './executors.ts'
import { denied, type ManualAnswer, type Refusal, refusal } from './manualAnswers.ts'
import { askedOfTask, type StartTaskCommand, type StopTaskCommand } from './taskCommand.ts'
import { taskWishOf } from './taskWishOf.ts'

const minuteMs = 60_000

/** Dependencies of starting and stopping. */
export interface TaskContext extends Pick<EngineContext, 'api' | 'catalogue' | 'clock' | 'trading'> {
  readonly executors: Executors
  readonly read: ExecutorContext['read']
  /** False while the account is not read yet. */
  readonly isRunning: () => boolean
  /** Returns the denial that admission would give to a decision now. */
  readonly denialOf: (snapshot: Snapshot, decision: Decision) => Denial | undefined
}

/** Starts a task, or shows its outlook. Throws what reading and the journal throw. */
export async function startTask(
  context: TaskContext,
  command: StartTaskCommand,
  by: string,
): Promise<ManualAnswer> {
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
    return refusal('NOT_READY', 'perpd has not read the account yet; ask again in a moment (perpd status)')
  }
  if (trading.halts().some(({ cause }) => cause === 'kill')) {
    return refusal('TRADING_HALTED', 'a kill holds trading back; let it go on first: perpd trading active')
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
