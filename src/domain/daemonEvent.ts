/** Events of the daemon and its strategies: starts and ends, turns of strategies, and invalid decisions. */
import type { Facts } from '../base/errors.ts'
import type { Address } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'
import type { FieldChange, OnRemove, RosterChange } from './accountRecords/strategyEntry.ts'
import type { Denial } from './order/intent.ts'

/** The daemon and its strategies. `type` is the stable dotted name of the log line. */
export type DaemonEvent =
  | {
      readonly type: 'daemon.started'
      readonly version: string
      readonly profile: string
      readonly chain: string
      readonly account: Address
      readonly strategies: readonly string[]
      readonly journalPath: string
      readonly statusUrl: string
      readonly apiHosts: readonly string[]
      readonly oracleHosts: readonly string[]
      readonly notes: readonly string[]
    }
  | {
      readonly type: 'daemon.resumed'
      readonly records: number
      readonly intents: number
      readonly openIntents: number
      readonly unresolved: number
      /** Tasks that the start resumes, `b1 (bracket long ETH/USD $500.00)`, oldest first. */
      readonly tasks: readonly string[]
      readonly tookMs: number
    }
  /**
   * This machine's clock went back: behind its own course while perpd runs, or behind the journal's newest record at a start.
   * `hostsAheadMs`: the hosts' clocks less it, as it is now; absent: none was heard.
   */
  | {
      readonly type: 'daemon.clockSetBack'
      readonly backMs: number
      readonly against: 'itself' | 'journal'
      readonly hostsAheadMs?: number
    }
  | { readonly type: 'daemon.recovering'; readonly reason: string }
  /** `held`: the reason that holds orders back at that moment, in words; absent: none. */
  | { readonly type: 'daemon.ready'; readonly held?: string }
  | {
      readonly type: 'daemon.draining'
      readonly signal: string
      readonly openIntents: number
      /** Number of those that do not merely rest at the venue: a stop waits for them. */
      readonly underWay: number
      readonly drainMs: number
    }
  | {
      readonly type: 'daemon.stopped'
      readonly openIntents: number
      /** Positions that are unmanaged from now on, a few words each. */
      readonly positions: readonly string[]
      readonly uptimeMs: number
    }
  | {
      readonly type: 'daemon.heartbeat'
      readonly openIntents: number
      readonly unresolved: number
      readonly positions: number
      readonly exposureUsd: Usd
    }
  /** The control port that is configured could not be opened: perpd serves at another. */
  | {
      readonly type: 'daemon.portMoved'
      readonly wanted: string
      readonly url: string
      readonly reason: string
    }
  /** The standbys of the journal's server wait with each commit, or do not: then a failover may lose what was acknowledged. */
  | { readonly type: 'journal.replication'; readonly isSynchronous: boolean; readonly standbys: number }
  /** Standard output takes no lines (`stuck`), has no reader any more (`lost`), or takes them again. `lines`: how many were dropped. */
  | {
      readonly type: 'log.output'
      readonly state: 'taken' | 'stuck' | 'lost'
      readonly lines: number
    }
  | {
      readonly type: 'tick.done'
      readonly strategy: string
      readonly durationMs: number
      readonly decisions: number
      /** Number of decisions that were invalid; absent: all were valid. */
      readonly invalid?: number
      /** Size of the view that was handed to a kind of the user's own, bytes. */
      readonly viewBytes?: number
      /** The kind of the user's own took too long, which `strategy.slow` tells. */
      readonly isSlow?: true
    }
  /** A kind of the user's own took more of the processor for a turn than it may; its decision was accepted. */
  | {
      readonly type: 'strategy.slow'
      readonly strategy: string
      readonly spentMs: number
      readonly limitMs: number
    }
  | { readonly type: 'tick.skipped'; readonly strategy: string; readonly reason: string }
  | {
      readonly type: 'tick.failed'
      readonly strategy: string
      readonly reason: string
      readonly failures: number
      readonly facts?: Facts
      /** The same for all turns that fail in the same way, whichever strategy and request; absent: the failure is its own. */
      readonly cause?: string
      /** The reason why the thread of a kind of the user's own ended with it; absent: it did not, or the kind is one of perpd's. */
      readonly ended?: 'timeout' | 'memory' | 'exit' | 'crash'
    }
  /** A strategy returned something that is no decision; nothing of it was carried out. */
  | {
      readonly type: 'decision.invalid'
      readonly strategy: string
      readonly denial: Denial
      /** The same for all that is wrong in the same way. */
      readonly cause: string
      readonly field?: string
      /** File and line of a kind of the user's own; or that it is in `decide`, and where that begins. */
      readonly place?: string
    }
  /** A kind of the user's own failed again and again: it is not asked for a while. */
  | {
      readonly type: 'strategy.paused'
      readonly strategy: string
      readonly failures: number
      readonly forMs: number
      readonly reason: string
    }
  /** A strategy's saved memory no longer fits its kind. The strategy gets no turns until it fits again or is forgotten. */
  | {
      readonly type: 'strategy.unfit'
      readonly strategy: string
      readonly reason: string
      readonly facts: Facts
    }
  /** A strategy's memory was forgotten by an operator. */
  | { readonly type: 'strategy.forgotten'; readonly strategy: string; readonly by: string }
  /** A strategy file was taken over while perpd runs, or at a start that found it gone. */
  | {
      readonly type: 'strategy.changed'
      readonly strategy: string
      readonly file: string
      readonly change: Exclude<RosterChange, 'kept'>
      readonly fields: readonly FieldChange[]
      readonly onRemove: OnRemove
      readonly by: string
    }
  /** An operator paused a strategy, or resumed it. */
  | {
      readonly type: 'strategy.switched'
      readonly strategy: string
      readonly to: 'paused' | 'running'
      readonly reason: string
      readonly by: string
    }
  /** The reason why a strategy whose file was removed cannot be wound down yet. */
  | { readonly type: 'windDown.waits'; readonly strategy: string; readonly reason: string }
  | { readonly type: 'windDown.ended'; readonly strategy: string; readonly statement: string }
  /** A line that a kind of the user's own printed. */
  | { readonly type: 'strategy.said'; readonly strategy: string; readonly text: string }
