/**
 * Our own estimate of fees: what orders of a kind paid that landed. A host says what a fee is, and a highest fee alone would
 * let it take that from every order; what the chain took before is the second opinion (security document, section 2).
 */
import { type Intent, type IntentState, lastAttempt } from '../domain/intent.ts'
import { expectedOf } from '../domain/machine/expected.ts'
import { maxOf, type TokenAmount } from '../domain/units.ts'
import { isAdding } from '../domain/warning.ts'
import type { FeeEstimate } from './policy.ts'

/** Landed orders of a kind that an estimate stands on: one that was dear moves the middle of so many by little. */
const REMEMBERED = 15

/** What an estimate starts from. */
export interface UsualFees {
  /** Least that a fee is taken for; of one order, native token, base units. */
  readonly executionFee: TokenAmount
  /** The same of the relay's fee, base units of the fee token. */
  readonly relayFee: TokenAmount
  /** How many times the estimate is signed. */
  readonly factor: number
}

/** Learns from landings, and estimates. */
export interface FeeMemory {
  /** Takes the fees of an intent whose message landed; anything else, and what is known already, adds nothing. */
  learn(state: IntentState): void
  /** Undefined for what is not bounded so: what takes risk away, and messages of our own. */
  estimateFor(intent: Pick<Intent, 'kind' | 'reservationUsd'>): FeeEstimate | undefined
}

interface Paid {
  readonly executionFee: TokenAmount
  readonly relayFee: TokenAmount
}

/** A memory of nothing yet. */
export function createFeeMemory(usual: UsualFees): FeeMemory {
  const kinds = new Map<Intent['kind'], Map<string, Paid>>()
  return {
    learn(state) {
      const { intent } = state
      const attempt = lastAttempt(state)
      if (intent.kind === 'batch' || attempt?.phase !== 'LANDED' || attempt.armed === undefined) return
      const orders = expectedOf(intent).orders.length
      if (orders === 0) return
      const paid = kinds.get(intent.kind) ?? new Map<string, Paid>()
      kinds.set(intent.kind, paid)
      const { executionFee, relayFeeAmount } = attempt.armed
      paid.set(intent.intentId, {
        executionFee: executionFee / BigInt(orders),
        relayFee: relayFeeAmount / BigInt(orders),
      })
      const [oldest] = paid.keys()
      if (paid.size > REMEMBERED && oldest !== undefined) paid.delete(oldest)
    },
    estimateFor(intent) {
      // A gas spike must hold no close back: what takes risk away is bounded by the highest fees alone.
      if (intent.kind === 'batch' || !isAdding(intent)) return undefined
      const paid = [...(kinds.get(intent.kind)?.values() ?? [])]
      return {
        executionFee: maxOf(usual.executionFee, middleOf(paid.map((each) => each.executionFee))),
        relayFee: maxOf(usual.relayFee, middleOf(paid.map((each) => each.relayFee))),
        factor: BigInt(usual.factor),
      }
    },
  }
}

/** The middle of the values, the lower of two; 0 of none. */
function middleOf(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((one, other) => (one < other ? -1 : 1))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0n
}
