/** Settings of the loop. */
import type { LaneName } from '../domain/order/laneTable.ts'

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
