/** A delegated key, and the account that it signs for. */
import type { Intent } from '../../domain/order/intent.ts'
import type { Address } from '../../protocol/address.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'

/** The account that approved the signer's key, and the approval that goes with its orders. */
export interface Delegation {
  readonly account: Address
  /** Returns the approval that the intent's message carries now, or the reason why it must wait; asked again while the intent lasts. */
  approvalFor(intent: Intent): SubaccountApproval | { readonly waitsFor: string }
}
