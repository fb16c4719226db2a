/** Status of the engine's life and of each strategy instance, seen from outside. Plain JSON values. */

import type { OperatorPause } from '../domain/accountRecords/strategyEntry.ts'
import type { TradingState } from '../domain/limits/limits.ts'
import type { NewestSignal } from '../domain/memory/tradeSignal.ts'
import type { ExitHere } from '../domain/order/exitSettings.ts'
import type { UnservedSignal } from '../strategy/kindMemory.ts'
import type { StatusLine } from '../strategy/kindStatus.ts'

/** State of the engine's life. Strategies get turns only in `running`. */
export type EngineState = 'starting' | 'recovering' | 'running' | 'draining' | 'stopped'

/** One strategy instance, seen from outside. */
export interface StrategyStatus {
  readonly name: string
  readonly kind: string
  /** False for a keeper, which acts on whole positions whoever opened them. */
  readonly opensPositions: boolean
  readonly symbols: readonly string[]
  readonly cadenceMs: number
  /** Number of turns that its kind got; none while it pauses. */
  readonly ticks: number
  readonly decisions: number
  readonly admitted: number
  readonly denied: number
  /** Failures since the last good tick. */
  readonly failures: number
  /** With its own holds and the daemon's. */
  readonly tradingState: TradingState
  /** Time of its newest scheduled turn, Unix ms, also while it paused. */
  readonly lastTickAtMs?: number
  /** Time of the newest turn that its kind got, Unix ms; absent: none since the start. */
  readonly lastAskedAtMs?: number
  readonly lastTickMs?: number
  readonly lastError?: string
  /** Time of the first failure since the last good tick, Unix ms. */
  readonly failingSinceMs?: number
  /** The user's own file that the kind is, from the working directory when it is below it; absent for a kind of perpd's. */
  readonly kindFile?: string
  /** Remaining pause of a kind of the user's own after its failures, ms; absent: it is not paused. */
  readonly pausedForMs?: number
  /** Pause by an operator: the strategy gets no turns until an operator resumes it (`perpd strategies resume`). */
  readonly pausedBy?: OperatorPause
  /** The reason why it gets no turns until an operator acts: its memory does not fit its kind. */
  readonly unfit?: { readonly reason: string; readonly sinceMs: number }
  /** Exits of its file that act only while perpd runs; absent: none. */
  readonly exitsHere?: readonly ExitHere[]
  /** The kind's line on what it waits for, of its newest turn (Unix ms); absent: it says none, or got no turn. */
  readonly status?: Omit<StatusLine, 'prices'> & { readonly atMs: number }
  /** The newest signal from outside, and its state; absent before the first. */
  readonly lastSignal?: NewestSignal
  /** The newest signal since the start that led to no order, why, and since when that is known, Unix ms; absent: none. */
  readonly lastUnserved?: UnservedSignal & { readonly atMs: number }
}
