/** The cooldown of a host that accepted a message which no block holds. Pure. */
import { type IntentState, lastAttempt } from '../order/intent.ts'
import { isWithheld, unprovenSinceMs } from '../order/withheld.ts'
import type { ChainView, EndpointView } from './chainView.ts'

/** One cooldown of such a host, ms. */
const WITHHELD_REST_MS = 60_000

/**
 * Returns the rest of the cooldown of the host that withholds an intent's message, ms. It accepted the message, the chain went on for `withheldMs`
 * without it, and the deadline has not passed. Undefined: no cooldown. `chain` absent: no endpoint is read, and only our own time counts.
 */
export function withheldRestMs(
  state: IntentState,
  chain: ChainView | undefined,
  nowMs: number,
  withheldMs: number,
): number | undefined {
  const sinceMs = unprovenSinceMs(state)
  const attempt = lastAttempt(state)
  if (sinceMs === undefined || attempt?.armed === undefined || attempt.send?.result !== 'accepted')
    return undefined
  const leftMs = attempt.armed.deadlineSeconds * 1000 - nowMs
  if (leftMs <= 0 || !isWithheld(sinceMs, nowMs, withheldMs)) return undefined
  // An endpoint that lags does not show newer landings.
  const endpoints = chain?.endpoints ?? []
  const shows = ({ latest, isDigestUsedAtLatest }: EndpointView) =>
    !isDigestUsedAtLatest && latest.timestampSeconds * 1000 >= sinceMs + withheldMs
  if (chain !== undefined && !(endpoints.length > 0 && endpoints.every(shows))) return undefined
  return Math.min(leftMs, WITHHELD_REST_MS)
}
