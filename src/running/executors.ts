/**
 * Tasks that make orders over time, for an operator: starts and stops them, reads their views, and reports their progress. Their orders take the path
 * of every order, in the operator's name; a step is durable in the commit of its order.
 */

import type { HasOrders, HasPrices, HasTrading } from '../account/accountParts.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { intentIdOf } from '../account/ids.ts'
import { defined, ifDefined } from '../base/defined.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { addsRisk, type Decision } from '../domain/order/decision.ts'
import type { Denial, IntentState } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { TaskReport } from '../domain/summaries/taskReport.ts'
import type { ExecutorProgress, StopWish, TaskGoal } from '../domain/taskStates/executorState.ts'
import type { TaskEntry } from '../domain/taskStates/taskRecord.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import type {
  HasAccount,
  HasBasics,
  HasChain,
  HasSigningPolicy,
} from '../execution/context/executionParts.ts'
import { takenBackBy } from '../exits/entriesTakenBack.ts'
import { createHandExits, type HandExits } from '../exits/handExits.ts'
import { usdOfFee } from '../market/orderCost.ts'
import type { Address, Hex } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { maxOf, type Usd } from '../protocol/units.ts'
import { standOf } from '../tasks/executorStep.ts'
import { type ExecutorView, useOf } from '../tasks/executorView.ts'
import { taskChanged } from '../tasks/taskFacts.ts'
import { childKeyOf } from '../tasks/taskKind.ts'
import { type AnyTaskRow, type OwnerFacts, symbolsOf } from '../tasks/taskRow.ts'
import { type ExecutorTask, isExecutor, isReduction, opens, taskRows, whatOf } from '../tasks/taskRows.ts'
import { type AdmitBeside, createTaskRunner } from '../tasks/taskRunner.ts'
import { createTaskTimes } from '../tasks/taskTimes.ts'
import { createStrategyTasks, type StrategyTasks } from './strategyTasks.ts'
import { bookedBy, olderOnSide } from './taskShares.ts'

/** The worker. */
export interface Executors {
  /** Running ones first, then the newest that ended. */
  list(): Promise<readonly TaskReport[]>
  /** Begins a task with this record; resolves when it is durable. */
  begin(entry: Extract<TaskEntry, { readonly kind: 'task.started' }>): Promise<void>
  /** Has a running task end; resolves when that is durable. False: it does not run. */
  stop(taskId: string, wish: StopWish): Promise<boolean>
  /** Tasks that run, oldest first. */
  running(): readonly ExecutorTask[]
  /** Returns writes that end all running tasks at once: somebody else cancels their resting orders. */
  endings(by: string, statement: string): readonly (() => Promise<void>)[]
  /** Returns the view of a task that is not started yet. */
  viewOf(task: { readonly isReduction: boolean }): ExecutorView
  /** Returns the facts for planning a task of the operator, or of an instance, besides a snapshot. */
  planFacts(owner?: string): OwnerFacts
  /** Tasks of strategies. */
  readonly ofStrategies: StrategyTasks
  /** Keeps the operator's exits, once the account is read; returns the first denial. Throws what reading and the journal throw. */
  keepHandExits: HandExits['look']
  /** Works while one runs. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** Admission for a task's orders. `owner`: the instance whose strategy started it; absent: the operator. */
export interface TaskRoad {
  /** Runs work while no admission runs, and delays the next admission until it is done. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Hands a decision to admission if `mayGo` gives no denial in its turn, and the intent to the road. */
  admitTask(
    owner: string | undefined,
    mayGo: () => Denial | undefined,
    ...asked: Parameters<AdmitBeside>
  ): Promise<Denial | undefined>
  /** Returns the denial that admission would give to a decision; `isWhole`: a smaller order is not acceptable. */
  denialOf(isWhole: boolean, snapshot: Snapshot, decision: Decision, owner?: string): Denial | undefined
  /** Returns the size that may be added on a side by fresh capacity, USD. */
  capacity(
    owner: string | undefined,
    snapshot: Snapshot,
    marketToken: Address,
    direction: Direction,
  ): Usd | Denial
  /** An owner's intents that a snapshot may not show whole yet. */
  unseen(owner: string, snapshot: Snapshot): readonly IntentState[]
  /** Tells whether books other than the owner's hold the whole position of a side. */
  isOthers(owner: string, side: PositionSide, snapshot: Snapshot): boolean
  /** Tells whether the instance runs, who paused it, and whether it opens positions, so that it acts on its own part of them. */
  standing(owner: string): {
    readonly isHere: boolean
    readonly opensPositions: boolean
    readonly paused?: string
  }
}

/** Parts of the engine that it receives. */
export interface ExecutorContext
  extends HasAccount,
    HasChain,
    HasBasics,
    HasOrders,
    HasPrices,
    HasSigningPolicy,
    HasTrading {
  /** Reads a snapshot with these markets, the wallet, and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  readonly road: TaskRoad
  /** False while the account is not read yet. */
  readonly isRunning: () => boolean
}

/** Owner of the viewed task, and whether the task only reduces. */
interface Viewed {
  readonly isReduction: boolean
  readonly owner?: string
}

const pollMs = 2_000
/** After a denial it is tried again no sooner, ms. */
const DENIED_PAUSE_MS = 10_000
/** Most tasks that ended in the list. */
const ENDED_MOST = 50

/** A worker over the engine's parts. */
export function createExecutors(context: ExecutorContext): Executors {
  const { clock, emit, journal, road, trading } = context
  const { accountJournal } = trading
  const account = accountOf(context)
  const waits = new Map<string, string>()
  const told = new Map<string, string>()
  /** Wishes that may not be folded yet: a step that is written after one keeps it. */
  const stops = new Map<string, StopWish>()
  const paused = new Map<string, { readonly untilMs: number; readonly why: string }>()
  const all = () => [...(accountJournal.state().tasks?.values() ?? [])].filter(isExecutor)
  const times = createTaskTimes(clock)
  const running = () => all().filter(({ end }) => end === undefined)

  async function childrenOf({
    taskId,
    params: { owner: name = OPERATOR },
  }: Pick<ExecutorTask, 'taskId' | 'params'>): Promise<readonly IntentState[]> {
    const children: IntentState[] = []
    for (let step = 1; journal.hasDecision(name, childKeyOf(taskId, step)); step += 1) {
      const made = await journal.intent(intentIdOf(account, name, childKeyOf(taskId, step)))
      if (made !== undefined) children.push(made)
    }
    return children
  }

  /** Returns the halt that holds orders back; an instance that an operator paused makes only exits. */
  function haltOf(owner: string | undefined, isReduction: boolean): string | undefined {
    const halt = trading.haltOn(owner ?? OPERATOR)
    if (halt === undefined || (halt.state === 'reducing' && isReduction)) return undefined
    return `trading is ${halt.state}: ${halt.reason}`
  }

  function viewOf({ isReduction: isReducing, owner }: Viewed): ExecutorView {
    const policy = context.signingPolicy()
    const { maxRelayFee } = isReducing ? (policy.reducing ?? policy) : policy
    const { decimals } = context.chain.feeToken
    const standing = owner === undefined ? undefined : road.standing(owner)
    const pause = standing?.paused
    const halt = haltOf(owner, isReducing) ?? pause
    const reducingHalt = haltOf(owner, true) ?? (isReducing ? pause : undefined)
    return {
      nowMs: clock.now(),
      straightMs: times.straightMs(),
      children: [],
      isMade: (decisionKey) => journal.hasDecision(owner ?? OPERATOR, decisionKey),
      ...defined({ halt, reducingHalt }),
      mostSendingUsd: usdOfFee(maxRelayFee, decimals),
      feeTokenDecimals: decimals,
      capacity: (...asked) => road.capacity(owner, ...asked),
      booked: (side) => bookedBy(journal.books(), owner ?? OPERATOR, side),
      ...(owner === undefined || standing?.opensPositions === false
        ? {}
        : { ownUsd: (side: PositionSide) => journal.books().heldBy(owner, side) }),
      denialOf: (snapshot, decision) => road.denialOf(true, snapshot, decision, owner),
    }
  }

  function planFacts(owner?: string): OwnerFacts {
    const view = viewOf({ isReduction: false, ...defined({ owner }) })
    const { mostSendingUsd: mostReducingUsd } = viewOf({ isReduction: true })
    return { mostSendingUsd: view.mostSendingUsd, mostReducingUsd, ...defined({ ownUsd: view.ownUsd }) }
  }

  /** Returns a task's view, with the results of its orders. */
  async function seen(task: Pick<ExecutorTask, 'taskId' | 'params' | 'sinceMs'>): Promise<ExecutorView> {
    const { owner } = task.params
    const view = viewOf({ isReduction: isReduction(task.params), ...defined({ owner }) })
    const setBackMs = times.setBackSince(task)
    const children = await childrenOf(task)
    const claimedUsd = await claimedBy(olderOnSide(running(), task.taskId))
    const takenBack = (strategy: string) => (orderKey: Hex) =>
      takenBackBy(journal.recentIntents({ strategy }), orderKey)
    return {
      ...view,
      ...defined({ setBackMs: setBackMs > 0 ? setBackMs : undefined }),
      children,
      booked: (side) => ({ ...view.booked(side), claimedUsd }),
      ...defined({ takenBackBy: ifDefined(owner, takenBack) }),
    }
  }

  /** Returns the size that tasks maintain exits for, USD: their entries, less the part that their exits closed. */
  async function claimedBy(tasks: readonly ExecutorTask[]): Promise<Usd> {
    const { feeTokenDecimals, mostSendingUsd } = viewOf({ isReduction: false })
    let claimedUsd = 0n
    for (const task of tasks) {
      const children = await childrenOf(task)
      const { doneUsd, exitedUsd } = useOf({ children, feeTokenDecimals, mostSendingUsd }, true)
      claimedUsd += maxOf(0n, doneUsd - exitedUsd)
    }
    return claimedUsd
  }

  /** Reports the reason why a task cannot continue, once for each cause; figures in it move with every look. */
  function tell(taskId: string, reason: string | undefined): void {
    const cause = reason?.replaceAll(/[\d.,:-]+/g, '')
    if (cause === undefined) told.delete(taskId)
    else if (told.get(taskId) !== cause) {
      told.set(taskId, cause)
      emit({ type: 'task.waits', taskId, reason: reason ?? '' })
    }
  }

  function forget(taskId: string): void {
    for (const kept of [waits, told, stops, paused, times]) kept.delete(taskId)
  }

  /** Returns the reason why no order of a task may be accepted any more: checked in its turn, because an operator may have been faster. */
  function notGoing(taskId: string, decision: Decision, snapshot: Snapshot): Denial | undefined {
    const task = running().find((each) => each.taskId === taskId)
    if (task === undefined) return { code: 'TASK_ENDED', reason: 'the task has ended' }
    if (decision.kind === 'cancel') return undefined
    if (stops.has(taskId)) return { code: 'TASK_STOPPED', reason: 'the task is ending' }
    const halt = haltOf(task.params.owner, !addsRisk(decision, snapshot.orders.value))
    return halt === undefined ? undefined : { code: 'TRADING_HALTED', reason: halt }
  }

  async function stop(taskId: string, wish: StopWish): Promise<boolean> {
    const task = running().find((each) => each.taskId === taskId)
    if (task === undefined) return false
    if (task.state?.stop !== undefined || stops.has(taskId)) return true
    stops.set(taskId, wish)
    // An order that was let go before the wish is accepted before the wish is written.
    return await road.inTurn(async () => {
      const now = running().find((each) => each.taskId === taskId)
      if (now === undefined) return false
      const stopping = { ...now.state, stop: wish }
      await accountJournal.write(taskChanged({ taskId, version: now.version, state: stopping }))
      return true
    })
  }

  const runnerOf = (kind: AnyTaskRow) =>
    createTaskRunner({
      kind,
      pollMs,
      clock,
      tasks: () => accountJournal.state().tasks,
      write(entry) {
        const stop = stops.get(entry.taskId)
        if (entry.kind !== 'task.changed' || stop === undefined) return accountJournal.write(entry)
        return accountJournal.write({ ...entry, state: { ...(entry.state as ExecutorProgress), stop } })
      },
      admit: (snapshot, decision, decisionKey, beside) => {
        const [taskId = ''] = decisionKey.split('#')
        const { owner } = (accountJournal.state().tasks?.get(taskId)?.params ?? {}) as Partial<TaskGoal>
        const mayGo = () => notGoing(taskId, decision, snapshot)
        return road.admitTask(owner, mayGo, snapshot, decision, decisionKey, beside)
      },
      read: context.read,
      async see(task, snapshot): Promise<ExecutorView> {
        const { taskId, params } = task
        const { owner } = params
        if (owner !== undefined && !road.standing(owner).isHere)
          await stop(taskId, { by: 'perpd', reason: `${owner} no longer runs` })
        const pause = paused.get(taskId)
        const isPaused = pause !== undefined && clock.monotonicMs() < pause.untilMs
        return {
          ...(await seen(task)),
          ...defined({ paused: isPaused ? pause.why : undefined }),
          ...(snapshot && { snapshot: context.prices.judged(snapshot, owner ?? OPERATOR) }),
        }
      },
      told({ taskId }, view, { problem }, answers) {
        const denial = answers.map((each) => each.denial).find((each) => each !== undefined)
        const why = denial === undefined ? problem : `${denial.code}, ${denial.reason}`
        if (denial !== undefined && why !== undefined)
          paused.set(taskId, { untilMs: clock.monotonicMs() + DENIED_PAUSE_MS, why })
        if (why === undefined) waits.delete(taskId)
        else waits.set(taskId, why)
        if (denial !== undefined || view.halt !== undefined) tell(taskId, why)
        else if (view.paused === undefined) tell(taskId, undefined)
      },
      failed({ taskId }, reason) {
        waits.set(taskId, reason)
        tell(taskId, reason)
      },
      ended({ taskId, by }, { outcome, statement = '' }) {
        forget(taskId)
        emit({ type: 'task.ended', taskId, by, outcome, statement })
      },
    })

  const runners = taskRows.map(runnerOf)

  async function reportOf(task: ExecutorTask): Promise<TaskReport> {
    const { taskId, taskKind, by, params, sinceMs, end } = task
    const { sizeUsd, budget, asked } = params
    const { use } = standOf(params, await seen(task), opens(taskKind))
    const { doneUsd, exitedUsd, openUsd, orders, feesUsd, exitOrders, exitFeesUsd } = use
    const waitsFor = waits.get(taskId)
    return {
      taskId,
      kind: taskKind,
      by,
      sinceMs,
      what: whatOf(params),
      symbols: symbolsOf(params),
      ...{ sizeUsd, budget, asked, doneUsd, exitedUsd, openUsd, orders, feesUsd, exitOrders, exitFeesUsd },
      standing: end !== undefined ? 'ended' : task.state?.stop === undefined ? 'running' : 'stopping',
      ...defined({ waits: end === undefined ? waitsFor : undefined }),
      ...defined({ outcome: end?.outcome, endedAtMs: end?.atMs }),
      ...defined({ statement: end?.statement }),
    }
  }

  const wake = () => {
    for (const runner of runners) runner.wake()
  }
  const ofStrategies = createStrategyTasks({
    trading,
    clock,
    emit,
    wake,
    planFacts,
    expectStop: (taskId, wish) => stops.set(taskId, wish),
    async figuresOf(task) {
      return standOf(task.params, await seen(task), opens(task.taskKind)).use
    },
  })

  const handExits = createHandExits({
    ...context,
    judged: (snapshot) => context.prices.judged(snapshot, OPERATOR),
    unseen: (snapshot) => road.unseen(OPERATOR, snapshot),
    isOthers: (side, snapshot) => road.isOthers(OPERATOR, side, snapshot),
    admit: (snapshot, decision, decisionKey) =>
      road.admitTask(
        undefined,
        () => undefined,
        snapshot,
        decision,
        decisionKey,
        async () => undefined,
      ),
  })

  return {
    keepHandExits: async (isAtOnce) => (context.isRunning() ? await handExits.look(isAtOnce) : undefined),
    async list() {
      const ended = all().filter(({ end }) => end !== undefined)
      const shown = [...running(), ...ended.toReversed().slice(0, ENDED_MOST)]
      return await Promise.all(shown.map(reportOf))
    },
    async begin(entry) {
      await accountJournal.write(entry)
      const { taskId, by, params } = entry
      emit({ type: 'task.started', taskId, by, asked: (params as TaskGoal).asked })
      wake()
    },
    stop,
    running,
    endings: (by, statement) =>
      running().map(({ taskId }) => async () => {
        await accountJournal.write({ kind: 'task.ended', taskId, outcome: 'stopped', by, statement })
        forget(taskId)
        emit({ type: 'task.ended', taskId, by, outcome: 'stopped', statement })
      }),
    viewOf,
    planFacts,
    ofStrategies,
    async run(signal) {
      await Promise.all(runners.map((runner) => runner.run(signal)))
    },
  }
}
