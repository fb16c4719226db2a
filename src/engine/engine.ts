/**
 * The engine: takes up what the journal left open, asks strategies at their cadence, follows what is open, and drains.
 *
 * starting    the venue is not reached yet; nothing is asked of strategies, `/readyz` says why.
 * recovering  open intents are looked at once each, and the account is read.
 * running     every strategy ticks at its own cadence, aligned to the clock; a strategy that throws or is slow hurts
 *             only itself.
 * draining    no new decisions; what is open is followed until it closes or `drainMs` is over. Either end is safe: the
 *             journal was written before everything that left.
 */

import { DecodeError, RefusedError, UnreachableError } from '../api/transport/apiErrors.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { listedOrders } from '../domain/account/changedOrders.ts'
import { type HiddenSide, heldOfOrder } from '../domain/account/held.ts'
import type { Feed } from '../domain/event.ts'
import type { Decision } from '../domain/order/decision.ts'
import {
  type Denial,
  type Intent,
  type IntentState,
  isOpen,
  labelOf,
  lastAttempt,
} from '../domain/order/intent.ts'
import { isOpened } from '../domain/order/orderLegs.ts'
import { signedOrderIn } from '../domain/order/signedOrder.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { marksOf } from '../domain/views/orderMarks.ts'
import { accountOf, type ExecutionContext } from '../execution/context/executionContext.ts'
import { maxPriceImpactsOf } from '../execution/context/policy.ts'
import { createOrderManager, type OrderManager } from '../execution/orderManager.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import type { Market } from '../protocol/market.ts'
import type { Position } from '../protocol/position.ts'
import { formatDollars, type Usd } from '../protocol/units.ts'
import { lossLimitsOf } from '../risk/breakers/circuitBreakers.ts'
import { exposureOf } from '../risk/exposure/accountExposure.ts'
import { resizeIncrease } from '../risk/resize.ts'
import type { Needs } from '../strategy/strategy.ts'
import { createHoldings, told } from './account/holdings.ts'
import { type ShownExposure, shownExposure, unlistedFills } from './account/shownExposure.ts'
import { OPERATOR } from './account/tradingHalts.ts'
import { createUnseen, listLagMs } from './account/unseen.ts'
import { createUnwinder } from './account/unwinder.ts'
import { admitDecision, judge } from './admitDecision.ts'
import type { EngineContext } from './context/engineContext.ts'
import { createImpactSpent } from './context/impactSpent.ts'
import { type ConfiguredLimits, createLiveLimits } from './context/liveLimits.ts'
import { createMarketCount } from './context/marketCount.ts'
import {
  type EngineApi,
  type EngineState,
  type EngineStatus,
  type LabelledIntent,
  shortOfSpace,
  shownOf,
} from './engineStatus.ts'
import { createInstance } from './instance.ts'
import { withHeldMarkets } from './market/heldMarkets.ts'
import { createKnown } from './market/knownVenue.ts'
import { readSnapshot } from './market/snapshotReader.ts'
import { keepLimits } from './operator/changeLimits.ts'
import { createKill } from './operator/kill.ts'
import { createManual } from './operator/manualOrders.ts'
import { operate } from './operator/operator.ts'
import { createReads } from './operator/operatorReads.ts'
import { tick } from './tick.ts'
import { createBreakers } from './watch/breakerWatch.ts'
import { createDayResult, type DayResult } from './watch/dayResult.ts'
import { createReconciler } from './watch/reconciler.ts'
import { createUnmanagedWatch } from './watch/unmanaged.ts'
import { unresolvedOf } from './watch/unresolved.ts'

/** What the status says besides what the engine knows itself. */
export interface EngineLabels {
  readonly version: string
  readonly profile: string
  readonly journalPath: string
  /** One sentence: what closes an unknown here. */
  readonly evidence: string
}

/** A running engine. */
export interface Engine extends EngineApi {
  /** Recovers, then runs; resolves when it runs. Rejects when the first reads show a mistake of the configuration. */
  start(): Promise<void>
  /** First call: no new decisions, follow what is open for `drainMs`. Resolves when done. `abort()` ends it at once. */
  stop(signal: string): Promise<void>
  abort(): void
  /**
   * The size that an accepted increase may have by everything that is read anew, at most `atMostUsd` less headroom; or why
   * there is none. Rejects as reading does.
   */
  resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial>
  /** The order machine under it. */
  readonly orders: OrderManager
}

/** How long a stop waits for reads that are still in the air, beyond the drain. */
const stopGraceMs = 1_000
const [retryStartMs, retryMaxMs] = [1_000, 15_000]
const drainPollMs = 50

/** What an engine is made from. */
export interface EngineParts
  extends Omit<ExecutionContext, 'admission'>,
    Pick<
      EngineContext,
      'strategies' | 'readLimits' | 'trading' | 'catalogue' | 'subaccount' | 'engineSettings'
    > {
  /** As they are configured. */
  readonly limits: ConfiguredLimits
  readonly labels: EngineLabels
  /** Told the venue's markets once, before the first tick; what it throws ends the start. */
  readonly onMarkets?: (markets: readonly Market[]) => void
}

/** Makes an engine, with the order machine under it. */
export function createEngine(parts: EngineParts): Engine {
  const { clock, emit, journal, api, engineSettings, trading, catalogue, labels } = parts
  const orderManager = createOrderManager({
    ...parts,
    admission: {
      veto: (intent) => trading.veto(intent) ?? catalogue.veto(intent) ?? parts.subaccount?.veto(intent),
      resize,
    },
  })
  const context = { ...parts, orderManager }
  const account = accountOf(context)
  const startedAtMs = clock.now()
  const deciding = new AbortController()
  const living = new AbortController()
  const loops: Promise<void>[] = []
  let turn: Promise<unknown> = Promise.resolve()
  const filled = createUnseen(orderManager, clock)
  const unseen = filled.in
  const reconciler = createReconciler(context)
  const holdings = createHoldings(context, account)
  const unmanaged = createUnmanagedWatch(context)
  const before = journal.recentIntents()
  const limits = createLiveLimits(context.limits)
  const breakers = createBreakers(
    context,
    () => ({ ...limits.current().breakers, ...lossLimitsOf(limits.current().account) }),
    (sinceMs) => realized().ofAll(sinceMs, clock.now()),
  )
  const { equity } = breakers
  const admission: EngineContext = {
    ...context,
    limits,
    equity: breakers.limitEquity,
    dayResultUsd: (strategy) => realized().of(strategy, clock.now()),
    marketDayResultUsd: (marketToken) => realized().onMarket(marketToken, clock.now()),
    acceptedOnMarkets: createMarketCount(before, startedAtMs),
    impactSpent: createImpactSpent(before, () => maxPriceImpactsOf(context.signingPolicy()), startedAtMs),
    pausedBy: reconciler.pausedBy,
    holdings,
    unwind: (intentId, wish) => unwinder.request(intentId, wish),
    isDeciding: () => !deciding.signal.aborted,
    inTurn: (work) => {
      const next = turn.then(work)
      turn = next.catch(() => undefined)
      return next
    },
  }
  const instances = context.strategies.map((loaded) =>
    createInstance(
      loaded,
      admission,
      deciding.signal,
      async (tickMs, isAsked) => {
        const report = await tick(admission, loaded, tickMs, () => read(loaded.needs), unseen, isAsked)
        positions = holdings.withOthers(report.snapshot.positions.value)
        return report
      },
      context.engineSettings.pauseAfterFailures,
    ),
  )
  const dayResult = createDayResult([...before, ...journal.openIntents()], startedAtMs)
  // Oldest first: of so many the newest are remembered.
  for (const state of before.toReversed()) context.fees?.learn(state)
  orderManager.restore(journal.openIntents(), before.filter(isRecentFill))
  const feedReadAtMs = new Map<Feed, { atMs: number; ageMs: number }>()
  let state: EngineState = 'starting'
  let notReady: readonly string[] = ['starting']
  /** Prices that were not doubted, over all strategies' snapshots. */
  const acceptedPrices = new Map<string, bigint>()
  const known = createKnown(catalogue.facts())
  let positions: readonly Position[] = []
  /** Of the newest lists: sides of which one shows less than the journal knows. */
  let hidden: readonly HiddenSide[] = []
  let symbols: Readonly<Record<string, string>> = {}
  let watchedAtMs: number | undefined

  function onFeed(feed: Feed, ageMs: number): void {
    feedReadAtMs.set(feed, { atMs: clock.now(), ageMs })
    emit({ type: 'feed.read', feed, ageMs })
  }

  function isRecentFill({ closedAtMs }: IntentState): boolean {
    return closedAtMs !== undefined && closedAtMs + listLagMs > startedAtMs
  }

  /** The day's results with everything that is known now. */
  function realized(): DayResult {
    const open = orderManager.open().map((each) => each.state)
    dayResult.add([...open, ...orderManager.recentlyLanded()], clock.now())
    dayResult.addFindings(trading.accountJournal.state(), clock.now())
    return dayResult
  }

  /** How what the daemon makes itself reads and is admitted: in the operator's name. */
  const byHand = { name: OPERATOR, isWhole: true }
  const byOperator = {
    read: (wanted: readonly string[]) => read({ symbols: wanted, allPositionMarkets: true }),
    admit: (snapshot: Snapshot, decision: Decision, decisionKey: string, beside?: () => Promise<void>) =>
      admission.inTurn(() =>
        admitDecision(admission, byHand, snapshot, decision, decisionKey, unseen, beside),
      ),
    judge: (snapshot: Snapshot, decision: Decision, decisionKey: string) =>
      judge(admission, byHand, snapshot, decision, decisionKey, unseen),
  }
  const manual = createManual({
    ...context,
    ...byOperator,
    // What an operator pays with is held against the wallet before anything is signed.
    read: (symbols) => read({ symbols, allPositionMarkets: true, balances: true }),
    isRunning: () => state === 'running',
  })
  const kill = createKill({ ...context, ...byOperator, holdings, symbols: () => symbols })
  const unwinder = createUnwinder({ ...context, ...byOperator, holdings, isSeen: filled.isSeen })

  async function read(needs: Needs): Promise<Snapshot> {
    const { maxMarketValuesAgeMs } = engineSettings
    const ages = maxMarketValuesAgeMs === undefined ? {} : { maxMarketValuesAgeMs }
    return holdings.held(
      await readSnapshot({ api, clock, account, acceptedPrices, known, catalogue, onFeed, ...ages }, needs),
    )
  }

  async function watchAccount(): Promise<void> {
    await context.fees?.refresh(3 * engineSettings.watchMs)
    const [markets, lists] = await Promise.all([api.getMarkets(), holdings.refresh()])
    const [read] = lists
    if (read === undefined) return
    positions = holdings.withOthers(read.value)
    const held = positions.map(({ marketToken }) => marketToken)
    const known = await withHeldMarkets(api, markets.value, held, catalogue.facts())
    symbols = Object.fromEntries(known.map((market) => [hexKey(market.marketToken), market.symbol]))
    onFeed('positions', Math.max(0, clock.now() - read.readAtMs))
    emit({ type: 'account.positions', positions, symbols })
    await unmanaged.check(positions, symbols)
    const resting = orderManager.open().filter(({ label }) => label === 'resting').length
    await context.subaccount?.check(positions.length + resting)
    hidden = lists.flatMap((list) => holdings.hiddenIn(list))
    await reconciler.pass(symbols, lists)
  }

  /** Tries until it works or the engine ends; a fault is reported as why the engine is not ready. */
  async function untilDone(what: string, work: () => Promise<void>): Promise<void> {
    let waitMs = retryStartMs
    while (!living.signal.aborted) {
      try {
        await work()
        return
      } catch (error) {
        if (
          !(
            error instanceof RefusedError ||
            error instanceof UnreachableError ||
            error instanceof DecodeError
          )
        )
          throw error
        notReady = [`${what}: ${reasonOf(error)}`]
        emit({ type: 'daemon.recovering', reason: notReady[0] ?? what })
      }
      await clock.sleep(waitMs, living.signal)
      waitMs = Math.min(waitMs * 2, retryMaxMs)
    }
  }

  /** What is held, a few words each: `long ETH/USD [WETH-USDC] of $500.00`. */
  function heldWords(): readonly string[] {
    return positions.map(
      ({ direction, marketToken, sizeInUsd }) =>
        `${direction} ${symbols[hexKey(marketToken)] ?? marketToken} of ${formatDollars(sizeInUsd)}`,
    )
  }

  async function keepWatching(): Promise<void> {
    let heartbeatAtMs = clock.monotonicMs() + engineSettings.heartbeatMs
    while (!living.signal.aborted) {
      await clock.sleep(engineSettings.watchMs, living.signal)
      if (living.signal.aborted) return
      watchedAtMs = clock.monotonicMs()
      let isFresh = false
      try {
        await watchAccount()
        isFresh = true
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
      }
      // A stop that came meanwhile closes the journal soon.
      if (living.signal.aborted) return
      await breakers.check(isFresh)
      realized()
      if (clock.monotonicMs() < heartbeatAtMs) continue
      heartbeatAtMs = clock.monotonicMs() + engineSettings.heartbeatMs
      emit({
        type: 'daemon.heartbeat',
        openIntents: orderManager.open().length,
        unresolved: unresolvedOf(orderManager.open()).length,
        positions: positions.length,
        exposureUsd: exposureNow().exposureUsd,
      })
    }
  }

  /** The size that an accepted increase may have by everything that is read anew. */
  async function resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial> {
    const { symbol, direction } = intent.terms
    // Not an answer that was asked for before the warning: the snapshot then shares this one.
    await api.getTradingCapacity({ symbol, direction }, { isFresh: true })
    const snapshot = await read({ symbols: [symbol] })
    const others = unseen(snapshot).filter((state) => state.intent.intentId !== intent.intentId)
    const { equityUsd } = admission.equity() ?? {}
    return resizeIncrease(intent, atMostUsd, {
      snapshot,
      exposure: exposureOf(snapshot, others, holdings.others()),
      limits: limits.on(symbol, intent.strategy),
      ...(equityUsd === undefined ? {} : { equityUsd }),
    })
  }

  /** Open orders whose next word may come any moment; one that rests may wait for weeks, and nothing is gained by watching it. */
  function underWay(): ReturnType<typeof orderManager.open> {
    return orderManager.open().filter(({ label }) => label !== 'resting')
  }

  function exposureNow(): ShownExposure {
    const open = orderManager.open().map((each) => each.state)
    return shownExposure(positions, holdings.journal(), open)
  }

  function background(work: Promise<void>): void {
    loops.push(work.catch(context.fatal))
  }

  function status(): EngineStatus {
    const nowMs = clock.now()
    const open = orderManager.open()
    const { exposureUsd, maybeTwiceUsd } = exposureNow()
    const unresolved = unresolvedOf(open)
    const oldest = Math.min(nowMs, ...unresolved.map((each) => lastAttempt(each.state)?.armedAtMs ?? nowMs))
    const { records, intents } = journal.summary()
    const killed = kill.report()
    const subaccount = context.subaccount?.report()
    const mark = equity.mark() ?? trading.accountJournal.state().trading.equity
    return {
      version: labels.version,
      profile: labels.profile,
      chain: context.chain.name,
      account,
      state,
      notReady: journal.isShort() ? [...notReady, shortOfSpace(labels.journalPath)] : notReady,
      startedAtMs,
      nowMs,
      ...(watchedAtMs === undefined ? {} : { watchedAgoMs: clock.monotonicMs() - watchedAtMs }),
      tradingState: trading.haltOn()?.state ?? 'active',
      holds: trading.halts(),
      ...(killed === undefined ? {} : { kill: killed }),
      ...(mark === undefined
        ? {}
        : { equity: shownOf(mark, breakers.shownEquity() ?? {}, breakers.shownPeak) }),
      ...(subaccount === undefined ? {} : { subaccount }),
      strategies: instances.map((instance) => instance.status()),
      positions,
      unmanaged: unmanaged.current(),
      symbols,
      openIntents: open.map(marked),
      findings: reconciler.open(),
      contradictions: catalogue.contradictions(),
      hidden: told(hidden, symbols),
      flattens: unwinder.open(),
      unresolved: unresolved.length,
      oldestUnresolvedSeconds: (nowMs - oldest) / 1000,
      exposureUsd,
      exposureMaybeTwiceUsd: maybeTwiceUsd,
      unlistedFills: unlistedFills(positions, holdings.journal(), filled.recent()),
      feedAgesMs: Object.fromEntries(
        [...feedReadAtMs].map(([feed, { atMs, ageMs }]) => [feed, nowMs - atMs + ageMs]),
      ),
      apiHosts: api.hosts.api,
      oracleHosts: api.hosts.oracle,
      journal: { path: labels.journalPath, records, intents },
      evidence: labels.evidence,
    }
  }

  /** A journaled intent with what the running machine knows of it on top. */
  function labelled(folded: IntentState): LabelledIntent {
    const { intentId } = folded.intent
    const live = orderManager.open().find((each) => each.state.intent.intentId === intentId)
    return marked(isOpen(folded) && live !== undefined ? live : { state: folded, label: labelOf(folded) })
  }

  function marked(intent: LabelledIntent): LabelledIntent {
    const rules = { ...context.rules, nowMs: clock.now() }
    const signedOf = (orderKey: Hex) => signedOrderIn(journal, orderKey)
    const { decimals: feeTokenDecimals } = context.chain.feeToken
    const marks = marksOf(intent.state, trading.accountJournal.state().tasks, rules)
    const held = isOpened(intent.state)
      ? { heldUsd: heldOfOrder(holdings.journal(), intent.state.intent) }
      : {}
    const changed = listedOrders(trading.accountJournal.state())
    const listedOf = (orderKey: Hex) => changed.get(hexKey(orderKey))
    return { ...intent, signedOf, listedOf, feeTokenDecimals, ...held, ...marks }
  }

  return {
    async start() {
      await untilDone('the venue does not answer', async () => {
        // A market that is not shipped is named by its tokens.
        await api.getTokensInfo()
        const markets = await api.getMarkets()
        catalogue.list(markets.value)
        parts.onMarkets?.(markets.value)
      })
      if (living.signal.aborted || deciding.signal.aborted) return
      state = 'recovering'
      notReady = ['recovering: open orders are checked before new ones are made']
      await keepLimits(admission)
      await orderManager.recover()
      await untilDone('the account cannot be read', watchAccount)
      await breakers.check(true)
      // A signal may have come while the venue was asked.
      if (living.signal.aborted || deciding.signal.aborted) return
      state = 'running'
      notReady = []
      emit({ type: 'daemon.ready' })
      background(keepWatching())
      background(kill.run(living.signal))
      background(unwinder.run(living.signal))
      for (const instance of instances) background(instance.run())
    },
    async stop(signal) {
      if (state === 'draining' || state === 'stopped') return
      notReady = ['draining']
      deciding.abort()
      const untilMs = clock.monotonicMs() + engineSettings.drainMs
      emit({
        type: 'daemon.draining',
        signal,
        openIntents: orderManager.open().length,
        underWay: underWay().length,
        drainMs: engineSettings.drainMs,
      })
      // Before recovery nothing is followed: there is nothing to wait for.
      const isFollowing = state !== 'starting'
      state = 'draining'
      while (
        isFollowing &&
        !living.signal.aborted &&
        underWay().length > 0 &&
        clock.monotonicMs() < untilMs
      ) {
        await clock.sleep(drainPollMs, living.signal)
      }
      living.abort()
      await orderManager.stop()
      await Promise.race([Promise.all(loops), clock.sleep(stopGraceMs)])
      state = 'stopped'
      emit({
        type: 'daemon.stopped',
        openIntents: orderManager.open().length,
        positions: heldWords(),
        uptimeMs: clock.now() - startedAtMs,
      })
    },
    abort() {
      deciding.abort()
      living.abort()
      orderManager.stop().catch(context.fatal)
    },
    resize,
    orders: orderManager,
    status,
    operate(command, commander) {
      return operate(
        {
          ...context,
          limits,
          kill,
          manual,
          unwinder,
          reconciler,
          equity,
          isTaking: () => !deciding.signal.aborted,
        },
        command,
        commander,
      )
    },
    ...createReads(context),
    async intents(query) {
      return (await journal.intents(query)).map(labelled)
    },
    async story(intentId) {
      const folded = await journal.intent(intentId)
      if (folded === undefined) return undefined
      return { intent: labelled(folded), records: await journal.records(intentId) }
    },
  }
}
