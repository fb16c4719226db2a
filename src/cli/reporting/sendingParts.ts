/** Splits what sending messages cost into the keepers' part and the rest. Pure. */

import { sendingOf } from '../../books/bookMoves.ts'
import { executionFeePaid } from '../../domain/accountRecords/spend.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { minOf, type Usd } from '../../protocol/units.ts'

/**
 * The keepers' part of what an intent's message cost, USD: what they retained of the execution fee, at the price at which the rest of it
 * came back. 0 where the chain shows neither: it is then in the rest.
 */
function executionUsdOf(state: IntentState): Usd {
  const attempt = lastAttempt(state)
  const paid = executionFeePaid(attempt)
  const signed = attempt?.armed?.executionFee
  if (attempt === undefined || paid === undefined || signed === undefined || signed <= paid) return 0n
  const returnedUsd = attempt.children.reduce(
    (sum, { settlement }) => sum + (settlement?.executionFeeReturnedUsd ?? 0n),
    0n,
  )
  const keptUsd = (paid * returnedUsd) / (signed - paid)
  const wholeUsd = sendingOf(state).relayFeesUsd
  return wholeUsd <= 0n ? 0n : minOf(keptUsd, wholeUsd)
}

/** Splits a sum of sending costs by the intents that it is of. */
export function sendingParts(
  sendingUsd: Usd,
  intents: readonly IntentState[],
): { readonly executionUsd: Usd; readonly relayUsd: Usd } {
  const executionUsd = intents.reduce((sum, state) => sum + executionUsdOf(state), 0n)
  return { executionUsd, relayUsd: sendingUsd - executionUsd }
}
