/** The message of an approval: from our own types, over what the key has used by the chain or by every host. A host must propose the same. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import { approvalDifferences, approvalOf } from '../../execution/approval/verifyApproval.ts'
import type { Address } from '../../protocol/address.ts'
import type { SubaccountApprovalMessage } from '../../protocol/signing/subaccountApproval.ts'
import { type ApprovalFacts, type ApprovalSources, approvalFacts } from './approvalFacts.ts'

/** Terms of the wanted approval. */
export interface ApprovalWish {
  readonly owner: Address
  readonly subaccount: Address
  /** Unix seconds. */
  readonly expiresAtSeconds: number
  /** Actions in all, by the facts. Throws CommandError when they may not be counted so. */
  readonly maxAllowedCount: (facts: ApprovalFacts) => bigint
}

/** A message, and what its figures stand on. */
export interface BuiltApproval {
  readonly message: SubaccountApprovalMessage
  readonly facts: ApprovalFacts
}

/**
 * Builds the message. Nothing is signed here.
 *
 * @throws CommandError when the sources do not agree, the key could do nothing with it, or a host proposes another one; and what asking throws
 */
export async function buildApproval(sources: ApprovalSources, wish: ApprovalWish): Promise<BuiltApproval> {
  const { chain, api } = sources
  const { owner, subaccount, expiresAtSeconds } = wish
  const facts = await approvalFacts(sources, { owner, subaccount })
  const { usedActions, nonce, by } = facts
  const maxAllowedCount = wish.maxAllowedCount(facts)
  if (maxAllowedCount <= usedActions) {
    throw new CommandError(
      `The key has used ${usedActions} actions according to ${by}, so an approval up to number ${maxAllowedCount} would allow none. Nothing was signed.`,
      exitCodes.error,
    )
  }
  const grant = { subaccount, expiresAtSeconds, maxAllowedCount, nonce }
  const { value: proposed } = await api.prepareSubaccountApproval({
    account: owner,
    subaccountAddress: subaccount,
    shouldAdd: true,
    expiresAtSeconds,
    maxAllowedCount,
  })
  const differences = approvalDifferences(chain, grant, proposed)
  if (differences.length > 0) {
    const rows = differences.map((each) => `  ${each.field}: expected ${each.expected}, found ${each.found}`)
    throw new CommandError(
      `The host proposes another approval than requested; nothing was signed:\n${rows.join('\n')}`,
      exitCodes.error,
    )
  }
  return { message: approvalOf(chain, grant), facts }
}
