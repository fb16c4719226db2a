/** Finds who requested the cancel of an order: an operator by hand, a strategy, or nobody that this journal knows. Pure. */
import { type Hex, hexKey } from '../../protocol/address.ts'
import { type Attempt, type Child, type IntentState, isProvisional, lastAttempt } from './intent.ts'

/** Stands at the end of the reason of an order that the account itself cancelled: no keeper, and no failure. */
const byAccount = /\bUSER_INITIATED_CANCEL$/

/**
 * A message that may have reached the chain, or did. What is armed counts as sent: the end of the order that it cancels may be seen
 * before the host's answer to it, and before its own landing.
 */
const sentPhases: ReadonlySet<Attempt['phase']> = new Set(['ARMED', 'ACKED', 'UNRESOLVED', 'LANDED'])

/** Tells whether an order ended because the account itself cancelled it. */
export function isCancelledByAccount({ closing }: IntentState): boolean {
  return closing?.outcome === 'CANCELLED' && byAccount.test(closing.reason)
}

/** Tells whether the account itself cancelled a created order, and that this is final. */
export function isTakenBack({ phase, cancelReason = '', evidence }: Child): boolean {
  return phase === 'CANCELLED' && byAccount.test(cancelReason) && !isProvisional(evidence)
}

/**
 * Returns who requested the cancel, in words: `as ann asked (order 1a2b3c4d)`. Undefined when the account did not cancel it, or when none of these
 * stories requested it: then another program did, with the account's key.
 *
 * @param stories in any order; those that never landed request nothing
 */
export function cancelAskedBy(ended: IntentState, stories: Iterable<IntentState>): string | undefined {
  if (!isCancelledByAccount(ended)) return undefined
  const keys = new Set((lastAttempt(ended)?.children ?? []).map(({ orderKey }) => hexKey(orderKey)))
  for (const { intent, attempts } of stories) {
    const isSent = attempts.some(({ phase }) => sentPhases.has(phase))
    if (!isSent || !cancelsOf(intent.terms).some((key) => keys.has(hexKey(key)))) continue
    const { strategy, decision, intentId } = intent
    const by = decision.facts?.by
    const who = strategy.startsWith('@') ? (typeof by === 'string' ? by : 'the operator') : strategy
    return `as ${who} asked (order ${intentId.slice(0, 8)})`
  }
  return undefined
}

function cancelsOf({ cancelOrderKeys, batch }: IntentState['intent']['terms']): readonly Hex[] {
  return [...(cancelOrderKeys ?? []), ...(batch?.cancelOrderKeys ?? [])]
}
