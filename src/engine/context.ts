/** What the loop is handed. */

import type { Finding } from '../domain/accountRecord.ts'
import type { Lane } from '../domain/intent.ts'
import type { Limits, TradingState } from '../domain/limits.ts'
import type { ExecutionContext } from '../execution/context.ts'
import type { Shell } from '../execution/shell.ts'
import type { Budget } from '../risk/budget.ts'
import type { LoadedStrategy } from '../strategy/load.ts'

/** Settings of the loop. Times in ms. */
export interface EngineSettings {
  /** How the account's orders are sent. */
  readonly lane: Lane
  /** How long an intent may wait to be armed. */
  readonly intentExpiryMs: number
  /** How long a stop follows what is open. */
  readonly drainMs: number
  /** Slippage of strategies that say none, bps. */
  readonly defaultSlippageBps: number
  /** Cadence of the account's own watch: positions for status and metrics. */
  readonly watchMs: number
  readonly heartbeatMs: number
}

/** Everything the engine stands on. */
export interface EngineContext extends ExecutionContext {
  readonly shell: Shell
  readonly strategies: readonly LoadedStrategy[]
  /** The account's limits. */
  readonly limits: Limits
  /** What a day may hold. */
  readonly budget: Budget
  readonly tradingState: () => TradingState
  /** What was found on a market that nobody explained: increases there wait for an operator. */
  readonly pausedBy: (marketToken: string) => Finding | undefined
  /** False once a stop was asked for: nothing is decided or accepted after it. */
  readonly isDeciding: () => boolean
  /** Runs admissions one at a time over all strategies, so that each sees what the one before it took. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  readonly engineSettings: EngineSettings
}
