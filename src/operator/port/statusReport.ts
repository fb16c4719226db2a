/** The status of an engine, put together of its parts at the moment somebody asks. */

import type {
  HasCatalogue,
  HasEngineSettings,
  HasLimits,
  HasMarks,
  HasOrders,
  HasStrategies,
  HasSubaccount,
  HasTrading,
} from '../../account/accountParts.ts'
import { told } from '../../account/holdings/holdings.ts'
import { sidesWithoutStop, signalOnlyUsd } from '../../account/holdings/stops.ts'
import type { BareSide, createUnprotectedPositions } from '../../account/holdings/unprotectedPositions.ts'
import { deskRows } from '../../account/liveLimits.ts'
import type { AccountWatch } from '../../account/watch/accountWatch.ts'
import type { Breakers } from '../../account/watch/breakerWatch.ts'
import type { FeedAges } from '../../account/watch/feedAges.ts'
import { type AgeFacts, increasesWait, isNoHost, overdueFeeds } from '../../account/watch/increasesWait.ts'
import type { Reconciler } from '../../account/watch/reconciler.ts'
import type { UnmanagedWatch } from '../../account/watch/unmanaged.ts'
import { unresolvedOf } from '../../account/watch/unresolved.ts'
import type { ReplayPlace } from '../../base/candles/replayPlace.ts'
import { defined, ifDefined, someOf } from '../../base/defined.ts'
import { dayPartsOf, openResultsOf } from '../../books/bookView.ts'
import type { EquityMark } from '../../domain/accountRecords/tradingState.ts'
import { lastAttempt } from '../../domain/order/intent.ts'
import { openOrderCount } from '../../domain/summaries/restingRow.ts'
import type { TaskState } from '../../domain/taskStates/taskRecord.ts'
import type { Instance } from '../../engine/instance.ts'
import type { Lifecycle } from '../../engine/lifecycle.ts'
import type { Phase } from '../../engine/phase.ts'
import type { Instances } from '../../engine/roster/instances.ts'
import type { StrategyStatus } from '../../engine/strategyStatus.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import type {
  HasAccount,
  HasApi,
  HasChain,
  HasClock,
  HasJournal,
} from '../../execution/context/executionParts.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import type { Kill } from '../../running/kill.ts'
import type { Unwinder } from '../../running/unwinder.ts'
import type { WindDown } from '../../running/windDown.ts'
import { isExecutor, runningByKind } from '../../tasks/taskRows.ts'
import { type EngineStatus, type ShownMark, shortOfSpace, shownOf } from './engineStatus.ts'
import type { LabelledOrders } from './labelledOrders.ts'
import { heldNow, restingNow } from './restingNow.ts'

/** Labels in the status that the engine itself does not know. */
export interface EngineLabels {
  readonly version: string
  readonly profile: string
  readonly journalPath: string
  /** One sentence: the evidence that closes an unknown here. */
  readonly evidence: string
  /** Returns the position of the replay that the venue's prices follow; absent: none. */
  readonly replay?: () => ReplayPlace
}

/** Parts of the engine that a status reads. */
export interface StatusContext
  extends HasAccount,
    HasApi,
    HasCatalogue,
    HasChain,
    HasClock,
    HasEngineSettings,
    HasJournal,
    HasLimits,
    HasMarks,
    HasOrders,
    HasStrategies,
    HasSubaccount,
    HasTrading {}

/** The parts that a status is of. */
export interface StatusParts {
  readonly labels: EngineLabels
  readonly startedAtMs: number
  readonly account: AccountWatch
  readonly unprotectedPositions: ReturnType<typeof createUnprotectedPositions>
  readonly breakers: Breakers
  readonly feeds: FeedAges
  readonly instances: Instances<Instance>
  readonly kill: Kill
  readonly labelled: LabelledOrders
  readonly life: Lifecycle
  readonly phase: Phase
  readonly reconciler: Reconciler
  readonly unmanaged: UnmanagedWatch
  readonly unwinder: Unwinder
  readonly windDown: WindDown
}

/** The status of now. */
export function statusOf(context: StatusContext, parts: StatusParts): EngineStatus {
  const { api, catalogue, clock, journal, openOrders, trading } = context
  const { account, breakers, labels, life, phase, startedAtMs } = parts
  const nowMs = clock.now()
  const open = openOrders.open()
  const { exposureUsd, maybeTwiceUsd } = account.exposure()
  const unresolved = unresolvedOf(open)
  const oldest = Math.min(nowMs, ...unresolved.map((each) => lastAttempt(each.state)?.armedAtMs ?? nowMs))
  const { records, intents } = journal.summary()
  const held = account.held()
  const killed = parts.kill.report()
  const subaccount = context.subaccount?.report()
  const mark = breakers.equity.mark() ?? trading.accountJournal.state().trading.equity
  const strategies = parts.instances.all().map((instance) => withSignal(context, instance.status()))
  const feedAgesMs = parts.feeds.now()
  // Before it runs nothing is read yet, and when it drains nothing is any more.
  const judged: AgeFacts | undefined =
    phase.state() === 'running'
      ? {
          ...{ nowMs, feedAgesMs, strategies },
          limits: context.limits.current().account,
          watchMs: context.engineSettings.watchMs,
        }
      : undefined
  const notReady = [
    ...life.notReady(),
    ...(journal.isShort() ? [shortOfSpace(labels.journalPath)] : []),
    ...(judged === undefined ? [] : increasesWait({ ...judged, isNoHost: isNoHost(api) })),
  ]
  const withoutStop = withoutStopNow(context, parts)
  const others = parts.reconciler.othersOrders()
  const othersOrders = others?.length
  const openIntents = parts.labelled.open()
  const symbols = account.symbols()
  const tasks = [...(trading.accountJournal.state().tasks?.values() ?? [])]
  const restingOrders = restingNow(context, {
    open: openIntents,
    ...{ others, positions: held.positions, symbols },
  })
  const notes = heldNow(context, {
    ...{ positions: held.positions, restingOrders, symbols, tasks },
    ...defined({ withoutStop }),
  })
  const watchedAtMs = life.watchedAtMs()
  return {
    version: labels.version,
    profile: labels.profile,
    chain: context.chain.name,
    account: accountOf(context),
    state: phase.state(),
    notReady,
    startedAtMs,
    nowMs,
    ...defined({ watchedAgoMs: ifDefined(watchedAtMs, (atMs) => clock.monotonicMs() - atMs) }),
    tradingState: trading.haltOn()?.state ?? 'active',
    halts: trading.halts(),
    ...defined({ kill: killed }),
    ...defined({ equity: ifDefined(mark, (each) => equityNow(context, breakers, each, held.positions)) }),
    transfers: trading.accountJournal.state().trading.transfers ?? [],
    ...defined({ subaccount }),
    strategies,
    positions: held.positions,
    held: notes,
    ...defined({ withoutStop, othersOrders }),
    unmanaged: parts.unmanaged.current(),
    symbols,
    openIntents,
    restingOrders,
    openOrders: openOrderCount(
      restingOrders,
      openIntents.map(({ state }) => state),
    ),
    discrepancies: parts.reconciler.open(),
    contradictions: catalogue.contradictions(),
    ...defined({ unlisted: someOf(account.unlisted()) }),
    hidden: told(account.hidden(), account.symbols()),
    unwinds: parts.unwinder.open(),
    windDowns: parts.windDown.open(),
    tasksRunning: runningByKind(trading.accountJournal.state().tasks),
    tasks: runningTasksIn(tasks),
    unresolved: unresolved.length,
    oldestUnresolvedSeconds: Math.max(0, nowMs - oldest) / 1000,
    exposureUsd,
    exposureMaybeTwiceUsd: maybeTwiceUsd,
    unlistedFills: held.unlistedFills,
    closedFills: held.closedFills,
    feedAgesMs,
    feedsOverdueMs: judged === undefined ? {} : overdueFeeds(judged),
    apiHosts: api.hosts.api,
    oracleHosts: api.hosts.oracle,
    journal: { path: labels.journalPath, records, intents, ...defined({ server: journal.server?.() }) },
    evidence: labels.evidence,
    ...defined({ desk: someOf(deskRows(context.limits.desk())) }),
    ...defined({ replay: labels.replay?.() }),
  }
}

/** The account's equity with the parts of its day. */
function equityNow(
  { journal, trading }: HasJournal & HasTrading,
  breakers: Breakers,
  mark: EquityMark,
  positions: readonly Position[],
): ShownMark {
  const shown = shownOf(mark, breakers.shownEquity() ?? {}, breakers.shownPeak)
  const { dayStartMs, dayStartUsd, equityUsd } = shown
  const first = trading.accountJournal.state().trading.equity
  // Before the day's first figure is kept nobody knows which part of an open result belongs to this day.
  if (first?.dayOpenUsd === undefined || first.dayStartMs !== dayStartMs) return shown
  const books = journal.books()
  const sumOf = (results: Readonly<Record<string, Usd>>): Usd =>
    Object.values(results).reduce((sum, each) => sum + each, 0n)
  const openUsd = sumOf(openResultsOf(books.all(), positions)) - sumOf(first.dayOpenUsd)
  return { ...shown, dayParts: dayPartsOf(equityUsd - dayStartUsd, books.days(dayStartMs), openUsd) }
}

/** Looks which sides have no stops for all of them, and since when; undefined before the orders were looked at. Every look is remembered. */
export function withoutStopNow(
  context: HasCatalogue & HasClock & HasJournal & HasOrders & HasStrategies,
  parts: Pick<StatusParts, 'account' | 'unprotectedPositions' | 'reconciler'>,
): readonly BareSide[] | undefined {
  const { catalogue, clock, journal, openOrders } = context
  const others = parts.reconciler.othersOrders()
  if (others === undefined) return undefined
  const { positions } = parts.account.held()
  const books = journal.books().all()
  const signalOnly = new Set(
    context
      .strategies()
      .filter(({ exits }) => exits?.isSignalOnly === true)
      .map(({ name }) => name),
  )
  const open = openOrders.open().map((each) => each.state)
  return parts.unprotectedPositions({
    held: positions,
    bare: sidesWithoutStop(positions, open, others, (side) => signalOnlyUsd(books, signalOnly, side), {
      changeOf: (orderKey) => journal.changeOf(orderKey),
      indexDecimals: (marketToken) => {
        const { markets, tokens } = catalogue.facts()
        const index = markets.get(hexKey(marketToken))?.indexToken
        return index === undefined ? undefined : tokens.get(hexKey(index))?.decimals
      },
    }),
    books: journal.books(),
    discrepancies: parts.reconciler.open(),
    nowMs: clock.now(),
  })
}

/**
 * The account's watch, which looks at exits whenever it looks: it keeps those by hand, and looks for sides without a stop, for another client's
 * stop that ends is seen by looks alone.
 */
export function withStopLooks(
  context: Parameters<typeof withoutStopNow>[0],
  parts: Parameters<typeof withoutStopNow>[1] & { readonly executors: { keepHandExits(): Promise<unknown> } },
): AccountWatch {
  const { account, executors } = parts
  return {
    ...account,
    async look() {
      await account.look()
      withoutStopNow(context, parts)
      await executors.keepHandExits()
    },
  }
}

/** The tasks that make orders and have not ended, in a few words. */
function runningTasksIn(tasks: readonly TaskState[]): EngineStatus['tasks'] {
  return tasks
    .filter((task) => task.end === undefined)
    .filter(isExecutor)
    .map(({ taskId, taskKind: kind, params, by, sinceMs }) => ({
      ...{ taskId, kind, asked: params.asked, by, sinceMs },
    }))
}

/** With the newest signal from outside that the instance had. */
function withSignal({ trading }: HasTrading, status: StrategyStatus): StrategyStatus {
  const lastSignal = trading.accountJournal.state().signals?.newest.get(status.name)
  return lastSignal === undefined ? status : { ...status, lastSignal }
}
