/**
 * Messages that a host was handed and that nobody has seen in a block: their host may never relay them, or may at any time until
 * their deadline. Nothing is sent again for one. A whole close continues with another order (docs/sending.md, "A message that is withheld").
 */
import { CLOCK_STEP_MS } from '../../base/clock.ts'
import { type IntentState, isUnresolved, lastAttempt } from './intent.ts'

/** Most whole closes of one position that may be in flight at once: each further one costs a fee where the earlier ones land after all. */
export const MOST_CLOSES_AT_ONCE = 3

/**
 * Returns the time from which the newest message of an intent is signed without a proof of its fate, Unix ms. Undefined: it is not signed, or its
 * fate is known.
 */
export function unprovenSinceMs(state: IntentState): number | undefined {
  const attempt = lastAttempt(state)
  if (state.closing !== undefined || attempt === undefined || !isUnresolved(attempt)) return undefined
  return attempt.armedAtMs ?? state.updatedAtMs
}

/**
 * Judges whether a message whose fate is open since then counts as withheld. So does one of a time that is to come: the clock was set back since, nobody can
 * say its age, and a way out does not wait for a day; where it is not withheld, one more whole close is harmless.
 */
export function isWithheld(sinceMs: number | undefined, nowMs: number, withheldMs: number): boolean {
  if (sinceMs === undefined) return false
  return nowMs - sinceMs >= withheldMs || sinceMs - nowMs >= CLOCK_STEP_MS
}

/** A message whose fate is open, and who was handed it. */
export interface UnprovenMessage {
  readonly host: string
  /** Unix ms. */
  readonly sinceMs: number
}

/** The newest message of an intent where its fate is open; undefined where it is known or no host has one. */
export function unprovenMessageOf(state: IntentState): UnprovenMessage | undefined {
  const host = lastAttempt(state)?.armed?.host
  const sinceMs = unprovenSinceMs(state)
  return host === undefined || sinceMs === undefined ? undefined : { host, sinceMs }
}

/** Hosts that were handed one of these messages which counts as withheld. */
export function withholdingHosts(
  messages: Iterable<UnprovenMessage>,
  nowMs: number,
  withheldMs: number | undefined,
): ReadonlySet<string> {
  const hosts = new Set<string>()
  if (withheldMs === undefined) return hosts
  for (const { host, sinceMs } of messages) {
    if (isWithheld(sinceMs, nowMs, withheldMs)) hosts.add(host)
  }
  return hosts
}
