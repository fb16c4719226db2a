/** Messages that a session key signs. */
import { approvalOf } from '../../src/execution/approval/verifyApproval.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import {
  hashSubaccountApproval,
  type SubaccountApproval,
} from '../../src/protocol/signing/subaccountApproval.ts'
import { nowSeconds, stranger } from './honestOrders.ts'
import type { Whole } from './wholeMessage.ts'

/** An approval that goes with messages of a session key. */
export const approval: SubaccountApproval = {
  ...approvalOf(arbitrum, {
    subaccount: stranger,
    expiresAtSeconds: nowSeconds + 86_400,
    maxAllowedCount: 90n,
    nonce: 3n,
  }),
  signature: `0x${'51'.repeat(65)}`,
}
/** The router of session keys. */
export const subaccountRouter = arbitrum.contracts.subaccountGelatoRelayRouter

/** The same, signed by a session key. */
export const bySession = (whole: Whole): Whole => ({
  ...whole,
  policy: { ...whole.policy, mode: { kind: 'subaccount', approval } },
  batch: {
    account: whole.intent.account,
    subaccountApproval: hashSubaccountApproval(approval),
    ...whole.batch,
  },
  typedData: {
    domain: {
      name: 'GmxBaseGelatoRelayRouter',
      version: '1',
      chainId: 42161,
      verifyingContract: subaccountRouter,
    },
    ...whole.typedData,
  },
})
