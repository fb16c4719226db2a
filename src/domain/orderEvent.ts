/** Events of decisions and orders, from the wish to the last fill; of every durable record; and of orders to unwind. */
import type { Hex } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'
import type { StrategyDecision, UntidyCause } from './order/decision.ts'
import type { Denial, Intent, IntentState, Label } from './order/intent.ts'
import type { OrderLeg } from './order/orderLegs.ts'
import type { TermsInForce } from './order/termsInForce.ts'
import type { JudgedWarning, WarningAction } from './order/warnedFacts.ts'
import type { JournalRecord } from './records.ts'

/** One difference between the intended value and the payload's. */
export interface Difference {
  /** Path inside the payload, `message.createOrderParamsList[0].addresses.receiver`. */
  readonly field: string
  readonly expected: string
  readonly found: string
}

/**
 * End of an unwind. `nothing-landed`: the order opened nothing. `flat`: its position is closed, or was gone already. `given-up`: attempts to undo it
 * failed too often; an operator must look.
 */
export type UnwindOutcome = 'nothing-landed' | 'flat' | 'given-up'

/** A decision, an order, or an order to unwind. `type` is the stable dotted name of the log line. */
export type OrderEvent =
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
      /** Requester of a cancel that was requested here: `as ann asked (order 1a2b3c4d)`. */
      readonly askedBy?: string
      /** Created orders of an executed intent, with the costs of their fills. */
      readonly legs?: readonly OrderLeg[]
      /** The terms in force of an order that was edited while it rested. */
      readonly inForce?: TermsInForce
    }
  /** A created order of an intent was filled, or the chain took its fill back: then it rests again. */
  | {
      readonly type: 'order.filled'
      readonly intent: Intent
      readonly leg: OrderLeg
      readonly isTakenBack: boolean
      /** The terms in force of an intent whose order was edited while it rested. */
      readonly inForce?: TermsInForce
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
      /** Action taken with the order. */
      readonly action: WarningAction
      /** The reason why it is dropped though policy says shrink. */
      readonly reason?: string
      /** The size it shrinks to. */
      readonly toUsd?: Usd
    }
  /** A payload mismatch; nothing was signed. */
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
      /** `PRICE_OUT_OF_BOUNDS`, `PRICE_CONTESTED`, `FEE_ABOVE_LIMIT`, `POSITION_MOVED` or `OFFER_EXPIRED`. */
      readonly code: string
      readonly differences: readonly Difference[]
    }
  /** The venue's statement on an unresolved attempt; an observation, not evidence. */
  | {
      readonly type: 'order.observed'
      readonly intent: Intent
      readonly attempt: number
      readonly status: string
      readonly host: string
      readonly traceId?: string
      readonly reason?: string
    }
  /** A keeper reports a resting order that is of no use as it is, or the end of that. */
  | {
      readonly type: 'order.untidy'
      readonly strategy: string
      readonly orderKey: Hex
      /** Full symbol of its market, else the market token. */
      readonly symbol: string
      readonly direction: 'long' | 'short'
      readonly cause: UntidyCause
      readonly reason: string
      readonly isOver: boolean
    }
  /** An order is to be unwound: it is unwound if it lands. */
  | {
      readonly type: 'unwind.requested'
      readonly intent: Intent
      readonly by: string
      readonly reason: string
    }
  /** The reason why an order cannot be unwound now; reported once for each reason. */
  | { readonly type: 'unwind.waits'; readonly intentId: string; readonly reason: string }
  | {
      readonly type: 'unwind.ended'
      readonly intentId: string
      readonly by: string
      readonly outcome: UnwindOutcome
      readonly statement: string
    }
  /** A task that makes orders over time began. */
  | { readonly type: 'task.started'; readonly taskId: string; readonly by: string; readonly asked: string }
  /** The reason that delays its next order: a halt, a denial, a failed look; reported once for each cause. */
  | { readonly type: 'task.waits'; readonly taskId: string; readonly reason: string }
  /** `outcome`: done, stopped or out of budget. */
  | {
      readonly type: 'task.ended'
      readonly taskId: string
      readonly by: string
      readonly outcome: string
      readonly statement: string
    }
  | {
      readonly type: 'order.timing'
      readonly intentId: string
      readonly step: 'accept' | 'prepare' | 'verify' | 'sign' | 'arm' | 'submit' | 'total'
      readonly durationMs: number
    }
