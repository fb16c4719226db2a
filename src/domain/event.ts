/**
 * Everything that can be reported. The path emits these and does not know who listens; log lines, metrics, health and
 * the console are four listeners. A new fact is an event here first.
 */
import type { Facts } from '../base/errors.ts'
import type { Address } from '../protocol/address.ts'
import type { PriceSource } from '../protocol/market.ts'
import type { MissingRow } from '../protocol/missing.ts'
import type { Position } from '../protocol/position.ts'
import type { Usd } from '../protocol/units.ts'
import type { Discrepancy, DiscrepancyEnd } from './account/accountRecord.ts'
import type { TradingState } from './account/limits.ts'
import type { Contradiction } from './account/marketEntry.ts'
import type { StrategyDecision } from './order/decision.ts'
import type { Denial, Intent, IntentState, Label } from './order/intent.ts'
import type { OrderLeg } from './order/orderLegs.ts'
import type { JudgedWarning, WarningAction } from './order/warnedFacts.ts'
import type { JournalRecord } from './records.ts'
import type { SubaccountReport } from './subaccountReport.ts'
import type { UnwindOutcome } from './tasks/unwindState.ts'

/** Feeds whose age is watched. */
export type Feed = 'tickers' | 'capacity' | 'positions' | 'orders' | 'candles' | 'oracle' | 'markets'

/** One difference between what was meant and what a payload says. */
export interface Difference {
  /** Path inside the payload, `message.createOrderParamsList[0].addresses.receiver`. */
  readonly field: string
  readonly expected: string
  readonly found: string
}

/** Something worth reporting. `type` is the stable dotted name of the log line. */
export type Event =
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
      readonly tookMs: number
    }
  | { readonly type: 'daemon.recovering'; readonly reason: string }
  | { readonly type: 'daemon.ready' }
  | {
      readonly type: 'daemon.draining'
      readonly signal: string
      readonly openIntents: number
      /** Those of them that do not merely rest at the venue: what a stop waits for. */
      readonly underWay: number
      readonly drainMs: number
    }
  | {
      readonly type: 'daemon.stopped'
      readonly openIntents: number
      /** What is held and managed by nobody from now on, a few words each. */
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
  | {
      readonly type: 'tick.done'
      readonly strategy: string
      readonly durationMs: number
      readonly decisions: number
      /** Decisions of them that were none; absent: every one was. */
      readonly invalid?: number
      /** Size of the view that was handed to a kind of the user's own, bytes. */
      readonly viewBytes?: number
    }
  | { readonly type: 'tick.skipped'; readonly strategy: string; readonly reason: string }
  | {
      readonly type: 'tick.failed'
      readonly strategy: string
      readonly reason: string
      readonly failures: number
      readonly facts?: Facts
      /** Why the thread of a kind of the user's own ended with it; absent: it did not, or the kind is one of perpd's. */
      readonly ended?: 'timeout' | 'memory' | 'exit' | 'crash'
    }
  /** What a strategy returned is no decision: nothing of it was done. */
  | {
      readonly type: 'decision.invalid'
      readonly strategy: string
      readonly denial: Denial
      /** The same for all that is wrong in the same way. */
      readonly cause: string
      readonly field?: string
      /** File and line of a kind of the user's own. */
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
  /** A line that a kind of the user's own printed. */
  | { readonly type: 'strategy.said'; readonly strategy: string; readonly text: string }
  | {
      readonly type: 'decision.made'
      readonly strategy: string
      readonly decisionKey: string
      readonly decision: StrategyDecision
      readonly symbol: string
    }
  | {
      readonly type: 'decision.denied'
      readonly strategy: string
      readonly decisionKey: string
      readonly decision: StrategyDecision
      readonly symbol: string
      readonly denial: Denial
    }
  | { readonly type: 'decision.admitted'; readonly intent: Intent }
  /** A record became durable; `state` is the fold with it. */
  | {
      readonly type: 'journal.committed'
      readonly record: JournalRecord
      readonly state: IntentState
      readonly commitMs: number
    }
  /** The operator's label of an intent changed. */
  | {
      readonly type: 'order.moved'
      readonly intent: Intent
      readonly from: Label | undefined
      readonly to: Label
      readonly reason: string
      readonly state: IntentState
      /** Of a cancel that was asked for here: `as ann asked (order 1a2b3c4d)`. */
      readonly askedBy?: string
    }
  /** A created order of an intent was filled, or the chain took its fill back: then it rests again. */
  | {
      readonly type: 'order.filled'
      readonly intent: Intent
      readonly leg: OrderLeg
      readonly isTakenBack: boolean
      /** The most that sending the whole message cost, in the token that its fee was paid in; absent for an exit. */
      readonly sendingFee?: { readonly amount: bigint; readonly symbol: string; readonly decimals: number }
    }
  /** An entry was filled, and these exits of it rest. */
  | { readonly type: 'order.exits'; readonly intent: Intent; readonly exits: readonly OrderLeg[] }
  /** Prepare's warnings, before anything is signed. */
  | {
      readonly type: 'order.warned'
      readonly intent: Intent
      readonly host: string
      readonly requestId: string
      readonly warnings: readonly JudgedWarning[]
      /** What is done with the order. */
      readonly action: WarningAction
      /** Why it is dropped though policy says shrink. */
      readonly reason?: string
      /** The size it shrinks to. */
      readonly toUsd?: Usd
    }
  /** A payload did not say what was meant; nothing was signed. */
  | {
      readonly type: 'order.payload_rejected'
      readonly intent: Intent
      readonly host: string
      readonly requestId: string
      readonly differences: readonly Difference[]
    }
  /**
   * A payload lies beyond a limit because the price, a fee, the position or the time moved. Nothing was
   * signed, and no host is to blame.
   */
  | {
      readonly type: 'order.not_signed'
      readonly intent: Intent
      readonly host: string
      readonly requestId: string
      /** `PRICE_OUT_OF_BOUNDS`, `FEE_ABOVE_LIMIT`, `POSITION_MOVED` or `OFFER_EXPIRED`. */
      readonly code: string
      readonly differences: readonly Difference[]
    }
  /** The venue's word on an unresolved attempt; an observation, not evidence. */
  | {
      readonly type: 'order.observed'
      readonly intent: Intent
      readonly attempt: number
      readonly status: string
      readonly host: string
      readonly traceId?: string
      readonly reason?: string
    }
  /** An order is to be unwound: it is unwound if it lands. */
  | {
      readonly type: 'unwind.requested'
      readonly intent: Intent
      readonly by: string
      readonly reason: string
    }
  /** What keeps an order from being unwound now; told once for each reason. */
  | { readonly type: 'unwind.waits'; readonly intentId: string; readonly reason: string }
  | {
      readonly type: 'unwind.ended'
      readonly intentId: string
      readonly by: string
      readonly outcome: UnwindOutcome
      readonly statement: string
    }
  | {
      readonly type: 'order.timing'
      readonly intentId: string
      readonly step: 'accept' | 'prepare' | 'verify' | 'sign' | 'arm' | 'submit' | 'total'
      readonly durationMs: number
    }
  | {
      readonly type: 'host.attempt'
      readonly route: string
      readonly method: string
      readonly host: string
      readonly attempt: number
      readonly status?: number
      readonly durationMs: number
      readonly traceId?: string
      readonly outcome: string
    }
  | {
      readonly type: 'host.cooldown'
      readonly host: string
      readonly cooldownMs: number
      readonly reason: string
    }
  /** The prices of an oracle host stand still, or go on again; told once each. `ageMs`: of its newest price. */
  | { readonly type: 'host.prices'; readonly host: string; readonly isStale: boolean; readonly ageMs: number }
  /** Rows of a polled list that could not be read: it was used without them, and is known to be incomplete. */
  | {
      readonly type: 'rows.missing'
      readonly route: string
      readonly host: string
      readonly rows: readonly MissingRow[]
    }
  /** Rows of a list that are of another account than the one that was asked about: they were dropped. */
  | {
      readonly type: 'rows.foreign'
      readonly route: string
      readonly host: string
      readonly rows: number
    }
  /** A reduction stands on another price than a fresh one of the oracle; told when it is admitted. */
  | {
      readonly type: 'price.fallback'
      readonly symbol: string
      readonly source: PriceSource
      readonly ageMs: number
    }
  /** What closes orders in this run. `endpoints` is 0 in API-only mode; `isWeak` when real money has no chain's word. */
  | {
      readonly type: 'evidence.chosen'
      readonly source: 'chain' | 'api'
      readonly endpoints: number
      readonly text: string
      readonly isWeak: boolean
    }
  /** One question to a chain endpoint, or one look at it. Block numbers and ages are absent when it did not answer. */
  | {
      readonly type: 'chain.read'
      readonly endpoint: string
      readonly durationMs: number
      /** `ok`, `catching-up` while an endpoint's past is still being read, or the code of the fault. */
      readonly outcome: string
      readonly latest?: bigint
      readonly final?: bigint
      /** Blocks behind the newest that any endpoint shows. */
      readonly lagBlocks?: number
      /** By our wall clock; negative when the block's time is ahead of it. */
      readonly latestAgeSeconds?: number
      readonly error?: string
    }
  /** The chain's time and our clock differ; told when a new order is about to be signed. */
  | { readonly type: 'chain.skew'; readonly skewSeconds: number; readonly isTooLarge: boolean }
  /** An endpoint's newest block against our clock and the hosts', when an order is about to be signed. */
  | {
      readonly type: 'chain.time'
      readonly endpoint: string
      /** Ahead of our clock or of the hosts' clocks, whichever is nearer; negative: behind. */
      readonly aheadSeconds: number
      /** It is too far away to tell the time. */
      readonly isSetAside: boolean
      /** How many of the endpoints that answered tell it. */
      readonly healthy: number
    }
  | { readonly type: 'feed.read'; readonly feed: Feed; readonly ageMs: number }
  | {
      readonly type: 'capacity.read'
      readonly symbol: string
      readonly direction: 'long' | 'short'
      readonly roomUsd: Usd
    }
  | {
      readonly type: 'account.positions'
      readonly positions: readonly Position[]
      readonly symbols: Readonly<Record<string, string>>
    }
  /** A position was made by strategies that do not run; told when that begins, and at each start. */
  | {
      readonly type: 'account.unmanaged'
      readonly symbol: string
      readonly direction: 'long' | 'short'
      readonly sizeUsd: Usd
      readonly madeBy: readonly string[]
      /** Running instances that look at its market. */
      readonly seenBy: readonly string[]
    }
  /** Something on the account that the journal cannot explain; reported once. */
  | { readonly type: 'account.discrepancy'; readonly finding: Discrepancy; readonly isPausing: boolean }
  /**
   * Discrepancies that are not written down yet: more than may be in a time, or the journal is short of room. 0: all are
   * again.
   */
  | {
      readonly type: 'account.discrepanciesDeferred'
      readonly held: number
      readonly isJournalShort: boolean
    }
  | {
      readonly type: 'account.discrepancySettled'
      readonly finding: Discrepancy
      readonly as: DiscrepancyEnd
    }
  /** Hosts contradict what markets and tokens are: increases on these markets wait. */
  | {
      readonly type: 'market.contradicted'
      readonly contradictions: readonly Contradiction[]
      readonly symbols: readonly string[]
    }
  /** Contradictions ended: their hosts say it right again, or an operator (`by`) goes on in spite of them. */
  | {
      readonly type: 'market.settled'
      readonly contradictions: readonly Contradiction[]
      readonly symbols: readonly string[]
      readonly by?: string
    }
  /** The chain proved a market that is not shipped. */
  | { readonly type: 'market.proven'; readonly symbol: string; readonly marketToken: Address }
  /** An operator trusts a market that is not shipped. */
  | {
      readonly type: 'market.trusted'
      readonly symbol: string
      readonly marketToken: Address
      readonly by: string
    }
  /** A reading of what the account is worth is far from the figure of the last minute; told when that begins. */
  | { readonly type: 'account.equityJumped'; readonly readingUsd: Usd; readonly equityUsd: Usd }
  /** What is left of a subaccount's approval; told at every look. */
  | { readonly type: 'subaccount.read'; readonly report: SubaccountReport }
  /** The file of the approval cannot be used. */
  | { readonly type: 'subaccount.unread'; readonly reason: string }
  /** The approval comes to its end; told when that begins, and every hour after. */
  | { readonly type: 'subaccount.low'; readonly report: SubaccountReport; readonly secondsLeft: number }
  /** A start has other limits than the run before it. */
  | { readonly type: 'limits.started'; readonly statement: string; readonly isLooser: boolean }
  | {
      readonly type: 'trading.state'
      readonly scope: string
      readonly state: TradingState
      readonly reason: string
    }

/** Names of events. */
export type EventType = Event['type']

/** How something is reported. Never throws; never waits. */
export type Emit = (event: Event) => void

/** One emit over several listeners; a listener that throws is a mistake of ours and must not stop an order. */
export function emitTo(listeners: readonly Emit[], onListenerError: (error: unknown) => void): Emit {
  return (event) => {
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        onListenerError(error)
      }
    }
  }
}
