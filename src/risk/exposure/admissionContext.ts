/** The admission context: all that a decision is judged with, handed in whole so that judging it reads nothing. */

import type { TrackRecord } from '../../books/trackRecord.ts'
import type { DeskBudgets } from '../../domain/limits/deskBudgets.ts'
import type { CountedLimits, ExposureLimits, Limits, TradingState } from '../../domain/limits/limits.ts'
import type { Protections } from '../../domain/limits/protection.ts'
import type { EntryExits } from '../../domain/order/exitSettings.ts'
import type { Denial, SignedOrder } from '../../domain/order/intent.ts'
import type { LaneName } from '../../domain/order/laneTable.ts'
import type { OrderKind } from '../../domain/order/orderTerms.ts'
import { type MarketView, marketOf, type Snapshot } from '../../domain/snapshot.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import type { Exposure, OwnOrder } from './accountExposure.ts'

/** A strategy's rules for when it adds nothing, and the facts for judging them. */
export interface Protection {
  readonly rules: Protections
  readonly track: TrackRecord
  /** Unrealized result of its open parts by their positions' prices, before fees still to come, USD, signed. */
  readonly openUsd: Usd
}

/** Name under which an order is to be accepted, and how it is to be sent. */
export interface IntentFrame {
  readonly intentId: string
  readonly decisionKey: string
  readonly account: Address
  readonly chain: string
  /** The account's lane. */
  readonly lane: LaneName
  /** The lanes that a whole close may take, the preferred one first; absent: the account's alone. */
  readonly closeLanes?: readonly LaneName[]
  /** Unix ms after which no new attempt is prepared or armed. */
  readonly expiresAtMs: number
}

/** Maker of a decision, and the orders of others that it may change. */
export interface DecisionMaker {
  readonly strategy: string
  /** An operator's decision: any resting order may be cancelled, whoever made it. */
  readonly isOperator?: boolean
  /** True for a keeper that may cancel, and within bounds edit, orders that others left resting (`risk/exposure/tidying.ts`). */
  readonly tidiesOrders?: boolean
  /** Tells whether a running instance or task manages an order of ours; absent: all are managed. */
  readonly isKept?: (own: OwnOrder) => boolean
}

/** Usage of limits that count over time, and those of them that are not the strategy's own. */
export interface CountedUsage {
  /** The account's own limits on usage over all strategies; absent: the strategy's replace them, which is stricter. */
  readonly accountLimits?: Limits
  /** The market's own limits on usage, over all strategies; absent: none. */
  readonly marketLimits?: CountedLimits
  /** Result of the strategy's day since 00:00 UTC by its books, USD, signed; absent counts as zero. */
  readonly dayResultUsd?: Usd
  /** Realized result of all orders on the market since 00:00 UTC, USD, signed; absent counts as zero. */
  readonly marketDayResultUsd?: Usd
  /** Intents accepted in the hour before: by this strategy, on this market (absent counts as none) and by all. */
  readonly acceptedLastHour: {
    readonly strategy: number
    readonly market?: number
    readonly account: number
  }
}

/** Allowances for prices beyond slippage and tolerance, by estimated impact. */
export interface ImpactAllowance {
  /** Largest part of our own estimate of a price impact that an order may request, bps, by its effect on risk; absent: none. */
  readonly maxPriceImpactBps?: { readonly adding: number; readonly reducing: number }
  /** Rest of the day's allowance, USD. Absent: no limit of a day. */
  readonly priceImpactLeftUsd?: Usd
}

/** State of venue and clock that some orders depend on. */
export interface VenueState {
  /** Difference between our clock and the venue's, ms; absent counts as zero. */
  readonly clockSkewMs?: number
  /** From which age a signed message that no block holds counts as withheld, ms; absent: none does. */
  readonly withheldMs?: number
  /** Estimates the cost of executing a waiting order, native token, base units; absent: unknown. */
  readonly executionFeeOf?: (orderType: OrderKind) => TokenAmount
}

/** Limits, and the account's budgets of those that hold for all accounts together. */
export interface LimitsWithDesk extends Limits {
  /** Absent: the desk has no limits. */
  readonly desk?: DeskBudgets
}

/** Input of `admit`. */
export interface AdmissionContext {
  readonly snapshot: Snapshot
  /** The snapshot's instant, Unix ms. */
  readonly nowMs: number
  /** Folded anew after each admitted intent, so that two decisions of one tick cannot spend the same capacity. */
  readonly exposure: Exposure
  /** The strategy's and the account's limits, already tightened into one, without the strategy's limits of exposure; with the account's budgets of the desk's. */
  readonly limits: LimitsWithDesk
  /** The strategy's limits of exposure, and its own part of the exposure, which counts against them; absent: it has none. */
  readonly own?: { readonly limits: ExposureLimits; readonly exposure: Exposure }
  readonly usage: CountedUsage
  /** Exits that an increase brings with it besides its own; `unknown`: there are some, and where they lie is not known. Absent: none. */
  readonly exits?: EntryExits | 'unknown'
  /** The strategy's own rules of when it adds nothing; absent: it has none. */
  readonly protection?: Protection
  /** State of trading; `reason`: why it is not active, the halt's own sentence. */
  readonly trading: { readonly state: TradingState; readonly reason?: string }
  /** Equity of the account, USD, and the age of the figure, ms, absent where it is a present bound. Absent while it is unknown. */
  readonly equity?: { readonly equityUsd: Usd; readonly ageMs?: number }
  readonly impact: ImpactAllowance
  readonly venue: VenueState
  readonly maker: DecisionMaker
  /** A resting order as it was signed and changed by messages of ours; undefined: not by ours alone, or not known. */
  readonly signedOrder?: (orderKey: Hex) => SignedOrder | undefined
  readonly intent: IntentFrame
  /** Slippage asked of the venue, bps. */
  readonly slippageBps: number
}

/** The view of the market that a decision names, or undefined. */
export function marketViewOf(
  context: { readonly snapshot: Snapshot },
  decision: { readonly marketToken: Address },
): MarketView | undefined {
  return marketOf(context.snapshot, decision.marketToken)
}

/** Tells whether a result is a refusal. */
export function isDenial<T extends object>(result: T | Denial): result is Denial {
  return 'code' in result && 'reason' in result
}

/** MARKET_UNKNOWN: the venue's market list does not have the market. */
export function marketUnknown(marketToken: Address): Denial {
  return {
    code: 'MARKET_UNKNOWN',
    reason: `The venue's market list has no market ${marketToken}.`,
  }
}
