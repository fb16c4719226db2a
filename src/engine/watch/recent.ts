/** Selections of intents that the engine looks at again and again. */
import { type IntentState, isUnresolved, lastAttempt } from '../../domain/order/intent.ts'
import { dayStartOf } from '../../risk/breakers/circuitBreakers.ts'
import type { EngineContext } from '../context/engineContext.ts'

/** Intents that are looked through at start at least, for new fills, fees and for what the day realized. */
const recentIntents = 1_000

/** The newest intents, back to the start of the day (UTC) at least. */
export function intentsOfDay(
  journal: Pick<EngineContext['journal'], 'intents'>,
  nowMs: number,
): readonly IntentState[] {
  for (let limit = recentIntents; ; limit *= 4) {
    const found = journal.intents({ limit })
    if (found.length < limit || (found.at(-1)?.intent.acceptedAtMs ?? 0) < dayStartOf(nowMs)) return found
  }
}

/** Those of them whose newest attempt may still land, or landed unseen. */
export function unresolvedOf<T extends { readonly state: IntentState }>(open: readonly T[]): readonly T[] {
  return open.filter(({ state }) => {
    const attempt = lastAttempt(state)
    return attempt !== undefined && isUnresolved(attempt)
  })
}
