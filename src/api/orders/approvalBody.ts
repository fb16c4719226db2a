/** An approval on the wire (docs/reference/api-coverage.md POST /subaccounts/approval/prepare). */
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'

/** An approval on the wire: the contract's fields and nothing besides, bigints as decimal texts. */
export function approvalBody(approval: SubaccountApproval): Readonly<Record<string, unknown>> {
  const { subaccount, shouldAdd, actionType, integrationId, signature } = approval
  return {
    subaccount,
    shouldAdd,
    expiresAt: approval.expiresAt.toString(),
    maxAllowedCount: approval.maxAllowedCount.toString(),
    actionType,
    nonce: approval.nonce.toString(),
    desChainId: approval.desChainId.toString(),
    deadline: approval.deadline.toString(),
    integrationId,
    signature,
  }
}
