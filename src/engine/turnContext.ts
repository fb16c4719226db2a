/** Parts from which a turn is taken. */

import type {
  HasAheadStamps,
  HasCatalogue,
  HasHoldings,
  HasLimits,
  HasOrders,
  HasPrepareClaim,
  HasPrepareRenewal,
  HasPrices,
  HasStrategies,
  HasSubaccount,
  HasTrading,
} from '../account/accountParts.ts'
import type { UnseenIntents } from '../account/holdings/unseen.ts'
import type { HasClock, HasEmit, HasJournal } from '../execution/context/executionParts.ts'
import type { StrategyTasks } from '../running/strategyTasks.ts'
import type { Unwinder } from '../running/unwinder.ts'
import type { TakeTurn } from './callKind.ts'
import type { Accept } from './judging/accept.ts'

/** Requests of a strategy besides orders. */
export interface StrategyRequests extends HasPrepareClaim, HasPrepareRenewal, HasSubaccount {
  /** Plans the record of a decision that an order be unwound if it lands, to be written with its turn. */
  readonly planUnwind: Unwinder['plan']
  /** Plans the record of a decision about a task, to be written with its turn. */
  readonly planTask: StrategyTasks['plan']
  /** A strategy's own tasks: those that run, and the newest that ended. */
  readonly tasksOf: StrategyTasks['own']
}

/** Everything that a turn needs. */
export interface TurnContext
  extends HasAheadStamps,
    HasCatalogue,
    HasClock,
    HasEmit,
    HasHoldings,
    HasJournal,
    HasLimits,
    HasOrders,
    HasPrices,
    HasStrategies,
    HasTrading {
  readonly accept: Accept
  readonly unseen: UnseenIntents
  readonly requests: StrategyRequests
  /** End of the pause after a denied maintenance decision, monotonic ms, by instance, market token and kind of exit. */
  readonly exitRetries: Map<string, number>
  /** Absent: turns are not recorded. */
  readonly recordTurn?: TakeTurn
}
