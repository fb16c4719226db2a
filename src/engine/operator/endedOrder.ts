/** Finds whether an order that somebody wants to cancel has ended already. Pure. */
import { hasEnded, type IntentState, type Label, labelOf, lastAttempt } from '../../domain/order/intent.ts'

/** An order of which nothing rests any more. */
export interface EndedOrder {
  readonly intentId: string
  readonly label: Label
  /** All that is meant of it was cancelled; else it was filled, or never rested. */
  readonly isCancelled: boolean
}

/**
 * Returns the one order that a name means, where it has ended, finally or not; undefined where it rests, is in flight, or is unknown.
 *
 * @param wanted in lower case: the first characters of an intent's id, or the whole key of a created order, 0x...
 */
export function endedOrder(stories: readonly IntentState[], wanted: string): EndedOrder | undefined {
  const isKey = wanted.startsWith('0x')
  const meant = (state: IntentState) =>
    (lastAttempt(state)?.children ?? []).filter(({ orderKey }) => !isKey || orderKey.toLowerCase() === wanted)
  const found = stories.filter((state) =>
    isKey ? meant(state).length > 0 : state.intent.intentId.startsWith(wanted),
  )
  const [state] = found
  if (state === undefined || found.length > 1) return undefined
  const children = meant(state)
  const hasAllEnded = children.length > 0 && children.every(hasEnded)
  if (state.closing === undefined && !hasAllEnded) return undefined
  const isCancelled =
    children.length === 0
      ? state.closing?.outcome === 'CANCELLED'
      : children.every(({ phase }) => phase === 'CANCELLED')
  return { intentId: state.intent.intentId, label: labelOf(state), isCancelled }
}
