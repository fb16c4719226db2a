/** Persisted facts of a prepare that brought warnings. */
import type { Usd } from '../../protocol/units.ts'
import type { OrderTerms, Sizing } from './orderTerms.ts'

/** Actions for an order with a warning, mildest first. `shrink`: prepared again at a smaller size, or dropped. */
export const warningActions = ['sign', 'shrink', 'drop'] as const

/** See `warningActions`. */
export type WarningAction = (typeof warningActions)[number]

/** One warning with the policy's action. */
export interface JudgedWarning {
  readonly code: string
  readonly message: string
  /** `details.reason` as the venue gave it; absent without one. */
  readonly reason?: string
  readonly action: WarningAction
}

/** The smaller order that a warning leaves. */
export interface Shrunk {
  readonly terms: OrderTerms
  readonly sizing: Sizing
  readonly reservationUsd: Usd
}

/** A prepare with warnings, and the action taken: journaled before anything is signed. */
export interface WarnedFacts {
  readonly host: string
  readonly requestId: string
  readonly warnings: readonly JudgedWarning[]
  /** Action taken with the order: the strictest of the warnings' actions, or `drop` where no smaller order is left. */
  readonly action: WarningAction
  /** The reason why it was dropped though policy says shrink. */
  readonly reason?: string
  /** `shrink` only: the intent from here on. */
  readonly shrunk?: Shrunk
}
