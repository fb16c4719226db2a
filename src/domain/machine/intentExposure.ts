/** Exposure that open intents may still add, at worst: sizing and limits count the sum as if it had happened. */
import { maxOf, type Usd } from '../../protocol/units.ts'
import { fillsOf } from '../accountRecords/fills.ts'
import {
  type Child,
  hasEnded,
  type IntentState,
  isOpen,
  isProvisional,
  lastAttempt,
} from '../order/intent.ts'

/**
 * The reservation an intent still holds, USD: all of it from J1 on, and after a final landing the share of the orders that
 * have not reached a final end. Nothing after J7.
 */
export function reservedOf(state: IntentState): Usd {
  if (!isOpen(state)) return 0n
  const { reservationUsd } = state.intent
  const attempt = lastAttempt(state)
  if (attempt?.phase !== 'LANDED' || isProvisional(attempt.evidence)) return reservationUsd
  const adding = attempt.children.filter(adds)
  if (adding.length === 0) return reservationUsd
  const left = adding.filter((child) => !hasEnded(child) || isProvisional(child.evidence)).length
  // Parts are equal except for the dropped rounding, which counts with the rest.
  const part = reservationUsd / BigInt(adding.length)
  return left === 0 ? 0n : reservationUsd - part * BigInt(adding.length - left)
}

/** Tells whether an open intent can still add exposure. It cannot once all its orders reached their end and it only waits for its exits. */
export function mayStillAdd(state: IntentState): boolean {
  return reservedOf(state) > 0n
}

function adds(child: Child): boolean {
  return child.role !== 'take-profit' && child.role !== 'stop-loss'
}

/** Worst-case exposure of all intents, USD. */
export function worstCase(states: Iterable<IntentState>): Usd {
  let sum = 0n
  for (const state of states) sum += reservedOf(state)
  return sum
}

/** Returns the part of a reservation that is not filled yet by the journal, USD. */
export function comingOf(state: IntentState): Usd {
  const reservedUsd = reservedOf(state)
  const filledUsd = fillsOf(state).reduce((sum, { sizeDeltaUsd = 0n }) => sum + maxOf(0n, sizeDeltaUsd), 0n)
  const stillReservedUsd = filledUsd - (state.intent.reservationUsd - reservedUsd)
  return maxOf(0n, reservedUsd - maxOf(0n, stillReservedUsd))
}
