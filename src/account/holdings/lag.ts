/** Honest lag: lists and our own evidence show the same event seconds apart. */

import { madeOnce } from '../../base/madeOnce.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import { hasEnded, type IntentState, isUnresolved, lastAttempt } from '../../domain/order/intent.ts'
import { hexKey } from '../../protocol/address.ts'

/** Tells whether an order of the intent may exist without our knowledge, or its fill may not show in the lists yet. */
export function isBusy(state: IntentState, nowMs: number): boolean {
  const attempt = lastAttempt(state)
  if (attempt !== undefined && isUnresolved(attempt)) return true
  // A stamp of the future is one from before the clock was set back.
  return attempt?.phase !== 'LANDED' || Math.abs(nowMs - state.updatedAtMs) <= LIST_LAG_MS
}

/**
 * Orders of the intent that rest by the journal and are in the list no longer, lower-case keys: they were executed or
 * cancelled, which the positions show before our evidence does.
 */
export function keysNotListed(state: IntentState, listed: ReadonlySet<string>): readonly string[] {
  const keys = restingKeys(state)
  return keys.every((key) => listed.has(key)) ? none : keys.filter((key) => !listed.has(key))
}

const none: readonly string[] = []

/** Keys of the orders that rest by the journal; made once for a state: each turn of each strategy looks for all of them. */
const restingKeys = madeOnce((state: IntentState): readonly string[] =>
  (lastAttempt(state)?.children ?? [])
    .filter((child) => !hasEnded(child))
    .map(({ orderKey }) => hexKey(orderKey)),
)
