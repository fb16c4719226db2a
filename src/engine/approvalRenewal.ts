/** Handles a strategy's request to prepare the renewal of the delegated key's approval: denied without such a key, and reported once. */

import type { HasPrepareRenewal, HasSubaccount } from '../account/accountParts.ts'
import type { RenewalDecision } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { HasEmit } from '../execution/context/executionParts.ts'

/** Has it prepared, unless one is there that fits. Refuses with NO_DELEGATED_KEY and RENEWAL_FAILED. */
export async function requestRenewal(
  context: HasEmit & HasPrepareRenewal & HasSubaccount,
  strategy: string,
  decision: RenewalDecision,
  decisionKey: string,
): Promise<Denial | undefined> {
  const { emit, prepareRenewal, subaccount } = context
  const told = { strategy, decisionKey, decision, symbol: '' }
  const nonce = subaccount?.nextNonce()
  const begun = prepareRenewal === undefined || nonce === undefined ? noKey : prepareRenewal(decision, nonce)
  if (begun === 'same') return undefined
  emit({ type: 'decision.made', ...told })
  const denial = await begun
  if (denial !== undefined) emit({ type: 'decision.denied', ...told, denial })
  return denial
}

const noKey: Denial = {
  code: 'NO_DELEGATED_KEY',
  reason: "there is nothing to renew: the account's own key signs, or its approval was not read yet",
}
