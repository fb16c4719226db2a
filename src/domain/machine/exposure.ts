/** What open intents may still add, at worst: the sum that sizing and limits count as if it had happened. */
import { type IntentState, isOpen } from '../intent.ts'
import type { Usd } from '../units.ts'

/** The reservation an intent still holds: all of it from J1 to J7, nothing after. */
export function reservedOf(state: IntentState): Usd {
  return isOpen(state) ? state.intent.reservationUsd : 0n
}

/** Worst-case exposure of all intents, USD. */
export function worstCase(states: Iterable<IntentState>): Usd {
  let sum = 0n
  for (const state of states) sum += reservedOf(state)
  return sum
}
