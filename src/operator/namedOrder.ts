/** Finds the order that an operator names, and its end where it has ended already. Pure. */
import {
  hasEnded,
  type Intent,
  type IntentState,
  type Label,
  labelOf,
  lastAttempt,
} from '../domain/order/intent.ts'
import type { OpenOrders } from '../execution/openOrders.ts'
import { type Refusal, refusal } from './operatorAnswer.ts'

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

/** The open order of an id or of its beginning, or a refusal. */
export function openOrder({ open }: OpenOrders, intentId: string): IntentState | Refusal {
  const found = open().filter(({ state }) => state.intent.intentId.startsWith(intentId))
  const [one] = found
  if (one !== undefined && found.length === 1) return one.state
  const problem = one === undefined ? 'no open order has' : `${found.length} open orders have`
  return refusal(
    'ORDER_NOT_FOUND',
    `${problem} an id that begins with ${intentId}; perpd orders --open lists them`,
  )
}

/**
 * The refusal of a command on an order at the venue that no list shows: ORDER_NOT_RESTING where the records say that it rests, for a list may be
 * seconds older than they are; ORDER_NOT_FOUND otherwise.
 *
 * @param wanted in lower case: the first characters of an intent's id, or of the key of a created order, 0x...
 */
export function notListed({ open }: OpenOrders, wanted: string): Refusal {
  const rests = open().some(({ state }) =>
    (lastAttempt(state)?.children ?? []).some(
      (child) =>
        !hasEnded(child) &&
        (child.orderKey.toLowerCase().startsWith(wanted) || state.intent.intentId.startsWith(wanted)),
    ),
  )
  return rests
    ? refusal(
        'ORDER_NOT_RESTING',
        `order ${wanted} was created, but the venue's list does not show it yet: retry in a few seconds`,
      )
    : refusal('ORDER_NOT_FOUND', `no order of ${wanted} rests at the venue; perpd orders lists them`)
}

/** An order by its id and in words. */
export function orderNamed({ intentId, kind, terms }: Intent): string {
  return `${intentId} (${kind} ${terms.direction} ${terms.symbol})`
}
