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
  /**
   * Of strategies' intents, and of increases by hand, since 00:00 UTC, signed or not, USD; with those of `more`, which are not
   * accepted yet.
   */
  of(nowMs: number, more?: readonly Intent[]): Usd
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
    const { acceptedAtMs } = intent
    if (!counts(intent) || acceptedAtMs < dayMs) return
    if (dayStartOf(acceptedAtMs) > dayMs) {
      dayMs = dayStartOf(acceptedAtMs)
      spentUsd = 0n
    }
    spentUsd += costOf(intent)
  }

  /** An operator's way out is outside of it; what one opens by hand is not. */
  function counts({ strategy, kind }: Intent): boolean {
    return strategy !== OPERATOR || kind === 'increase'
  }

  function costOf({ kind, terms }: Intent): Usd {
    const { adding, reducing } = most()
    const isReduction = kind === 'decrease' || kind === 'close'
    const ofOrder = impactCostUsd(terms.priceImpactBps, terms.sizeDeltaUsd, isReduction ? reducing : adding)
    return (terms.tpsl ?? []).reduce(
      (sum, { priceImpactBps, sizeDeltaUsd }) => sum + impactCostUsd(priceImpactBps, sizeDeltaUsd, adding),
      ofOrder,
    )
  }

  for (const { intent } of before) add(intent)
  return {
    add,
    of: (atMs, more = []) =>
      more.reduce(
        (sum, intent) => (counts(intent) ? sum + costOf(intent) : sum),
        dayStartOf(atMs) > dayMs ? 0n : spentUsd,
      ),
  }
}
