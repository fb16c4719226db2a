/** Parts of the daemon that commands of an operator work on. */

import type {
  HasCatalogue,
  HasLimits,
  HasReadLimits,
  HasStrategies,
  HasTrading,
} from '../account/accountParts.ts'
import type { EquityTracker } from '../account/equity/equity.ts'
import type { Reconciler } from '../account/watch/reconciler.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { HasApi, HasClock, HasEmit, HasJournal } from '../execution/context/executionParts.ts'
import type { OrderManager } from '../execution/orderManager.ts'
import type { ExecutorContext, Executors } from '../running/executors.ts'
import type { Kill } from '../running/kill.ts'
import type { Unwinder } from '../running/unwinder.ts'
import type { HandContext } from './byHand.ts'
import type { Reloaded } from './reloadStrategies.ts'

/** Dependencies of starting and stopping. */
export interface TaskContext extends HasApi, HasCatalogue, HasClock, HasJournal, HasTrading {
  readonly executors: Executors
  readonly read: ExecutorContext['read']
  /** False while the account is not read yet. */
  readonly isRunning: () => boolean
  /** Returns the denial that admission would give to a decision now. */
  readonly denialOf: (snapshot: Snapshot, decision: Decision) => Denial | undefined
}

/** Dependencies of the commands. */
export interface OperatorContext
  extends HasApi,
    HasCatalogue,
    HasEmit,
    HasLimits,
    HasReadLimits,
    HasStrategies,
    HasTrading {
  readonly orderManager: OrderManager
  readonly kill: Kill
  readonly byHand: HandContext
  readonly tasks: TaskContext
  readonly unwinder: Unwinder
  readonly reconciler: Reconciler
  readonly reload: Reloaded
  readonly equity: EquityTracker
  /** False while the engine cannot take commands. */
  readonly isTaking: () => boolean
}
