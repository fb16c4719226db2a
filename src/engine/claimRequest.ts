/** Handles a strategy's request to claim amounts due to the account: the calls are prepared for the owner's wallet, or it is denied. */

import type { HasPrepareClaim } from '../account/accountParts.ts'
import type { ClaimDecision } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { HasEmit } from '../execution/context/executionParts.ts'

/** Has it looked at, and prepared when it is enough. Told only when something came of it. Refuses with CLAIM_UNREAD. */
export async function requestClaim(
  { emit, prepareClaim }: HasEmit & HasPrepareClaim,
  strategy: string,
  decision: ClaimDecision,
  decisionKey: string,
): Promise<Denial | undefined> {
  const looked = prepareClaim === undefined ? noChain : await prepareClaim(decision)
  if (looked === 'busy' || looked === 'nothing') return undefined
  const told = { strategy, decisionKey, decision, symbol: '' }
  emit({ type: 'decision.made', ...told })
  if (looked === 'prepared') return undefined
  emit({ type: 'decision.denied', ...told, denial: looked })
  return looked
}

const noChain: Denial = {
  code: 'CLAIM_UNREAD',
  reason: 'this run cannot read due amounts',
}
