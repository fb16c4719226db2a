/**
 * What signed prices of a day may leave beyond slippage and tolerance. They are widened by our own estimate of an order's price
 * impact, and that is made from what hosts say of a market: whoever lies of it could win the whole width with every order. So
 * all of a day together has a budget (`signing.priceImpactPerDayUsd`); past it prices have their tolerance alone.
 */
import type { Intent, IntentState } from '../../domain/order/intent.ts'
import type { Usd } from '../../protocol/units.ts'
import { dayStartOf } from '../../risk/breakers/circuitBreakers.ts'
import { impactCostUsd } from '../../risk/checks/impactCheck.ts'
import { OPERATOR } from '../account/tradingHalts.ts'

/** The sum, over restarts too: it begins with what the journal holds. */
export interface ImpactSpent {
  add(intent: Intent): void
  /** Of strategies' intents, and of increases by hand, since 00:00 UTC, signed or not, USD. */
  of(nowMs: number): Usd
}

/** The most that an estimate widens a price, bps: of what adds risk, and of what takes it away. */
export interface MostImpact {
  readonly adding: number
  readonly reducing: number
}

/** Begins with intents of before; those of earlier days are left out. */
export function createImpactSpent(
  before: readonly IntentState[],
  most: () => MostImpact,
  nowMs: number,
): ImpactSpent {
  let dayMs = dayStartOf(nowMs)
  let spentUsd = 0n

  function add(intent: Intent): void {
    const { acceptedAtMs, strategy, kind, terms } = intent
    // An operator's way out is outside of it; what one opens by hand is not.
    if ((strategy === OPERATOR && kind !== 'increase') || acceptedAtMs < dayMs) return
    if (dayStartOf(acceptedAtMs) > dayMs) {
      dayMs = dayStartOf(acceptedAtMs)
      spentUsd = 0n
    }
    const { adding, reducing } = most()
    const isReduction = kind === 'decrease' || kind === 'close'
    spentUsd += impactCostUsd(terms.priceImpactBps, terms.sizeDeltaUsd, isReduction ? reducing : adding)
    for (const { priceImpactBps, sizeDeltaUsd } of terms.tpsl ?? [])
      spentUsd += impactCostUsd(priceImpactBps, sizeDeltaUsd, adding)
  }

  for (const { intent } of before) add(intent)
  return {
    add,
    of: (atMs) => (dayStartOf(atMs) > dayMs ? 0n : spentUsd),
  }
}
