/**
 * What must hold of tasks that make orders over time, by the truth of the chain and by what is durable, whatever ends the process:
 *
 * E18 each ends once, as done, stopped or out of budget, with a reason that is so, when nothing of it is under way; in the end none runs;
 * E19 none goes beyond its size, its orders, its fees or its time; its steps are asked one after the other, a part of its time and a rung
 *     once, and nothing is asked after it is to end or while its instance is gone, but cancels of what rests;
 * E20 what it is said to have done is what the journal has of its fills, and in the end what the chain has.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { ExecutorProgress, TaskGoal } from '../../src/domain/taskStates/executorState.ts'
import { strategyTaskId } from '../../src/domain/taskStates/executorState.ts'
import type { OwnTask } from '../../src/domain/taskStates/ownTask.ts'
import type { Tasks } from '../../src/domain/taskStates/taskRecord.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { ModelChain, ModelOrder } from './chainModel.ts'
import type { Process } from './daemon.ts'
import { TASKER } from './tasker.ts'
import type { Truth } from './truth.ts'

const outcomes: ReadonlySet<string> = new Set(['done', 'stopped', 'out of budget'])
/** Kinds that have one order at a time, and no other before its end is proven. */
const oneByOne: ReadonlySet<string> = new Set(['twap', 'accumulate', 'rebalance', 'chase'])
/** Those that are done when all of their size is filled, and not before. */
const whole: ReadonlySet<string> = new Set(['twap', 'chase'])
/** Fates of a message that never came to the venue, or failed there. */
const lost: ReadonlySet<string> = new Set(['dead', 'void', 'never-left'])
/** How long ago what was shown last is of the end, ms. */
const recentMs = 30_000
/** How long a strategy's view may be behind the journal, ms. */
const behindMs = 2_000
/** The longest budget of time, and what it takes to end, ms. */
const soonMs = 400_000
const feeTokenUnit = 10n ** 24n

/**
 * The time that a task had by the clock of its process: a step back of the clock takes none of it away, so that no task lasts for
 * longer than it was given; a step forth is time that passed.
 */
interface TaskTime {
  /** Unix ms by the process's clock when it began. */
  readonly sinceMs: number
  passedMs: number
  /** Time of the world when last looked at, ms. */
  atMs: number
}

interface Known {
  readonly taskId: string
  readonly time: TaskTime
  readonly taskKind: string
  readonly goal: TaskGoal
  /** A wish that it ends is durable, or the operator was told so. */
  isToEnd: boolean
  /** When it was over, ms of the world; -1: before the process began. */
  endedMs: number | undefined
  /** What the journal has of its fills, USD, and what it had before the newest change, until then. */
  filledUsd: bigint
  before: { readonly filledUsd: bigint; readonly untilMs: number }
}

/** The judge; it outlives the processes. */
export interface ExecutorChecks {
  /** A process begins with what the journal holds. */
  begin(
    process: Process,
    states: readonly IntentState[],
    tasks: Tasks | undefined,
    strategies: readonly string[],
  ): void
  /** `state`: of the record's intent after it. */
  durable(record: JournalRecord | AccountRecord, state: IntentState | undefined): void
  /** A strategy was shown this of its tasks. */
  shown(tasks: readonly OwnTask[]): void
  /** An operator was told that it makes no more orders. */
  stopped(taskId: string): void
  /** Those that run by the journal, oldest first. */
  running(): readonly string[]
  /** Whether one runs that ends soon by itself. `wallMs`: the process's clock, Unix ms; one that was set back a long way ends none. */
  waits(wallMs: number): boolean
  finish(wallMs: number): void
}

/** Makes the judge of a world. */
export function createExecutorChecks(parts: {
  readonly timeline: Timeline
  readonly chain: ModelChain
  readonly truth: Truth
}): ExecutorChecks {
  const { timeline, chain } = parts
  const truth: Truth = parts.truth
  const known = new Map<string, Known>()
  /** What the journal has of the fills of an intent, USD. */
  const filled = new Map<string, bigint>()
  /** Fees of messages by digest, base units of the fee token. */
  const fees = new Map<Hex, { readonly taskId: string; readonly amount: bigint }>()
  const byWord = new Set<string>()
  const processes: Process[] = []
  let isGone = false
  let last: readonly OwnTask[] = []
  let lastMs = Number.NEGATIVE_INFINITY

  const taskIdOf = ({ strategy, decisionKey }: Pick<Intent, 'strategy' | 'decisionKey'>) =>
    strategy === TASKER ? decisionKey.slice(0, decisionKey.lastIndexOf('#')) : ''
  const taskOf = (intent: Pick<Intent, 'strategy' | 'decisionKey'>) => known.get(taskIdOf(intent))
  const stepOf = ({ decisionKey }: Intent) => Number(decisionKey.slice(decisionKey.lastIndexOf('#') + 1))
  const intentsOf = (taskId: string) =>
    [...truth.intents.values()].filter((intent) => taskIdOf(intent) === taskId)
  const ordersOf = (intentId: string) =>
    [...chain.canonical.orders.values()].filter((order) => order.intentId === intentId)
  const isExit = ({ spec }: ModelOrder) => spec.role === 'take-profit' || spec.role === 'stop-loss'
  /** Of a task one of whose orders an operator closed by his word, what became of it is his to know. */
  const isByWord = (taskId: string) => intentsOf(taskId).some(({ intentId }) => byWord.has(intentId))

  /** What the chain has of its fills, USD, without the exits that its owner's file brought. */
  function chainUsd(taskId: string, isCounted: (intent: Intent) => boolean = () => true): bigint {
    const own = new Set(
      intentsOf(taskId)
        .filter(isCounted)
        .map(({ intentId }) => intentId),
    )
    let sum = 0n
    for (const { movedUsd, orderKey } of chain.canonical.logs) {
      const order = movedUsd === undefined ? undefined : chain.canonical.orders.get(orderKey)
      if (order?.intentId === undefined || !own.has(order.intentId) || isExit(order)) continue
      sum += movedUsd ?? 0n
    }
    return sum
  }

  /** Whether the order itself may still come or has not ended; exits of its owner's file may outlive it. */
  function isUnderWay({ intentId }: Intent): boolean {
    if (byWord.has(intentId) || truth.fateOf(intentId) !== 'open') return false
    const orders = ordersOf(intentId).filter((order) => !isExit(order))
    return orders.length === 0 || orders.some(({ state }) => state === 'open' || state === 'frozen')
  }

  function usedOrders(taskId: string): number {
    return intentsOf(taskId)
      .filter(({ kind }) => kind !== 'cancel')
      .reduce((sum, { terms }) => sum + (terms.twap?.parts ?? 1), 0)
  }

  function checkAsked(intent: Intent): void {
    const task = taskOf(intent)
    if (task === undefined) return
    const { taskId, taskKind, goal } = task
    const others = intentsOf(taskId).filter(({ intentId }) => intentId !== intent.intentId)
    const step = stepOf(intent)
    if (
      others.some((each) => stepOf(each) >= step) ||
      (step > 1 && !others.some((each) => stepOf(each) === step - 1))
    )
      truth.fail('E19', `${intent.decisionKey} does not follow ${others.map(stepOf).join()}`)
    if (task.endedMs !== undefined) truth.fail('E19', `${intent.decisionKey} is asked, and the task is over`)
    if (intent.kind === 'cancel') return
    if (task.isToEnd) truth.fail('E19', `${intent.decisionKey} is asked, and the task is to end`)
    if (isGone) truth.fail('E19', `${intent.decisionKey} is asked, and its instance is gone`)
    if (intent.acceptedAtMs >= goal.budget.untilMs)
      truth.fail(
        'E19',
        `${intent.decisionKey} is asked ${intent.acceptedAtMs - goal.budget.untilMs} ms after its time`,
      )
    const orders = usedOrders(taskId)
    if (orders > goal.budget.orders)
      truth.fail('E19', `${intent.decisionKey} is order ${orders} of ${goal.budget.orders}`)
    if (intent.kind === 'edit') return
    const before = others.filter(({ kind }) => kind !== 'cancel' && kind !== 'edit')
    const open = before.find(isUnderWay)
    if (oneByOne.has(taskKind) && open !== undefined)
      truth.fail('E19', `${intent.decisionKey} is asked while ${open.decisionKey} is under way`)
    const part = partOf(intent)
    const twice = before.find(
      (each) =>
        part !== undefined &&
        partOf(each) === part &&
        !isByWordOf(each) &&
        !lost.has(truth.fateOf(each.intentId)) &&
        !isTakenBack(each),
    )
    if (twice !== undefined)
      truth.fail(
        'E19',
        `${part} of ${taskId} is asked by ${twice.decisionKey} and again by ${intent.decisionKey}`,
      )
  }

  const unended = () => [...known.values()].filter(({ endedMs }) => endedMs === undefined)
  const isByWordOf = ({ intentId }: Intent) => byWord.has(intentId)

  /** Whether the file of its instance took an order back before anything of it filled (`protect`). */
  function isTakenBack({ intentId }: Intent): boolean {
    if (truth.fateOf(intentId) !== 'cancelled') return false
    const orderKeys = new Set(ordersOf(intentId).map(({ orderKey }) => orderKey))
    return [...truth.intents.values()].some(
      ({ kind, decision, terms }) =>
        kind === 'cancel' &&
        decision.facts?.protect !== undefined &&
        terms.cancelOrderKeys?.some((orderKey) => orderKeys.has(orderKey)) === true,
    )
  }

  /**
   * The part of its time, or the rung, that an order is for: each is asked once, a rung again where its message was lost or its file took it
   * back.
   */
  function partOf({ decision }: Intent): string | undefined {
    const rung = decision.facts?.rung
    return rung === undefined ? /stretch \d+$/.exec(decision.reason)?.[0] : `rung ${rung}`
  }

  function checkSums({ taskId, goal }: Known): void {
    if (isByWord(taskId)) return
    const filledUsd = chainUsd(taskId)
    if (filledUsd > goal.sizeUsd) truth.fail('E19', `${taskId} filled ${filledUsd} of ${goal.sizeUsd}`)
    for (const move of (goal as { moves?: readonly Move[] }).moves ?? []) {
      const movedUsd = chainUsd(taskId, ({ kind, terms }) => {
        const isSame = terms.marketToken.toLowerCase() === move.marketToken.toLowerCase()
        return (
          isSame &&
          terms.direction === move.direction &&
          (kind === 'increase') === (move.action === 'increase')
        )
      })
      if (movedUsd > move.sizeUsd)
        truth.fail(
          'E19',
          `${taskId} moved ${movedUsd} of ${move.marketToken} ${move.direction}, not ${move.sizeUsd}`,
        )
    }
    let paid = 0n
    for (const [digest, fee] of fees)
      if (fee.taskId === taskId && chain.canonical.uses.get(digest)?.isForeign === false) paid += fee.amount
    if (paid * feeTokenUnit > goal.budget.feesUsd)
      truth.fail('E19', `${taskId} paid ${paid * feeTokenUnit} of ${goal.budget.feesUsd}`)
  }

  function passTime(time: TaskTime, wallMs: number): void {
    time.passedMs = Math.max(time.passedMs + timeline.nowMs - time.atMs, wallMs - time.sinceMs)
    time.atMs = timeline.nowMs
  }

  function checkEnd(task: Known, { outcome, statement, by, atMs }: Ended): void {
    const { taskId, taskKind, goal } = task
    if (task.endedMs !== undefined) truth.fail('E18', `${taskId} ends again`)
    if (!outcomes.has(outcome) || statement === '')
      truth.fail('E18', `${taskId} ends as ${outcome}: ${statement}`)
    // A kill ends it where it stands, and cancels itself what rests.
    if (by !== 'perpd') return
    const open = intentsOf(taskId).find(({ intentId, kind }) =>
      kind === 'cancel'
        ? !byWord.has(intentId) && truth.fateOf(intentId) === 'open'
        : isUnderWay(truth.intents.get(intentId) as Intent),
    )
    if (open !== undefined) truth.fail('E18', `${taskId} is over, and ${open.decisionKey} is under way`)
    if (outcome === 'stopped' && !task.isToEnd && taskKind !== 'ladder')
      truth.fail('E18', `${taskId} is stopped by nobody: ${statement}`)
    passTime(task.time, atMs)
    const leftMs = goal.budget.untilMs - task.time.sinceMs - task.time.passedMs
    if (statement.includes('its time is over') && leftMs > 0)
      truth.fail('E18', `${taskId} ends ${leftMs} ms before its time is over`)
    if (isByWord(taskId)) return
    const filledUsd = chainUsd(taskId)
    if (outcome === 'done' && whole.has(taskKind) && filledUsd !== goal.sizeUsd)
      truth.fail('E18', `${taskId} is done, and ${filledUsd} of ${goal.sizeUsd} are filled`)
  }

  /** What the journal has of an intent's fills, USD: the sizes are the chain's. */
  function filledBy({ intent, attempts }: IntentState): bigint {
    const { sizeDeltaUsd, twap } = intent.terms
    let sum = 0n
    for (const { phase, orderKey, role } of attempts.at(-1)?.children ?? []) {
      if (phase !== 'EXECUTED' || role === 'take-profit' || role === 'stop-loss') continue
      const log = chain.canonical.logs.find(
        (each) => each.orderKey === orderKey && each.movedUsd !== undefined,
      )
      sum += log?.movedUsd ?? sizeDeltaUsd / BigInt(twap?.parts ?? 1)
    }
    return sum
  }

  function follow(state: IntentState): void {
    const { intent } = state
    const task = intent.kind === 'edit' || intent.kind === 'cancel' ? undefined : taskOf(intent)
    if (task === undefined) return
    const now = filledBy(state)
    const movedUsd = now - (filled.get(intent.intentId) ?? 0n)
    if (movedUsd === 0n) return
    filled.set(intent.intentId, now)
    if (task.before.untilMs < timeline.nowMs - behindMs)
      task.before = { filledUsd: task.filledUsd, untilMs: timeline.nowMs }
    task.filledUsd += movedUsd
  }

  return {
    begin(process, states, tasks, strategies) {
      processes.push(process)
      if (strategies.includes(TASKER)) isGone = false
      for (const [taskId, { taskKind, params, state, end, sinceMs }] of tasks ?? []) {
        if ((params as Partial<TaskGoal>).owner !== TASKER) continue
        const was = known.get(taskId)
        if (was?.endedMs !== undefined && end === undefined)
          truth.fail('E18', `${taskId} is over, and goes on after a start`)
        known.set(taskId, {
          ...{ taskId, taskKind, goal: params as TaskGoal },
          time: was?.time ?? { sinceMs, passedMs: 0, atMs: timeline.nowMs },
          isToEnd: was?.isToEnd === true || (state as ExecutorProgress | undefined)?.stop !== undefined,
          endedMs: end === undefined ? undefined : -1,
          filledUsd: 0n,
          before: { filledUsd: 0n, untilMs: -1 },
        })
      }
      filled.clear()
      for (const state of states) {
        if (state.closing?.evidence.level === 'operator') byWord.add(state.intent.intentId)
        follow(state)
      }
    },
    durable(record, state) {
      if (state !== undefined) follow(state)
      for (const { time, endedMs } of known.values()) if (endedMs === undefined) passTime(time, record.atMs)
      switch (record.kind) {
        case 'task.started': {
          const goal = record.params as TaskGoal
          if (goal.owner !== TASKER) return
          if (known.has(record.taskId)) truth.fail('E18', `${record.taskId} begins again`)
          if (isGone) truth.fail('E18', `${record.taskId} begins, and its instance is gone`)
          known.set(record.taskId, {
            ...{ taskId: record.taskId, taskKind: record.taskKind, goal, isToEnd: false, endedMs: undefined },
            time: { sinceMs: record.atMs, passedMs: 0, atMs: timeline.nowMs },
            ...{ filledUsd: 0n, before: { filledUsd: 0n, untilMs: -1 } },
          })
          return
        }
        case 'task.changed': {
          const task = known.get(record.taskId)
          const { stop } = record.state as ExecutorProgress
          if (task === undefined) return
          if (task.isToEnd && stop === undefined)
            truth.fail('E18', `${record.taskId} forgets that it is to end`)
          task.isToEnd = stop !== undefined
          return
        }
        case 'task.ended': {
          const task = known.get(record.taskId)
          if (task === undefined) return
          const { outcome, statement = '', by, atMs } = record
          checkEnd(task, { outcome, statement, by, atMs })
          task.endedMs = timeline.nowMs
          checkSums(task)
          return
        }
        case 'strategy.changed':
          if (record.strategy === TASKER && record.change !== 'kept')
            isGone = record.change === 'removed' || record.change === 'disabled'
          return
        case 'intent.accepted':
          checkAsked(record.intent)
          return
        case 'attempt.armed': {
          const intent = truth.intents.get(record.intentId)
          const task = intent === undefined || intent.kind === 'cancel' ? undefined : taskOf(intent)
          const { digest, relayFeeAmount = 0n } = record.armed
          if (task !== undefined) fees.set(digest, { taskId: task.taskId, amount: relayFeeAmount })
          return
        }
        case 'intent.closed':
          if (record.closing.evidence.level === 'operator') byWord.add(record.intentId)
          return
      }
    },
    shown(tasks) {
      // One that was taken for dead and goes on shows what it knew when it was frozen, until it finds that the journal is another's: the newest may
      // have written what it never read, and have crashed since. It writes nothing, since the lease is not its own.
      if (processes.some(({ isAlive }, at) => isAlive !== (at === processes.length - 1))) return
      last = tasks
      lastMs = timeline.nowMs
      for (const { kind, label, doneUsd, sizeUsd, standing } of tasks) {
        const task = known.get(strategyTaskId(kind, TASKER, label))
        if (task === undefined || isByWord(task.taskId)) continue
        checkSums(task)
        const { filledUsd, before, taskId } = task
        const isBefore = before.untilMs >= timeline.nowMs - behindMs && before.filledUsd === doneUsd
        if (doneUsd !== filledUsd && !isBefore)
          truth.fail('E20', `${taskId} has ${filledUsd} of fills, and ${doneUsd} is shown`)
        if (sizeUsd !== task.goal.sizeUsd)
          truth.fail('E20', `${taskId} is of ${task.goal.sizeUsd}, not ${sizeUsd}`)
        const isOver = task.endedMs !== undefined && task.endedMs < timeline.nowMs - behindMs
        if (standing !== 'ended' && isOver) truth.fail('E20', `${taskId} is over, and shown ${standing}`)
      }
    },
    stopped(taskId) {
      const task = known.get(taskId)
      if (task !== undefined) task.isToEnd = true
    },
    running: () => unended().map(({ taskId }) => taskId),
    waits: (wallMs) => unended().some(({ goal }) => goal.budget.untilMs - wallMs < soonMs),
    finish(wallMs) {
      for (const task of known.values()) {
        const { taskId, endedMs, goal } = task
        if (endedMs === undefined && wallMs >= goal.budget.untilMs)
          truth.fail('E18', `${taskId} does not end`)
        checkSums(task)
      }
      for (const { kind, label, doneUsd } of last) {
        const taskId = strategyTaskId(kind, TASKER, label)
        if (isByWord(taskId) || isGone || lastMs < timeline.nowMs - recentMs) continue
        const filledUsd = chainUsd(taskId)
        if (doneUsd !== filledUsd)
          truth.fail('E20', `${taskId} filled ${filledUsd} in the end, and ${doneUsd} is shown`)
      }
    },
  }
}

interface Ended {
  readonly outcome: string
  readonly statement: string
  readonly by: string
  readonly atMs: number
}

interface Move {
  readonly marketToken: string
  readonly direction: string
  readonly action: string
  readonly sizeUsd: bigint
}
