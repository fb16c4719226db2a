/** Remaining approval of a delegated key, as it was last read. */
import type { Address } from '../protocol/address.ts'

/** Plain values, so that status and metrics can show them. */
export interface SubaccountReport {
  /** The delegated key's address. */
  readonly address: Address
  /** True if the chain knows it already. */
  readonly isActive: boolean
  /** True if a signed approval waits for the first order that carries it; the figures below are then those of the approval. */
  readonly isApprovalWaiting: boolean
  /** Creates, updates and cancels that may still land, less signed ones without proof; never below 0. */
  readonly remainingActions: number
  /** Actions among those that closing every position and cancelling every resting order takes. */
  readonly neededActions: number
  /** Unix seconds; 0 when it was never approved. */
  readonly expiresAtSeconds: number
}
