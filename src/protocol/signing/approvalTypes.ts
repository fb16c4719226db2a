/**
 * Defines a subaccount's approval, apart from the hashing of it: clients that only carry approvals need no hash function
 * (docs/reference/api-coverage.md POST /subaccounts/approval/prepare; contract `SubaccountUtils`, `SubaccountApproval`).
 */
import { type Address, type Hex, ZERO_HASH } from '../address.ts'

/** The action that approvals are for, `SUBACCOUNT_ORDER_ACTION`. */
export const SUBACCOUNT_ORDER_ACTION: Hex =
  '0x2a0791687fd34f2095c484a9fa4e25057d3ef79a97fcd8c61436047a7bdf4cbe'

/** The approval that the main key signs; the fields of the contract's struct. Times in Unix seconds. */
export interface SubaccountApprovalMessage {
  readonly subaccount: Address
  readonly shouldAdd: boolean
  readonly expiresAt: bigint
  /** Actions in all, those already used included. */
  readonly maxAllowedCount: bigint
  readonly actionType: Hex
  readonly nonce: bigint
  readonly desChainId: bigint
  readonly deadline: bigint
  readonly integrationId: Hex
}

/** An approval with its signature, as prepare, submit and calldata carry it. */
export interface SubaccountApproval extends SubaccountApprovalMessage {
  /** Signature of the main key over the message; `0x` in the empty approval. */
  readonly signature: Hex
}

/** EIP-712 types of an approval, in the router's order. */
export const approvalTypes = {
  SubaccountApproval: [
    { name: 'subaccount', type: 'address' },
    { name: 'shouldAdd', type: 'bool' },
    { name: 'expiresAt', type: 'uint256' },
    { name: 'maxAllowedCount', type: 'uint256' },
    { name: 'actionType', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'desChainId', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'integrationId', type: 'bytes32' },
  ],
} as const

/** The approval that changes nothing, of a subaccount that the chain knows already. */
export function emptySubaccountApproval(subaccount: Address, chainId: number): SubaccountApproval {
  return {
    subaccount,
    shouldAdd: true,
    expiresAt: 0n,
    maxAllowedCount: 0n,
    actionType: SUBACCOUNT_ORDER_ACTION,
    nonce: 0n,
    desChainId: BigInt(chainId),
    deadline: 0n,
    integrationId: ZERO_HASH,
    signature: '0x',
  }
}
