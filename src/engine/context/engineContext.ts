/** Dependencies of the loop. */

import type { LookAtAccount } from '../../account/facts.ts'
import type { ConfiguredLimits } from '../../account/limitsInForce.ts'
import type { Discrepancy } from '../../domain/account/accountRecord.ts'
import type { ClaimDecision, RenewalDecision } from '../../domain/order/decision.ts'
import type { Denial, IntentState } from '../../domain/order/intent.ts'
import type { LaneName } from '../../domain/order/laneTable.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { ExecutionContext } from '../../execution/context/executionContext.ts'
import type { OrderManager } from '../../execution/orderManager.ts'
import type { Position } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import type { AheadStamps } from '../account/aheadStamps.ts'
import type { Holdings } from '../account/holdings.ts'
import type { ShownEquity } from '../account/shownEquity.ts'
import type { StrategyTasks } from '../account/strategyTasks.ts'
import type { SubaccountWatch } from '../account/subaccountWatch.ts'
import type { Trading } from '../account/tradingHalts.ts'
import type { Unwinder } from '../account/unwinder.ts'
import type { Catalogue } from '../market/marketCatalogue.ts'
import type { PriceWatch } from '../market/priceWatch.ts'
import type { LiveLimits } from './liveLimits.ts'

/** Settings of the loop. Times in ms. */
export interface EngineSettings {
  /** Lane by which the account's orders are sent. */
  readonly lane: LaneName
  /** Longest time that an intent may wait to be armed. */
  readonly intentExpiryMs: number
  /** Time for which a stop follows open orders. */
  readonly drainMs: number
  /** Slippage of strategies that say none, bps. */
  readonly defaultSlippageBps: number
  /** Cadence of the account's own watch: positions for status and metrics. */
  readonly watchMs: number
  /** Oldest refresh of a market's values that increases accept; absent: half a minute. */
  readonly maxMarketValuesAgeMs?: number
  readonly heartbeatMs: number
  /** True to adopt at once everything that existed before the journal's first look at the account; absent: an operator decides. */
  readonly adoptInitial?: boolean
  /** Failures of a kind of the user's own in a row before it pauses; absent: 3. */
  readonly pauseAfterFailures?: number
  /** Time of the processor from which a turn of such a kind is too slow, ms; absent: 50. */
  readonly slowDecideMs?: number
}

/** Dependencies of the engine. */
export interface EngineContext extends ExecutionContext {
  readonly orderManager: OrderManager
  /** Those that run now. */
  readonly strategies: () => readonly LoadedStrategy[]
  /** The limits of account, markets and strategies and the breakers' thresholds, as they are in force. */
  readonly limits: LiveLimits
  /**
   * Reads the configured limits anew, with other changes of the configuration that wait for a restart, a few words each. Absent: limits cannot be
   * changed while this runs. Throws what reading throws.
   */
  readonly readLimits?: () => Promise<ConfiguredLimits & { readonly waiting?: readonly string[] }>
  readonly trading: Trading
  /** Facts about markets and tokens, independent of any host's list. */
  readonly catalogue: Catalogue
  /** Remaining approval when a delegated key signs. */
  readonly subaccount?: SubaccountWatch
  /** Has the renewal of its approval prepared, with the owner's next nonce; `same` where one is there that fits. */
  readonly prepareRenewal?: (wish: RenewalDecision, nonce: bigint) => 'same' | Promise<Denial | undefined>
  /**
   * Prepares the claim of the amounts due; `busy` right after a look, `nothing` where too little is due or it is prepared. Absent: it cannot be read.
   */
  readonly prepareClaim?: (wish: ClaimDecision) => 'busy' | Promise<'nothing' | 'prepared' | Denial>
  /** Equity of the account for limits; undefined while it is unknown. */
  readonly equity: () => ShownEquity | undefined
  /** Result of a strategy's day since 00:00 UTC, USD, signed, by lists of positions; by those of the last look when none are given. */
  readonly dayResultUsd: (strategy: string, positions?: readonly Position[]) => Usd
  /** Realized results of all orders since then by lower-case market token, USD, signed. */
  readonly marketDaysUsd: () => ReadonlyMap<string, Usd>
  /** Prices of markets with positions, from every host. */
  readonly prices: Pick<PriceWatch, 'of' | 'judged'>
  /** Positions by all sources. */
  readonly holdings: Holdings
  /** Unexplained discrepancies: increases on their markets wait for an operator. */
  readonly pausing: () => readonly Discrepancy[]
  /** Looks at the account for the decisions of a source on a snapshot. */
  readonly facts: LookAtAccount
  /**
   * Intents that the exposure must count on top of a snapshot's positions: the open ones, and fills too new to be seen; of one strategy alone where it
   * is named.
   */
  readonly unseen: (snapshot: Snapshot, strategy?: string) => readonly IntentState[]
  /** Plans the record of a decision that an order be unwound if it lands, to be written with its turn. */
  readonly planUnwind: Unwinder['plan']
  /** Plans the record of a strategy's decision about a task, to be written with its turn. */
  readonly planTask: StrategyTasks['plan']
  /** A strategy's own tasks: those that run, and the newest that ended. */
  readonly tasksOf: StrategyTasks['own']
  /** False once a stop was requested: nothing is decided or accepted after it. */
  readonly isDeciding: () => boolean
  /** Runs admissions one at a time over all strategies, so that each sees the effect of the previous one. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  readonly engineSettings: EngineSettings
  /** End of the pause after a denied maintenance decision, monotonic ms, by instance, market token and kind of exit. */
  readonly exitRetries: Map<string, number>
  /** Times of fills and stops that the clock has not reached, as of when they were first seen. */
  readonly aheadStamps: AheadStamps
}
