/**
 * Allowance beyond slippage and tolerance in the signed prices of a day. Prices are widened by our own estimate of an order's price impact, which is
 * made from hosts' statements about a market. A host that lies about it could win the whole width with every order. So all orders of a day share a
 * budget (`signing.priceImpactPerDayUsd`); beyond it prices have their tolerance alone.
 */
import type { Intent } from '../domain/order/intent.ts'
import type { Usd } from '../protocol/units.ts'
import { impactCostUsd } from '../risk/checks/impactCheck.ts'
import { OPERATOR } from './halts/tradingHalts.ts'

/** The most that an estimate widens a price, bps: for orders that add risk, and for orders that reduce it. */
export interface MostImpact {
  readonly adding: number
  readonly reducing: number
}

/** The sum of strategies' intents, and of increases by hand, signed or not, USD. Reckoned once for a list, which nobody changes. */
export function impactSpentBy(intents: readonly Intent[], most: MostImpact): Usd {
  const known = summed.get(intents)
  if (known?.adding === most.adding && known.reducing === most.reducing) return known.costUsd
  const costUsd = intents.reduce((sum, intent) => (counts(intent) ? sum + costOf(intent, most) : sum), 0n)
  summed.set(intents, { adding: most.adding, reducing: most.reducing, costUsd })
  return costUsd
}

/** Sums of lists: the journal gives the day's intents as one list until one is added. */
const summed = new WeakMap<readonly Intent[], MostImpact & { readonly costUsd: Usd }>()

/** Tells whether an intent counts: an operator's reduction does not, an increase by hand does. */
function counts({ strategy, kind }: Intent): boolean {
  return strategy !== OPERATOR || kind === 'increase'
}

/** Costs that were reckoned: each decision asks for those of all orders of its day. */
const reckoned = new WeakMap<Intent, MostImpact & { readonly costUsd: Usd }>()

function costOf(intent: Intent, most: MostImpact): Usd {
  const known = reckoned.get(intent)
  if (known?.adding === most.adding && known.reducing === most.reducing) return known.costUsd
  const costUsd = reckonedCost(intent, most)
  reckoned.set(intent, { adding: most.adding, reducing: most.reducing, costUsd })
  return costUsd
}

function reckonedCost({ kind, terms }: Intent, { adding, reducing }: MostImpact): Usd {
  const isReduction = kind === 'decrease' || kind === 'close'
  const ofOrder = impactCostUsd(terms.priceImpactBps, terms.sizeDeltaUsd, isReduction ? reducing : adding)
  return (terms.tpsl ?? []).reduce(
    (sum, { priceImpactBps, sizeDeltaUsd }) => sum + impactCostUsd(priceImpactBps, sizeDeltaUsd, adding),
    ofOrder,
  )
}
