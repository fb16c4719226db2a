/** Open intents whose message may still land. */
import { type IntentState, isUnresolved, lastAttempt } from '../../domain/order/intent.ts'

/** Those whose newest attempt may still land, or landed unseen. */
export function unresolvedOf<T extends { readonly state: IntentState }>(open: readonly T[]): readonly T[] {
  return open.filter(({ state }) => {
    const attempt = lastAttempt(state)
    return attempt !== undefined && isUnresolved(attempt)
  })
}
