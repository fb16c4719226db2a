/** What is left of the approval of a delegated key, as it was last read. */
import type { Address } from '../protocol/address.ts'

/** Plain values, so that status and metrics can show them. */
export interface SubaccountReport {
  /** The delegated key's address. */
  readonly address: Address
  /** Whether the chain knows it already. */
  readonly isActive: boolean
  /** Whether a signed approval waits for the first order that carries it; the figures below are then its own. */
  readonly isApprovalWaiting: boolean
  /** Creates, updates and cancels that may still land, less what is signed and not proven; never below 0. */
  readonly remainingActions: number
  /** Of those, what closing every position and cancelling every resting order takes. */
  readonly neededActions: number
  /** Unix seconds; 0 when it was never approved. */
  readonly expiresAtSeconds: number
}
