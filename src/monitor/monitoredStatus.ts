/** The part of the engine's status that monitoring reads. The engine's own status type fits it. */

import type { StrategyBooks } from '../books/bookView.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { TradingHalt } from '../domain/accountRecords/tradingState.ts'
import type { JournalServer } from '../domain/journalServer.ts'
import type { TradingState } from '../domain/limits/limits.ts'
import type { Label } from '../domain/order/intent.ts'
import type { Feed } from '../domain/venueEvent.ts'
import type { Usd } from '../protocol/units.ts'

/** Inputs of metrics and health, at the moment of a request. */
export interface MonitoredStatus {
  readonly state: 'starting' | 'recovering' | 'running' | 'draining' | 'stopped'
  /** Why new orders are not made; empty when they are. */
  readonly notReady: readonly string[]
  /** Since the watch over the account last came round, ms; absent before its first round. */
  readonly watchedAgoMs?: number
  readonly tradingState: TradingState
  readonly halts: readonly TradingHalt[]
  readonly equity?: { readonly equityUsd: Usd; readonly peakUsd: Usd } & { readonly equityAtMs?: number }
  readonly nowMs?: number
  readonly strategies: readonly {
    readonly name: string
    readonly cadenceMs: number
  }[]
  readonly openIntents: readonly { readonly label: Label }[]
  readonly oldestUnresolvedSeconds: number
  readonly exposureUsd: Usd
  readonly discrepancies: readonly unknown[]
  readonly contradictions: readonly unknown[]
  /** Orders to unwind: cancelled or closed if they land. */
  readonly unwinds: readonly unknown[]
  /** Positions of which stop-losses would not close all; absent before the first look at the orders. */
  readonly withoutStop?: readonly (PositionSide & {
    readonly sinceMs: number
    readonly uncoveredUsd: Usd
  })[]
  /** Number of running tasks, by kind. */
  readonly tasksRunning: Readonly<Record<string, number>>
  /** Size and results of each book, under names of running strategies and a few more; absent: not reported. */
  readonly books?: readonly StrategyBooks[]
  /** `server`: the one that keeps the journal; absent: a file does. */
  readonly journal?: { readonly server?: JournalServer }
  /** Open incidents; absent: not reported. */
  readonly incidents?: readonly { readonly kind: string }[]
  /** Kinds of those during which no new order is made; absent: not reported. */
  readonly blocking?: readonly string[]
  readonly feedAgesMs: Readonly<Partial<Record<Feed, number>>>
  /** For how long each has been too old for increases, ms; absent while nobody reads it. */
  readonly feedsOverdueMs: Readonly<Partial<Record<Feed, number>>>
}
