/** Whose approvals paper's delegated key may have: those of an owner that perpd made for paper. */
import { isThere } from '../../base/isThere.ts'
import type { Config } from '../../config/configTypes.ts'
import { readPaperKey } from '../../keys/local.ts'
import { sameHex } from '../../protocol/address.ts'

/**
 * Returns the fault of the configured owner on paper; undefined when there is none. Approvals of paper are valid on the live chain, and paper's
 * delegated key is stored unencrypted. So its owner must be a key that perpd made for paper, and nobody else.
 */
export function paperOwnerProblem({ account, isPaper, paper }: Config): string | undefined {
  if (!isPaper || account.owner === undefined) return undefined
  const own = isThere(paper.ownerKeyFile) ? readPaperKey(paper.ownerKeyFile).address : undefined
  if (own !== undefined && sameHex(own, account.owner)) return undefined
  const is = own === undefined ? 'makes with perpd subaccount create' : `made: ${own}`
  return `account.owner is ${account.owner}; on paper the owner is the key that perpd ${is} (${paper.ownerKeyFile}). An approval of paper's bare key by another owner would be valid on the live chain.`
}
