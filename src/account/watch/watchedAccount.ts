/**
 * The account as it is watched: positions by all sources, equity and results, discrepancies, breakers, and the facts of one look that decisions are
 * judged by. It decides nothing and sends nothing.
 */
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { accountOf, type ExecutionContext } from '../../execution/context/executionContext.ts'
import { openStatesOf } from '../../execution/openOrders.ts'
import { lossLimitsOf } from '../../risk/breakers/circuitBreakers.ts'
import type {
  HasAheadStamps,
  HasCatalogue,
  HasEngineSettings,
  HasHoldings,
  HasLimits,
  HasMarks,
  HasOrders,
  HasStrategies,
  HasSubaccount,
  HasTrading,
} from '../accountParts.ts'
import { createAheadStamps } from '../aheadStamps.ts'
import { createHiddenWorth } from '../equity/hiddenWorth.ts'
import type { LookAtAccount } from '../facts.ts'
import { createHoldings } from '../holdings/holdings.ts'
import { createPriceWatch, type PriceWatch } from '../holdings/priceWatch.ts'
import { createUnseen, type Unseen } from '../holdings/unseen.ts'
import { type AccountWatch, createAccountWatch } from './accountWatch.ts'
import { type Breakers, createBreakers } from './breakerWatch.ts'
import { createDayResult, createStrategyDay, type DayResult } from './dayResult.ts'
import { createFeedAges, type FeedAges } from './feedAges.ts'
import { createLookAtAccount, type LiveAnswers } from './lookAtAccount.ts'
import { createReconciler, type Reconciler } from './reconciler.ts'
import { createUnmanagedWatch, type UnmanagedWatch } from './unmanaged.ts'

/** Parts from which it is made. */
export interface WatchedAccountParts
  extends HasCatalogue,
    HasEngineSettings,
    HasLimits,
    HasMarks,
    HasOrders,
    HasStrategies,
    HasSubaccount,
    HasTrading {
  readonly execution: ExecutionContext
  /** Names of strategies whose file was removed and whose positions are being ended. */
  readonly windingDown: () => readonly string[]
  /** False once a stop was requested. */
  readonly isDeciding: () => boolean
  /** The newest intents of before this process, newest first. */
  readonly before: readonly IntentState[]
  /** Unix ms. */
  readonly startedAtMs: number
}

/** An account that is watched. */
export interface WatchedAccount extends HasAheadStamps, HasHoldings {
  readonly prices: PriceWatch
  readonly filled: Unseen
  readonly feeds: FeedAges
  readonly reconciler: Reconciler
  readonly unmanaged: UnmanagedWatch
  readonly breakers: Breakers
  readonly watch: AccountWatch
  readonly live: LiveAnswers
  /** Counts the day's results with everything that is known now. */
  readonly realized: () => DayResult
  readonly facts: LookAtAccount
  /** Looks once at the account, between the rounds of the watch. Rejects with mistakes of ours alone. */
  readonly look: (signal: AbortSignal) => Promise<void>
  /** Tells whether the lists show everything that is known. */
  readonly isSettled: () => boolean
}

/** Makes it; nothing is read yet. */
export function createWatchedAccount({ execution, ...parts }: WatchedAccountParts): WatchedAccount {
  const { before, limits, openOrders, startedAtMs, trading } = parts
  const { clock, journal } = execution
  const context = { ...execution, ...parts }
  const reconciler = createReconciler(context)
  const prices = createPriceWatch(context)
  const holdings = createHoldings({ ...context, prices }, accountOf(execution))
  const filled = createUnseen(openOrders, clock, holdings.journal)
  const unmanaged = createUnmanagedWatch(context)
  const feeds = createFeedAges(context)
  const watch = createAccountWatch({ ...context, prices, holdings, feeds, filled, reconciler, unmanaged })
  const dayResult = createDayResult([...before, ...journal.openIntents()], startedAtMs)
  const realized = (): DayResult => {
    const nowMs = clock.now()
    dayResult.add([...openStatesOf(openOrders), ...openOrders.recentlyLanded()], nowMs)
    dayResult.addDiscrepancies(trading.accountJournal.state(), nowMs)
    return dayResult
  }
  const breakers = createBreakers(
    context,
    () => ({ ...limits.current().breakers, ...lossLimitsOf(limits.current().account) }),
    realized,
    holdings.journal,
    createHiddenWorth({ ...context, prices }, holdings.journal),
  )
  const aheadStamps = createAheadStamps(clock)
  const live: LiveAnswers = {
    equity: breakers.limitEquity,
    dayResultUsd: createStrategyDay(context, watch.positions),
    marketDaysUsd: () => realized().byMarket(clock.now()),
    pausing: reconciler.pausing,
    unseen: filled.in,
    isDeciding: parts.isDeciding,
  }
  return {
    ...{
      aheadStamps,
      breakers,
      feeds,
      filled,
      holdings,
      live,
      prices,
      realized,
      reconciler,
      unmanaged,
      watch,
    },
    facts: createLookAtAccount({ ...parts, aheadStamps, execution, holdings, live, prices }),
    async look(signal) {
      await watch.lookAgain(signal)
      await breakers.lookAgain()
    },
    isSettled() {
      const { unlistedFills, closedFills } = watch.held()
      return breakers.shownEquity()?.isSettling !== true && unlistedFills.length + closedFills.length === 0
    },
  }
}

/** Tells whether an intent of before this process closed so recently that lists may not show it yet. */
export function isRecentFill({ closedAtMs }: IntentState, startedAtMs: number): boolean {
  return closedAtMs !== undefined && closedAtMs + LIST_LAG_MS > startedAtMs
}
