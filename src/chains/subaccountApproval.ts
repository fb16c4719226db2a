/**
 * The main key's word that a subaccount may trade: the message it signs, and the hash of it that every Batch of the
 * subaccount carries (wire: eip712-and-chain 3.2; application-api-orders 6). The signed approval goes with orders until the
 * first of them landed; that one writes it on chain and uses up its nonce. From then on the empty approval goes with them:
 * the signed one would be refused.
 */
import { type Address, type Hex, ZERO_HASH } from '../domain/address.ts'
import {
  addressWord,
  boolWord,
  bytes32Word,
  encodeBytes,
  encodeTuple,
  type Part,
  uintWord,
} from './abiWords.ts'
import { keccakOfWords } from './keccak.ts'

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
  /** Of the main key over the message; `0x` in the empty approval. */
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

/** Type hash of an approval, from the contract's type string. */
export const approvalTypeHash: Hex = '0xcd2445355677b71d6b0757bc3e432cb06935ec5ed4b8520a8105fb5ee4ff8b81'

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

/** The nine words that are signed and encoded alike. */
function messageWords(value: SubaccountApprovalMessage): readonly string[] {
  return [
    addressWord(value.subaccount),
    boolWord(value.shouldAdd),
    uintWord(value.expiresAt),
    uintWord(value.maxAllowedCount),
    bytes32Word(value.actionType),
    uintWord(value.nonce),
    uintWord(value.desChainId),
    uintWord(value.deadline),
    bytes32Word(value.integrationId),
  ]
}

/** The digest that the main key signs, at the domain separator of the chain's subaccount router. */
export function approvalDigestOf(separator: Hex, message: SubaccountApprovalMessage): Hex {
  const struct = keccakOfWords([approvalTypeHash.slice(2), ...messageWords(message)])
  return `0x${keccakOfWords(['1901', bytes32Word(separator), struct])}`
}

/** An approval as an argument of the router's functions: one dynamic tuple. */
export function approvalPart(approval: SubaccountApproval): Part {
  return { tail: encodeTuple([...messageWords(approval), encodeBytes(approval.signature)]) }
}

/** The hash of an approval in a Batch: keccak256(abi.encode(approval)), its signature included. */
export function hashSubaccountApproval(approval: SubaccountApproval): Hex {
  return `0x${keccakOfWords([encodeTuple([approvalPart(approval)])])}`
}
