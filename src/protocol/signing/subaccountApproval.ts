/**
 * The main key's word that a subaccount may trade: the message it signs, and the hash of it that every Batch of the
 * subaccount carries (docs/reference/api-coverage.md POST /subaccounts/approval/prepare; contract `SubaccountUtils`,
 * `SubaccountApproval`). The signed approval goes with orders until the first of them landed; that one writes it on chain
 * and uses up its nonce. From then on the empty approval goes with them: the signed one would be refused.
 */
import type { Hex } from '../address.ts'
import {
  addressWord,
  boolWord,
  bytes32Word,
  encodeBytes,
  encodeTuple,
  type Part,
  uintWord,
} from '../crypto/abiWords.ts'
import { keccakOfWords } from '../crypto/keccak.ts'
import type { SubaccountApproval, SubaccountApprovalMessage } from './approvalTypes.ts'

export type { SubaccountApproval, SubaccountApprovalMessage } from './approvalTypes.ts'

/** Type hash of an approval, from the contract's type string. */
export const approvalTypeHash: Hex = '0xcd2445355677b71d6b0757bc3e432cb06935ec5ed4b8520a8105fb5ee4ff8b81'

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
