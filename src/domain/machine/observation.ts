/** Content of one look at the world, and the conclusions it permits: the types in which evidence is judged. */
import type { Hex } from '../../protocol/address.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import type { Order, Position, Trade } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import type { ChildRole, Evidence, Settlement } from '../order/intent.ts'
import type { ChainView } from './chainView.ts'

/** Statuses by which a host says that it gave the order up: a failed or a reverted relay. They prove nothing (docs/orders.md, "The promises"). */
export const gaveUpStatuses: ReadonlySet<string> = new Set(['relay_failed', 'relay_reverted'])

/** The pinned host's answer about the request. */
export type HostAnswer =
  | {
      readonly kind: 'status'
      readonly host: string
      readonly status: string
      readonly orderKeys: readonly Hex[]
      /** The relay's transaction. */
      readonly txHash?: Hex
      readonly createdTxnHash?: Hex
      readonly executionTxnHash?: Hex
      readonly cancellationReason?: string
      readonly error?: string
      /** The host's own clock, Unix ms. */
      readonly serverDateMs?: number
    }
  | {
      /** `not-found` is a 404, which may only be early; `silent` is everything that is no answer. */
      readonly kind: 'not-found' | 'silent'
      readonly host: string
      readonly reason: string
      readonly traceId?: string
    }

/** Content of the account's own lists, over every queried peer. */
export interface AccountView {
  /** True when every configured peer answered orders, positions and trades, and every row of them could be read. */
  readonly complete: boolean
  readonly orders: readonly Order[]
  readonly positions: readonly Position[]
  readonly trades: readonly Trade[]
  /** Rows that could not be read; absent: all could. */
  readonly missing?: Readonly<Record<'orders' | 'trades', readonly MissingRow[]>>
}

/** One look at the world for one attempt. */
export interface Observation {
  readonly atMs: number
  readonly answer: HostAnswer
  /** Absent when the lists were not asked for in this look. */
  readonly account?: AccountView
  /** Absent in API-only mode. */
  readonly chain?: ChainView
  /** Order keys that other intents of the journal explain, lower case. */
  readonly explained: ReadonlySet<string>
}

/** Under which rules observations are judged. */
export interface EvidenceRules {
  /**
   * `chain`: endpoints are configured, and nothing but the chain closes anything (docs/reference/evidence.md, "What closes an order"). `api`:
   * there is none; hosts and own lists may close what they positively show.
   */
  readonly source: 'chain' | 'api'
  /** Paper only: the venue's own positive statement may prove death. */
  readonly trustVenue: boolean
  /** Time that the venue's clock must have passed the signed deadline, ms. */
  readonly deadlineMarginMs: number
}

/** A landing: the orders that it created, one for each that was expected, in the order of the message. */
export interface Landing {
  readonly orderKeys: readonly Hex[]
  readonly roles: readonly ChildRole[]
  readonly evidence: Evidence
  /** The part of its fee that the relay gave back, USD; absent: nobody shows it, or endpoints differ. */
  readonly feeReturnedUsd?: Usd
}

/** End of a created order. */
export type End =
  | { readonly kind: 'executed'; readonly settlement: Settlement; readonly evidence: Evidence }
  | {
      readonly kind: 'cancelled'
      readonly cancelReason: string
      readonly evidence: Evidence
      /** The returned part of its execution fee; absent: nobody shows it, or endpoints differ. */
      readonly settlement?: Settlement
    }
