/**
 * The main key's word that a subaccount may trade: what it signs, and what every prepare and submit of the subaccount
 * carries (wire: orders, 6). The signed approval goes with orders until the first of them landed; that one writes it on
 * chain and uses up its nonce. From then on the empty approval goes with them: the signed one would be refused.
 */
import { type Address, type Hex, ZERO_HASH } from '../domain/address.ts'

/** The action that approvals are for, `SUBACCOUNT_ORDER_ACTION` (wire: eip712-and-chain, section 3.2). */
const ORDER_ACTION: Hex = '0x2a0791687fd34f2095c484a9fa4e25057d3ef79a97fcd8c61436047a7bdf4cbe'

/** The approval that the main key signs; the fields of the contract's struct. Times in Unix seconds. */
export interface SubaccountApprovalMessage {
  readonly subaccount: Address
  readonly shouldAdd: boolean
  readonly expiresAt: bigint
  readonly maxAllowedCount: bigint
  readonly actionType: Hex
  readonly nonce: bigint
  readonly desChainId: bigint
  readonly deadline: bigint
  readonly integrationId: Hex
}

/** An approval with its signature, as prepare and submit carry it. */
export interface SubaccountApproval extends SubaccountApprovalMessage {
  /** Of the main key over the message; `0x` in the empty approval. */
  readonly signature: Hex
}

/** The approval that changes nothing, of a subaccount that the chain knows already. */
export function emptySubaccountApproval(subaccount: Address, chainId: number): SubaccountApproval {
  return {
    subaccount,
    shouldAdd: true,
    expiresAt: 0n,
    maxAllowedCount: 0n,
    actionType: ORDER_ACTION,
    nonce: 0n,
    desChainId: BigInt(chainId),
    deadline: 0n,
    integrationId: ZERO_HASH,
    signature: '0x',
  }
}

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
