/**
 * The engine: resumes the journal's open intents, runs strategies at their cadence, follows open orders, and drains.
 *
 * starting    the venue is not reached yet; strategies get no turns, `/readyz` says why.
 * recovering  open intents are looked at once each, and the account is read.
 * running     every strategy ticks at its own cadence, aligned to the clock; a strategy that throws or is slow hurts
 *             only itself.
 * draining    no new decisions; open orders are followed until they close or `drainMs` is over. Either end is safe: the
 *             journal was written before everything that left.
 */

import type {
  HasEngineSettings,
  HasPrepareClaim,
  HasPrepareRenewal,
  HasReadLimits,
  HasSubaccount,
  HasTrading,
} from '../account/accountParts.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { heldMarketsOf } from '../account/holdings/priceWatch.ts'
import { createUnprotectedPositions } from '../account/holdings/unprotectedPositions.ts'
import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import { createLiveLimits, limitRows } from '../account/liveLimits.ts'
import { createOrderMoves, lookAgain } from '../account/watch/lookAgain.ts'
import { createReachedTriggers } from '../account/watch/reachedTriggers.ts'
import { usedNow } from '../account/watch/usedLimits.ts'
import { createWatchedAccount, isRecentFill } from '../account/watch/watchedAccount.ts'
import { defined } from '../base/defined.ts'
import { bookRows } from '../books/bookView.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import type { Event } from '../domain/event.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import type { WarningPolicy } from '../domain/order/warning.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { TakeTurn } from '../engine/callKind.ts'
import { createInstance } from '../engine/instance.ts'
import { createAccept } from '../engine/judging/accept.ts'
import { admitDecision } from '../engine/judging/admitDecision.ts'
import { judge } from '../engine/judging/judgeDecision.ts'
import { resizeAccepted } from '../engine/judging/resizeAccepted.ts'
import { createLifecycle } from '../engine/lifecycle.ts'
import { createEnding, createPhase, type Ending } from '../engine/phase.ts'
import { createInstances } from '../engine/roster/instances.ts'
import { createRoster } from '../engine/roster/roster.ts'
import { readSnapshot } from '../engine/snapshotReader.ts'
import { createTaskRoad } from '../engine/taskRoad.ts'
import { tick } from '../engine/tick.ts'
import type { TurnContext } from '../engine/turnContext.ts'
import { accountOf, type ExecutionContext } from '../execution/context/executionContext.ts'
import { shippedLanes } from '../execution/lanes/shippedLanes.ts'
import { createOrderManager, type OrderManager } from '../execution/orderManager.ts'
import { createTrackedOrders } from '../execution/trackedOrders.ts'
import type { MarketData } from '../market/marketData.ts'
import { createReads } from '../operator/operatorReads.ts'
import type { EngineApi } from '../operator/port/engineStatus.ts'
import { createLabelledOrders } from '../operator/port/labelledOrders.ts'
import { operate } from '../operator/port/operate.ts'
import { createCandleReads } from '../operator/port/readCandles.ts'
import { createSignalInbox } from '../operator/port/signalInbox.ts'
import { type EngineLabels, statusOf, withStopLooks } from '../operator/port/statusReport.ts'
import { createReload, type StrategyFiles } from '../operator/reloadStrategies.ts'
import type { Market } from '../protocol/market.ts'
import type { Usd } from '../protocol/units.ts'
import { createExecutors } from '../running/executors.ts'
import { createKill } from '../running/kill.ts'
import { createUnwinder } from '../running/unwinder.ts'
import { createWindDown, windDownVeto, windingDown } from '../running/windDown.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { Needs } from '../strategy/strategy.ts'

/** A running engine. */
export interface Engine extends EngineApi {
  /** Recovers, then runs; resolves when it runs. Rejects when the first reads show a mistake of the configuration. */
  start(): Promise<void>
  /** First call: no new decisions, follow open orders for `drainMs`. Resolves when done. `abort()` ends it at once. */
  stop(signal: string): Promise<void>
  abort(): void
  /**
   * The size that an accepted increase may have by everything that is read anew, at most `atMostUsd` less headroom; or why
   * there is none. Rejects as reading does.
   */
  resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial>
  /** Lists the running strategies; whoever stops the engine ends their threads. */
  strategies(): readonly LoadedStrategy[]
  /** The order machine under it. */
  readonly orders: OrderManager
}

/** Records of something that moves a position or the wallet. */
const movingRecords: ReadonlySet<string> = new Set([
  'landed',
  'child.executed',
  'child.cancelled',
  'intent.closed',
])

/** Parts from which an engine is made. */
export interface EngineParts
  extends HasEngineSettings,
    HasPrepareClaim,
    HasPrepareRenewal,
    HasReadLimits,
    HasSubaccount,
    HasTrading {
  /** Parts of the road; the engine itself gives it admission and policies. */
  readonly execution: Omit<ExecutionContext, 'admission' | 'warningPolicies' | 'api' | 'chain'>
  /** Data of the chain's markets, which other accounts may share. */
  readonly market: MarketData
  /** Strategies that run from the start. */
  readonly strategies: readonly LoadedStrategy[]
  /** The account's policy of the venue's warnings, which a strategy's file may make stricter; absent: the defaults. */
  readonly warnings?: WarningPolicy
  /** Reader of strategy files; absent: they stay as they are. */
  readonly strategyFiles?: StrategyFiles
  /** As they are configured. */
  readonly limits: ConfiguredLimits
  readonly labels: EngineLabels
  /** The end of its life; absent: `abort` alone brings it about. */
  readonly ending?: Ending
  /** Receives the venue's markets once, before the first tick; an error ends the start. */
  readonly onMarkets?: (markets: readonly Market[]) => void
  /** Receives each turn that a kind answered; absent: turns are not recorded. */
  readonly recordTurn?: TakeTurn
}

/** Makes an engine, with the order machine under it. Each part is made of those before it. */
export function createEngine({
  execution: given,
  ending = createEnding(),
  market,
  ...parts
}: EngineParts): Engine {
  const { engineSettings, trading, warnings } = parts
  const { clock, journal } = given
  const { api, catalogue, chain } = market
  const { deciding, living } = ending
  const isDeciding = () => !deciding.signal.aborted
  const phase = createPhase()
  const isRunning = () => phase.state() === 'running'
  const moves = createOrderMoves(clock, LIST_LAG_MS)
  const emit = (event: Event): void => {
    given.emit(event)
    if (event.type === 'journal.committed' && movingRecords.has(event.record.kind)) moves.soon()
  }
  const execution = { ...given, api, chain, emit }
  const roster = createRoster(parts.strategies)
  const { strategies } = roster
  const openOrders = createTrackedOrders(execution)
  const limits = createLiveLimits(parts.limits)
  const context = { ...execution, ...parts, catalogue, limits, openOrders, strategies }

  // The account: what is known, watched and read of it.
  const startedAtMs = clock.now()
  const before = journal.recentIntents()
  const account = createWatchedAccount({
    ...{ ...parts, catalogue, execution, limits, openOrders, strategies, isDeciding, before, startedAtMs },
    windingDown: () => windingDown(parts),
  })
  const { breakers, facts, feeds, filled, holdings, live, prices, realized, reconciler, unmanaged, watch } =
    account
  const lookAtReached = createReachedTriggers(openOrders)
  const owner = accountOf(execution)
  async function read(needs: Needs): Promise<Snapshot> {
    const { heldMarkets } = holdings
    const { maxMarketValuesAgeMs } = engineSettings
    const snapshot = await readSnapshot(
      {
        ...{ ...market, clock, account: owner, heldMarkets, ...feeds },
        ...defined({ maxMarketValuesAgeMs }),
      },
      needs,
    )
    openOrders.sawOrders(snapshot.orders)
    lookAtReached(snapshot)
    await prices.look(heldMarketsOf(snapshot))
    return holdings.held(snapshot)
  }

  // The road of its orders: they are made under these vetoes, and sized anew by these facts.
  const resize = (intent: Intent, atMostUsd: Usd): Promise<Usd | Denial> =>
    resizeAccepted({ api, facts, read }, intent, atMostUsd)
  const standingVeto = (intent: Intent) =>
    trading.veto(intent) ?? catalogue.veto(intent) ?? parts.subaccount?.veto(intent)
  const ownWarnings = (strategy: string) => strategies().find(({ name }) => name === strategy)?.warnings
  const orderManager = createOrderManager(
    {
      ...execution,
      ...(warnings === undefined
        ? {}
        : { warningPolicies: (strategy) => [warnings, ...[ownWarnings(strategy) ?? []].flat()] }),
      admission: { veto: (intent) => windDownVeto(parts, intent) ?? standingVeto(intent), resize },
    },
    shippedLanes,
    openOrders,
  )
  // Oldest first: of so many the newest are remembered.
  for (const state of before.toReversed()) given.fees?.learn(state)
  orderManager.restore(
    journal.openIntents(),
    before.filter((state) => isRecentFill(state, startedAtMs)),
  )
  const accept = createAccept({ emit, facts, isDeciding, orderManager })

  // Processes of several steps.
  /** Source of the daemon's own decisions: they are read and admitted in the operator's name. */
  const byHand = { name: OPERATOR, isWhole: true }
  const byOperator = {
    read: (wanted: readonly string[]) => read({ symbols: wanted, allPositionMarkets: true }),
    admit: (snapshot: Snapshot, decision: Decision, decisionKey: string, beside?: () => Promise<void>) =>
      accept.inTurn(() => admitDecision(accept, byHand, snapshot, decision, decisionKey, beside)),
    judge: (snapshot: Snapshot, decision: Decision, decisionKey: string) =>
      judge(facts(snapshot, byHand), { source: byHand, decision, decisionKey }),
  }
  // An operator's payment is checked against the wallet before anything is signed.
  const withWallet = {
    read: (symbols: readonly string[]) => read({ symbols, allPositionMarkets: true, balances: true }),
    isRunning,
  }
  const road = createTaskRoad({ ...context, holdings, accept, unseen: filled.in })
  const executors = createExecutors({ ...context, ...withWallet, prices, road })
  const unwinder = createUnwinder({ ...context, ...byOperator, holdings, isSeen: filled.isSeen })
  const kill = createKill({
    ...context,
    ...byOperator,
    holdings,
    symbols: watch.symbols,
    endTasks: (by) => executors.endings(by, 'a kill cancels resting orders and ends every task'),
  })
  const windDown = createWindDown({
    ...context,
    read: byOperator.read,
    admit: (name, snapshot, decision, decisionKey, beside) =>
      // Whatever its kind was, it takes its own part and no more.
      accept.inTurn(() => {
        const source = { name, strategy: { opensPositions: true } }
        return admitDecision(accept, source, snapshot, decision, decisionKey, beside)
      }),
  })

  // Turns of strategies.
  const turns: TurnContext = {
    ...context,
    ...{ accept, aheadStamps: account.aheadStamps, holdings, prices, unseen: filled.in },
    requests: {
      ...context,
      planUnwind: unwinder.plan,
      planTask: executors.ofStrategies.plan,
      tasksOf: executors.ofStrategies.own,
    },
    exitRetries: new Map(),
    ...defined({ recordTurn: parts.recordTurn }),
  }
  const instances = createInstances(
    roster,
    (first) =>
      createInstance(
        first,
        context,
        deciding.signal,
        async (tickMs, isAsked, loaded) => {
          const report = await tick(turns, loaded, tickMs, () => read(loaded.needs), isAsked)
          watch.saw(report.snapshot.positions.value)
          return report
        },
        engineSettings,
      ),
    deciding.signal,
  )

  // Commands of the operator, and the life of it all.
  const reload = createReload({
    ...{ ...context, instances, windDown, isRunning },
    ...defined({ files: parts.strategyFiles }),
  })
  const unprotectedPositions = createUnprotectedPositions()
  const life = createLifecycle(context, {
    account: withStopLooks(context, { account: watch, unprotectedPositions, reconciler, executors }),
    ...{ breakers, ending, phase, orderManager, startedAtMs },
    countDay: realized,
    keepRoster: reload.begin,
    loops: () => [
      lookAgain(
        { clock, moves, look: () => account.look(living.signal), isSettled: account.isSettled },
        living.signal,
      ),
      kill.run(living.signal),
      unwinder.run(living.signal),
      windDown.run(living.signal),
      executors.run(living.signal),
      instances.run(),
    ],
    ...defined({ onMarkets: parts.onMarkets }),
  })
  const labelled = createLabelledOrders({ ...context, holdings })
  const inbox = createSignalInbox({ ...context, isTaking: isDeciding })
  const operatorContext = {
    ...{ ...context, orderManager, kill, unwinder, reconciler, reload },
    byHand: { ...context, ...byOperator, ...withWallet },
    tasks: {
      ...context,
      ...withWallet,
      executors,
      denialOf: (snapshot: Snapshot, decision: Decision) => road.denialOf(false, snapshot, decision),
    },
    equity: breakers.equity,
    isTaking: isDeciding,
  }
  return {
    start: life.start,
    stop: life.stop,
    abort: life.abort,
    resize,
    strategies,
    orders: orderManager,
    status: () =>
      statusOf(context, {
        ...{ breakers, feeds, instances, kill, labelled, life, phase, reconciler, startedAtMs },
        ...{ unmanaged, unprotectedPositions, unwinder, windDown },
        labels: parts.labels,
        account: watch,
      }),
    operate: (command, commander) => operate(operatorContext, command, commander),
    signal: inbox.receive,
    ...createReads(context),
    ...createCandleReads(context),
    tasks: () => executors.list(),
    clockSkewMs: (host) => api.clockSkewMs(host),
    limits: () =>
      limitRows(limits.current(), usedNow({ ...context, ...live }, { account: watch, breakers, realized })),
    fileOf: instances.fileOf,
    books: () => bookRows(journal.books().all(), watch.positions()),
    intents: labelled.intents,
    story: labelled.story,
  }
}
