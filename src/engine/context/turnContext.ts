/** Parts from which a turn is taken. */

import type { LookAtAccount } from '../../account/facts.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { HasClock, HasEmit, HasJournal } from '../../execution/context/executionParts.ts'
import type { OrderManager } from '../../execution/orderManager.ts'
import type { StrategyTasks } from '../account/strategyTasks.ts'
import type { Unwinder } from '../account/unwinder.ts'
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
} from './engineParts.ts'

/** Takes decisions: they are judged by the facts of their moment, one at a time over all strategies, and the admitted ones accepted. */
export interface Accept extends HasEmit {
  /** Looks at the account for the decisions of a source on a snapshot. */
  readonly facts: LookAtAccount
  readonly accept: OrderManager['accept']
  readonly acceptTogether: OrderManager['acceptTogether']
  /** False once a stop was requested: nothing is decided or accepted after it. */
  readonly isDeciding: () => boolean
  /** Runs admissions one at a time over all strategies, so that each sees the effect of the previous one. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
}

/**
 * Returns the intents that the exposure must count on top of a snapshot's positions: the open ones, and fills too new to be seen; of one strategy alone
 * where it is named.
 */
export type UnseenIntents = (snapshot: Snapshot, strategy?: string) => readonly IntentState[]

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
}
