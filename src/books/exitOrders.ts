/** Finds the orders at the venue that close a position, and the edits and cancels of such orders. Folded over records of intents. Pure. */

import { type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import { hexKey } from '../protocol/address.ts'

/** As a snapshot keeps them. */
export interface ExitOrdersState {
  /** Keys of orders of open intents. */
  readonly orders: readonly string[]
  /** Open edits and cancels that are about such orders alone. */
  readonly changes: readonly string[]
}

/** The fold: it holds no more than open intents have. */
export class ExitOrders {
  readonly #orders: Set<string>
  readonly #changes: Set<string>

  constructor({ orders, changes }: ExitOrdersState = { orders: [], changes: [] }) {
    this.#orders = new Set(orders)
    this.#changes = new Set(changes)
  }

  /** Takes in a record of an intent: its kind, and the intent with it. */
  fold(kind: string, after: IntentState): void {
    if (kind === 'intent.accepted') this.#accept(after)
    else if (kind === 'landed') for (const key of closingKeys(after)) this.#orders.add(key)
    else if (kind === 'intent.closed') for (const key of closingKeys(after)) this.#orders.delete(key)
  }

  /** Notes a change while its target rests for certain, at its acceptance; later the target may have ended before it. */
  #accept({ intent: { intentId, terms } }: IntentState): void {
    const keys = terms.edit === undefined ? (terms.cancelOrderKeys ?? []) : [terms.edit.orderKey]
    if (keys.length > 0 && keys.every((key) => this.#orders.has(hexKey(key)))) this.#changes.add(intentId)
  }

  /** Tells whether an edit or cancel concerns such orders alone. */
  isOfExits({ intent }: IntentState): boolean {
    return this.#changes.has(intent.intentId)
  }

  /** Nothing more comes of it. */
  forget({ intent }: IntentState): void {
    this.#changes.delete(intent.intentId)
  }

  /** For a snapshot. */
  state(): ExitOrdersState {
    return { orders: [...this.#orders], changes: [...this.#changes] }
  }
}

function closingKeys(state: IntentState): readonly string[] {
  const { kind } = state.intent
  const isAll = kind === 'decrease' || kind === 'close'
  return (lastAttempt(state)?.children ?? [])
    .filter((child) => isAll || isExit(child))
    .map(({ orderKey }) => hexKey(orderKey))
}
