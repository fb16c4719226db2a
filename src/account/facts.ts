/**
 * Everything that a decision is judged by, as it is at one look at the account: an immutable value, made once. Judging reads nothing else, so that the
 * same facts give the same answer in the daemon, in a trial and in a backtest.
 */

import type { Part } from '../books/sideParts.ts'
import type { TrackRecord } from '../books/trackRecord.ts'
import { type Discrepancy, type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { Ending } from '../domain/accountRecords/spend.ts'
import type { TradingHalt } from '../domain/accountRecords/tradingState.ts'
import type { DeskBudgets } from '../domain/limits/deskBudgets.ts'
import type { Protections } from '../domain/limits/protection.ts'
import type { Intent, IntentState, SignedOrder } from '../domain/order/intent.ts'
import type { LaneName } from '../domain/order/laneTable.ts'
import type { OrderKind } from '../domain/order/orderTerms.ts'
import type { AccountLists, Snapshot } from '../domain/snapshot.ts'
import type { Address, Hex } from '../protocol/address.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'
import type { KnownPrices } from '../risk/checks/reductionPrice.ts'
import type { Exposure, OwnOrder } from '../risk/exposure/accountExposure.ts'
import type { LimitsInForce } from './limitsInForce.ts'

/** The account, and how its orders are sent. */
export interface AccountIdentity {
  readonly address: Address
  readonly chain: string
  /** Decimals of the token in which relays are paid. */
  readonly feeTokenDecimals: number
  readonly lane: LaneName
  /** The lanes that a whole close may take, the preferred one first. */
  readonly closeLanes: readonly LaneName[]
}

/** Conditions that hold decisions back, whatever they are. */
export interface Standstills {
  /** True once a stop was requested: nothing is decided after it. */
  readonly isStopping: boolean
  /** True while every host of the application API is in cooldown. */
  readonly isNoHost: boolean
  /** True once only the part of the journal's space is left that is reserved for records that must be written. */
  readonly isJournalShort: boolean
  /** All halts on trading, oldest first. */
  readonly halts: readonly TradingHalt[]
  /** Discrepancies that pause increases on their markets until an operator decides. */
  readonly discrepancies: readonly Discrepancy[]
}

/** Orders in flight. */
export interface OrdersInFlight {
  /** Open intents. */
  readonly open: readonly IntentState[]
  /** The open ones, and landed ones whose fills the snapshot's lists may not show yet: exposure counts them in addition to positions. */
  readonly unseen: readonly IntentState[]
  /** Judged intents that are not accepted yet; each counts as if it were. */
  readonly pending: readonly Intent[]
  /** Returns a resting order as it was signed and changed by messages of ours; undefined: not by ours alone, or not known. */
  readonly signedOrder: (orderKey: Hex) => SignedOrder | undefined
}

/** Usage that limits count. */
export interface UsageFacts {
  /** Intents that were accepted in the hour before, oldest first. */
  readonly acceptedLastHour: readonly Intent[]
  /** Intents that were accepted since 00:00 UTC, oldest first. */
  readonly acceptedToday: readonly Intent[]
  /** Ends of the last 24 hours, with the fees that open orders have paid or may have paid. */
  readonly endings: readonly Ending[]
  /** Realized results of all orders since 00:00 UTC by lower-case market token, USD, signed; a market that is absent has none. */
  readonly marketDaysUsd: ReadonlyMap<string, Usd>
}

/** Share of the source of the decisions: a strategy's, or the operator's. */
export interface OwnFacts {
  /** Its parts of positions. */
  readonly parts: readonly (PositionSide & Part)[]
  /** Its parts without any order's fills that the chain may take back: a reduction gives room once it is final. */
  readonly finalParts: readonly (PositionSide & Part)[]
  /** The record by which its protections are judged, with its times by the present clock. */
  readonly track: TrackRecord
  /** Result of its day since 00:00 UTC, USD, signed. */
  readonly dayResultUsd: Usd
  /** Its newest intents, newest first: refusals of a decision are looked for among them. */
  readonly recent: readonly IntentState[]
  /** Time by which the clock was set back since one of those was accepted, ms, by intent id; 0 where it is absent. */
  readonly setBackMs: ReadonlyMap<string, number>
}

/** Equity of which limits are shares. */
export interface EquityFacts {
  readonly equityUsd: Usd
  /** Age of the figure, ms; absent where it is a present bound. */
  readonly ageMs?: number
}

/** Knowledge beyond one host's lists. */
export interface Knowledge {
  /** Prices of markets with positions by every host, by lower-case market token. */
  readonly prices: ReadonlyMap<string, KnownPrices>
  /** Symbols of markets by our own facts, by lower-case market token. */
  readonly symbols: ReadonlyMap<string, { readonly symbol: string }>
  /** Difference between our clock and the venue's, ms. */
  readonly clockSkewMs: number
  /** Folds the exposure of lists and intents, with sizes that the journal and other hosts know beyond them. */
  readonly exposureOf: (snapshot: AccountLists, intents: readonly IntentState[]) => Exposure
  /** Tells whether more than one host's passing statement supports a position. */
  readonly isVouched: (side: PositionSide) => boolean
  /** Tells whether a running strategy or task manages an order of ours; absent: all are managed. */
  readonly isManaged?: (order: OwnOrder) => boolean
}

/** Configured bounds of orders besides limits. Times in ms. */
export interface OrderSettings {
  /** Longest time that an intent may wait to be armed, where its strategy says none. */
  readonly expiryMs: number
  /** Slippage of strategies that say none, bps. */
  readonly slippageBps: number
  /** Age from which a signed message that no block holds counts as withheld; absent: none does. */
  readonly withheldMs?: number
  /** Largest part of our own estimate of a price impact that an order may request, bps, by its effect on risk. */
  readonly maxPriceImpactBps: { readonly adding: number; readonly reducing: number }
  /** Allowance of a day for prices beyond slippage and tolerance by estimated impacts, USD; absent: no limit of a day. */
  readonly priceImpactPerDayUsd?: Usd
  /** Highest relay fee of an order that reduces risk, base units of the fee token. */
  readonly maxReductionFee: TokenAmount
}

/** Estimates of fees. */
export interface FeeFacts {
  /** Estimates the execution fee of a waiting order, native token, base units. */
  readonly executionFeeOf: (orderType: OrderKind) => TokenAmount
  /** Estimates the relay fee of an order with all that it creates, base units of the fee token. */
  readonly expectedFor: (intent: Intent) => { readonly relayFee: TokenAmount }
}

/** One look at an account, for the decisions of one source. */
export interface AccountFacts {
  /** Instant of the judgement, Unix ms. */
  readonly nowMs: number
  readonly snapshot: Snapshot
  readonly account: AccountIdentity
  readonly standstills: Standstills
  readonly limits: LimitsInForce
  readonly orders: OrdersInFlight
  readonly usage: UsageFacts
  readonly own: OwnFacts
  readonly known: Knowledge
  readonly settings: OrderSettings
  /** Absent while it is unknown. */
  readonly equity?: EquityFacts
  /** The account's budgets of the limits of all accounts together; absent: there are no such limits. */
  readonly desk?: DeskBudgets
  /** Absent where nothing estimates fees. */
  readonly fees?: FeeFacts
}

/** Source of decisions, as far as the facts depend on it. */
export interface FactsSource {
  readonly name: string
  readonly protect?: Protections
  readonly strategy?: { readonly tidiesOrders?: boolean }
}

/** Looks at the account on a snapshot, for the decisions of a source. */
export type LookAtAccount = (snapshot: Snapshot, source: FactsSource) => AccountFacts

/** Returns the same facts with these judged intents that are not accepted yet. */
export function withPending(facts: AccountFacts, pending: readonly Intent[]): AccountFacts {
  return { ...facts, orders: { ...facts.orders, pending } }
}

/** Returns the size of the source's own part of a side, USD; 0 without one. */
export function ownSizeOf(
  { parts }: { readonly parts: readonly (PositionSide & Part)[] },
  side: PositionSide,
): Usd {
  return parts.find((part) => sideKeyOf(part) === sideKeyOf(side))?.sizeUsd ?? 0n
}
