/**
 * Events of a strategy's own orders, as a strategy with a memory receives them: each once, in the order of the journal's records. An event is the
 * difference that a record makes to an intent. A fill that is written again when final is therefore not reported twice, and one that the chain took
 * back is reported.
 */
import type { Address, Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import type { StrategyDecision } from '../order/decision.ts'
import type { ChildRole, Denial, IntentKind, Outcome } from '../order/intent.ts'

interface OwnEventBase {
  /** Number of the journal's record that tells it: events come in this order. */
  readonly seq: number
  /** Unix ms: when it was written down. */
  readonly atMs: number
  /** Key of the decision that led to it. */
  readonly decisionKey: string
}

/** Content of a fill. Figures are absent where no evidence shows them. */
export interface FillFacts {
  readonly intentId: string
  /** Absent where only an operator states that it was executed. */
  readonly orderKey?: Hex
  /** Role of the order: `main` is the decision's own, `part` one of a twap. */
  readonly role: ChildRole
  readonly marketToken: Address
  readonly direction: Direction
  readonly collateralToken: Address
  /** True if it added to the position. */
  readonly adds: boolean
  /** USD, not signed. */
  readonly sizeDeltaUsd?: Usd
  /** USD per whole index token. */
  readonly executionPrice?: Usd
  readonly feesUsd?: Usd
  readonly priceImpactUsd?: Usd
  /** Reductions: PnL before fees, USD, signed. */
  readonly pnlUsd?: Usd
}

/** An order of the strategy's own was executed, or the chain took that back. */
export interface FillEvent extends OwnEventBase, FillFacts {
  readonly kind: 'filled' | 'unfilled'
  /** The chain may take it back; an `unfilled` then follows. */
  readonly isProvisional: boolean
}

/** A decision of the strategy's own is over. */
export interface ClosedEvent extends OwnEventBase {
  readonly kind: 'closed'
  readonly intentId: string
  /** Kind of the decision. */
  readonly order: IntentKind
  readonly marketToken: Address
  readonly direction: Direction
  readonly outcome: Outcome
  /** Stable code of the reason. */
  readonly code: string
  readonly reason: string
}

/** A decision of the turn before was not taken. */
export interface DeniedEvent extends Omit<OwnEventBase, 'seq'>, Denial {
  readonly kind: 'denied'
  /** Kind of the decision; absent of one that was none. */
  readonly order?: StrategyDecision['kind']
  readonly marketToken?: Address
  readonly direction?: Direction
}

/** Events of a strategy's own orders derived from the journal's records. */
export type RecordedEvent = FillEvent | ClosedEvent

/** All events that a strategy receives. */
export type OwnEvent = DeniedEvent | RecordedEvent
