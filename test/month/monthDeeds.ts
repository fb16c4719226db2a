/**
 * What a simulated month is judged by: what the venue itself shows of the account, in plain figures. Nothing here comes from what perpd
 * reckoned; only who asked for a message is perpd's word, since the venue does not know perpd's strategies.
 */
import type { IntentKind } from '../../src/domain/order/intent.ts'
import type { Usd } from '../../src/protocol/units.ts'

/** An order that a message made. */
export interface OrderDeed {
  readonly orderKey: string
  /** Market token and direction. */
  readonly side: string
  readonly isIncrease: boolean
  readonly sizeUsd: Usd
  readonly collateralUsd: Usd
  /** Whether any price was signed as acceptable. */
  readonly isUnbounded: boolean
  /** From the price (of a resting order its trigger) to the worst that was signed, bps; below 0: better. */
  readonly slippageBps: number
  /** What the venue still takes on the side once the order is there, USD. */
  readonly capacityUsd: Usd
}

/** A message that the chain took. */
export interface MessageDeed {
  /** When it was sent, Unix ms. */
  readonly atMs: number
  /** Who asked for it; undefined when nobody did. */
  readonly strategy: string | undefined
  /** Of its orders, wei, as signed. */
  readonly executionFee: bigint
  /** Of the whole message, as signed. */
  readonly relayFeeUsd: Usd
  readonly orders: readonly OrderDeed[]
}

/** An order that was executed. */
export interface FillDeed {
  readonly atMs: number
  /** Whose message made the order; undefined for the keeper's own. */
  readonly strategy: string | undefined
  readonly side: string
  readonly isIncrease: boolean
  readonly sizeUsd: Usd
  /** What it realized after the venue's costs, USD, signed. */
  readonly resultUsd: Usd
}

/** A position as the venue shows it. */
export interface PositionDeed {
  readonly side: string
  readonly market: string
  readonly sizeUsd: Usd
  readonly leverageBps: number
  /** Way from the price to the liquidation, bps of the price; undefined where there is none. */
  readonly liquidationBps: number | undefined
}

/** What rests and would open. */
export interface RestingDeed {
  readonly side: string
  readonly market: string
  readonly strategy: string | undefined
  readonly sizeUsd: Usd
}

/** The account at a moment. */
export interface LookDeed {
  readonly atMs: number
  readonly positions: readonly PositionDeed[]
  readonly resting: readonly RestingDeed[]
  /** What it is worth: tokens of the wallet, and positions at their value, USD. */
  readonly equityUsd: Usd
}

/** A decision that was taken up. Ages are of the newest answers that perpd had got, ms. */
export interface AdmittedDeed {
  readonly atMs: number
  readonly strategy: string
  readonly intentId: string
  readonly kind: IntentKind
  readonly side: string
  /** Whether it executes at once. */
  readonly isMarket: boolean
  readonly ageMs: { readonly ticker: number; readonly oracle: number; readonly account: number }
  /** The two price sources as they were when they were read, apart by this many bps. */
  readonly divergenceBps: number
}

/** An order of perpd's that is over. */
export interface EndedDeed {
  readonly atMs: number
  readonly strategy: string
  readonly intentId: string
  readonly kind: IntentKind
  readonly side: string
  /** What ended it; undefined when it did what was wanted. */
  readonly cause: string | undefined
}
