/** Finds intents that only rest: nothing of them is in doubt, and all remaining orders wait for their trigger or time. */
import {
  hasEnded,
  type IntentState,
  isProvisional,
  isWaiting,
  lastAttempt,
} from '../../domain/order/intent.ts'
import type { Hex } from '../../protocol/address.ts'

/** Tells whether nothing of the intent is in doubt and all remaining orders wait for their trigger or time. */
export function isResting(state: IntentState): boolean {
  const attempt = lastAttempt(state)
  if (attempt === undefined || attempt.phase !== 'LANDED' || isProvisional(attempt.evidence)) return false
  return attempt.children.every((child) =>
    hasEnded(child) ? !isProvisional(child.evidence) : isWaiting(state.intent, child),
  )
}

/** The orders of an intent that have not ended, of one that rests; none of any other. */
export function restingKeys(state: IntentState): readonly Hex[] {
  if (!isResting(state)) return []
  const open = (lastAttempt(state)?.children ?? []).filter((child) => !hasEnded(child))
  return open.map(({ orderKey }) => orderKey)
}
