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
  HasCatalogue,
  HasEngineSettings,
  HasPrepareClaim,
  HasPrepareRenewal,
  HasReadLimits,
  HasSubaccount,
  HasTrading,
} from '../account/accountParts.ts'
import { createAheadStamps } from '../account/aheadStamps.ts'
import { createHiddenWorth } from '../account/equity/hiddenWorth.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { createHoldings } from '../account/holdings/holdings.ts'
import { createPriceWatch, heldMarketsOf } from '../account/holdings/priceWatch.ts'
import { createUnprotectedPositions } from '../account/holdings/unprotectedPositions.ts'
import { createUnseen } from '../account/holdings/unseen.ts'
import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import { createLiveLimits, limitRows } from '../account/liveLimits.ts'
import { createAccountWatch } from '../account/watch/accountWatch.ts'
import { createBreakers } from '../account/watch/breakerWatch.ts'
import { createDayResult, createStrategyDay, type DayResult } from '../account/watch/dayResult.ts'
import { createFeedAges } from '../account/watch/feedAges.ts'
import { createLookAgain } from '../account/watch/lookAgain.ts'
import { createLookAtAccount, type LiveAnswers } from '../account/watch/lookAtAccount.ts'
import { createReachedTriggers } from '../account/watch/reachedTriggers.ts'
import { createReconciler } from '../account/watch/reconciler.ts'
import { createUnmanagedWatch } from '../account/watch/unmanaged.ts'
import { usedNow } from '../account/watch/usedLimits.ts'
import { defined } from '../base/defined.ts'
import { bookRows } from '../books/bookView.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import type { Event } from '../domain/event.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial, Intent, IntentState } from '../domain/order/intent.ts'
import type { WarningPolicy } from '../domain/order/warning.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { createInstance, type Instance } from '../engine/instance.ts'
import { createAccept } from '../engine/judging/accept.ts'
import { admitDecision } from '../engine/judging/admitDecision.ts'
import { judge } from '../engine/judging/judgeDecision.ts'
import { resizeAccepted } from '../engine/judging/resizeAccepted.ts'
import { createLifecycle } from '../engine/lifecycle.ts'
import { createInstances } from '../engine/roster/instances.ts'
import { readSnapshot } from '../engine/snapshotReader.ts'
import { createTaskRoad } from '../engine/taskRoad.ts'
import { tick } from '../engine/tick.ts'
import type { TurnContext } from '../engine/turnContext.ts'
import { accountOf, type ExecutionContext } from '../execution/context/executionContext.ts'
import { createOrderManager, type OrderManager } from '../execution/orderManager.ts'
import { createKnown } from '../market/knownVenue.ts'
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
import { lossLimitsOf } from '../risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { Needs } from '../strategy/strategy.ts'
import { createExecutors } from '../tasks/running/executors.ts'
import { createKill } from '../tasks/running/kill.ts'
import { createUnwinder } from '../tasks/running/unwinder.ts'
import { createWindDown } from '../tasks/running/windDown.ts'

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
  extends HasCatalogue,
    HasEngineSettings,
    HasPrepareClaim,
    HasPrepareRenewal,
    HasReadLimits,
    HasSubaccount,
    HasTrading {
  /** Parts of the road; the engine itself gives it admission and policies. */
  readonly execution: Omit<ExecutionContext, 'admission' | 'warningPolicies'>
  /** Those that run first. */
  readonly strategies: readonly LoadedStrategy[]
  /** The account's policy of the venue's warnings, which a strategy's file may make stricter; absent: the defaults. */
  readonly warnings?: WarningPolicy
  /** Reader of strategy files; absent: they stay as they are. */
  readonly strategyFiles?: StrategyFiles
  /** As they are configured. */
  readonly limits: ConfiguredLimits
  readonly labels: EngineLabels
  /** Receives the venue's markets once, before the first tick; an error ends the start. */
  readonly onMarkets?: (markets: readonly Market[]) => void
}

/** Makes an engine, with the order machine under it. */
export function createEngine({ execution, ...parts }: EngineParts): Engine {
  const { engineSettings, trading, catalogue, labels } = parts
  const { api, clock, journal } = execution
  const emit = (event: Event): void => {
    execution.emit(event)
    if (event.type === 'journal.committed' && movingRecords.has(event.record.kind)) again.soon()
  }
  const { warnings } = parts
  const ownWarnings = (strategy: string) =>
    instances.strategies().find(({ name }) => name === strategy)?.warnings
  const standingVeto = (intent: Intent) =>
    trading.veto(intent) ?? catalogue.veto(intent) ?? parts.subaccount?.veto(intent)
  const orderManager = createOrderManager({
    ...execution,
    emit,
    ...(warnings === undefined
      ? {}
      : { warningPolicies: (strategy) => [warnings, ...[ownWarnings(strategy) ?? []].flat()] }),
    admission: {
      veto: (intent) => windDown.veto(intent) ?? standingVeto(intent),
      resize,
    },
  })
  function resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial> {
    return resizeAccepted({ api, facts: accept.facts, read }, intent, atMostUsd)
  }
  const context = { ...execution, ...parts, emit, orderManager, strategies: () => instances.strategies() }
  const owner = accountOf(context)
  const startedAtMs = clock.now()
  const deciding = new AbortController()
  const living = new AbortController()
  const reconciler = createReconciler(context)
  const limits = createLiveLimits(context.limits)
  const prices = createPriceWatch({ ...context, limits })
  const holdings = createHoldings({ ...context, prices }, owner)
  const filled = createUnseen(orderManager, clock, holdings.journal)
  const unseen = filled.in
  const unmanaged = createUnmanagedWatch({
    ...context,
    windingDown: () => windDown.open().map(({ strategy }) => strategy),
  })
  const before = journal.recentIntents()
  const breakers = createBreakers(
    context,
    () => ({ ...limits.current().breakers, ...lossLimitsOf(limits.current().account) }),
    () => realized(),
    holdings.journal,
    createHiddenWorth({ ...context, prices }, holdings.journal),
  )
  const again = createLookAgain({
    clock,
    signal: living.signal,
    forMs: LIST_LAG_MS,
    async look() {
      await account.lookAgain(living.signal)
      await breakers.lookAgain()
    },
    isSettled() {
      const { unlistedFills, closedFills } = account.held()
      const isShown = breakers.shownEquity()?.isSettling !== true
      return isShown && unlistedFills.length + closedFills.length === 0
    },
  })
  const isDeciding = () => !deciding.signal.aborted
  const live: LiveAnswers = {
    equity: breakers.limitEquity,
    dayResultUsd: createStrategyDay(context, () => account.positions()),
    marketDaysUsd: () => realized().byMarket(clock.now()),
    pausing: reconciler.pausing,
    unseen,
    isDeciding,
  }
  const aheadStamps = createAheadStamps(clock)
  const shared = { ...context, limits, holdings, prices, aheadStamps, unseen }
  const facts = createLookAtAccount({ ...shared, execution: context, live })
  const accept = createAccept({ emit, facts, isDeciding, orderManager })
  const turns: TurnContext = {
    ...shared,
    accept,
    requests: {
      ...context,
      planUnwind: (intentId, wish) => unwinder.plan(intentId, wish),
      planTask: (...asked) => executors.ofStrategies.plan(...asked),
      tasksOf: (name) => executors.ofStrategies.own(name),
    },
    exitRetries: new Map(),
  }
  const instances = createInstances(parts.strategies, makeInstance, deciding.signal)

  function makeInstance(first: LoadedStrategy): Instance {
    return createInstance(
      first,
      context,
      deciding.signal,
      async (tickMs, isAsked, loaded) => {
        const report = await tick(turns, loaded, tickMs, () => read(loaded.needs), isAsked)
        account.saw(report.snapshot.positions.value)
        return report
      },
      context.engineSettings,
    )
  }

  const dayResult = createDayResult([...before, ...journal.openIntents()], startedAtMs)
  // Oldest first: of so many the newest are remembered.
  for (const state of before.toReversed()) context.fees?.learn(state)
  orderManager.restore(journal.openIntents(), before.filter(isRecentFill))
  const feeds = createFeedAges(context)
  const acceptedPrices = new Map<string, bigint>()
  const known = createKnown(catalogue.facts())
  const lookAtReached = createReachedTriggers(orderManager)
  const unprotectedPositions = createUnprotectedPositions()
  const account = createAccountWatch({ ...context, prices, holdings, feeds, filled, reconciler, unmanaged })

  function isRecentFill({ closedAtMs }: IntentState): boolean {
    return closedAtMs !== undefined && closedAtMs + LIST_LAG_MS > startedAtMs
  }

  /** The day's results with everything that is known now. */
  function realized(): DayResult {
    const open = orderManager.open().map((each) => each.state)
    dayResult.add([...open, ...orderManager.recentlyLanded()], clock.now())
    dayResult.addDiscrepancies(trading.accountJournal.state(), clock.now())
    return dayResult
  }
  /** Source of the daemon's own decisions: they are read and admitted in the operator's name. */
  const byHand = { name: OPERATOR, isWhole: true }
  const byOperator = {
    read: (wanted: readonly string[]) => read({ symbols: wanted, allPositionMarkets: true }),
    admit: (snapshot: Snapshot, decision: Decision, decisionKey: string, beside?: () => Promise<void>) =>
      accept.inTurn(() => admitDecision(accept, byHand, snapshot, decision, decisionKey, beside)),
    judge: (snapshot: Snapshot, decision: Decision, decisionKey: string) =>
      judge(accept.facts(snapshot, byHand), { source: byHand, decision, decisionKey }),
  }
  // An operator's payment is checked against the wallet before anything is signed.
  const withWallet = {
    read: (symbols: readonly string[]) => read({ symbols, allPositionMarkets: true, balances: true }),
    isRunning: () => life.state() === 'running',
  }
  const road = createTaskRoad({ ...shared, accept })
  const executors = createExecutors({ ...shared, ...withWallet, road })
  const kill = createKill({
    ...context,
    ...byOperator,
    holdings,
    symbols: account.symbols,
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
  const reload = createReload({
    ...context,
    limits,
    instances,
    windDown,
    isRunning: () => life.state() === 'running',
    ...defined({ files: parts.strategyFiles }),
  })
  const unwinder = createUnwinder({ ...context, ...byOperator, holdings, isSeen: filled.isSeen })
  const lookedAt = withStopLooks(context, { account, unprotectedPositions, reconciler, executors })
  const life = createLifecycle(
    { ...context, limits },
    {
      account: lookedAt,
      breakers,
      deciding,
      living,
      startedAtMs,
      countDay: realized,
      keepRoster: reload.begin,
      loops: () => [
        again.run(),
        kill.run(living.signal),
        unwinder.run(living.signal),
        windDown.run(living.signal),
        executors.run(living.signal),
        instances.run(),
      ],
      ...defined({ onMarkets: parts.onMarkets }),
    },
  )
  const labelled = createLabelledOrders({ ...context, holdings })
  const inbox = createSignalInbox({ ...context, isTaking: isDeciding })

  async function read(needs: Needs): Promise<Snapshot> {
    const { maxMarketValuesAgeMs } = engineSettings
    const ages = maxMarketValuesAgeMs === undefined ? {} : { maxMarketValuesAgeMs }
    const context = { api, clock, account: owner, acceptedPrices, known, catalogue, ...feeds, ...ages }
    const snapshot = await readSnapshot({ ...context, heldMarkets: holdings.heldMarkets }, needs)
    orderManager.sawOrders(snapshot.orders)
    lookAtReached(snapshot)
    await prices.look(heldMarketsOf(snapshot))
    return holdings.held(snapshot)
  }

  return {
    start: life.start,
    stop: life.stop,
    abort: life.abort,
    resize,
    strategies: () => instances.strategies(),
    orders: orderManager,
    status: () =>
      statusOf(
        { ...context, limits },
        {
          labels,
          startedAtMs,
          account,
          unprotectedPositions,
          breakers,
          feeds,
          instances,
          kill,
          labelled,
          life,
          reconciler,
          unmanaged,
          unwinder,
          windDown,
        },
      ),
    operate: (command, commander) =>
      operate(
        {
          ...context,
          limits,
          kill,
          byHand: { ...context, ...byOperator, ...withWallet },
          tasks: {
            ...context,
            ...withWallet,
            executors,
            denialOf: (...asked) => road.denialOf(false, ...asked),
          },
          unwinder,
          reconciler,
          reload,
          equity: breakers.equity,
          isTaking: isDeciding,
        },
        command,
        commander,
      ),
    signal: inbox.receive,
    ...createReads(context),
    ...createCandleReads(context),
    tasks: () => executors.list(),
    clockSkewMs: (host) => api.clockSkewMs(host),
    limits: () =>
      limitRows(limits.current(), usedNow({ ...context, ...live }, { account, breakers, realized })),
    fileOf: instances.fileOf,
    books: () => bookRows(journal.books().all(), account.positions()),
    intents: labelled.intents,
    story: labelled.story,
  }
}
