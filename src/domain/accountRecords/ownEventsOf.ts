/** Derives the events of a strategy's own orders (`memory/ownEvent.ts`) from a record. */
import { defined } from '../../base/defined.ts'
import type { FillEvent, FillFacts, RecordedEvent } from '../memory/ownEvent.ts'
import type { IntentState } from '../order/intent.ts'
import { type FilledOrder, filledOrders } from './fills.ts'

/**
 * Returns the events of an intent that the record numbered `seq`, written at `atMs`, caused. `before` is the intent's state without the record. Pure.
 */
export function ownEventsOf(
  before: IntentState | undefined,
  after: IntentState,
  seq: number,
): readonly RecordedEvent[] {
  const { intentId, decisionKey, kind: order, terms } = after.intent
  const base = { seq, atMs: after.updatedAtMs, decisionKey }
  const were = before === undefined ? [] : filledOrders(before)
  const are = filledOrders(after)
  const told = (kind: FillEvent['kind'], filled: FilledOrder): FillEvent => ({
    kind,
    ...base,
    ...factsOf(intentId, filled),
    isProvisional: filled.isProvisional,
  })
  const events: RecordedEvent[] = []
  for (const filled of were) {
    if (!are.some((each) => isSameFill(each, filled))) events.push(told('unfilled', filled))
  }
  for (const filled of are) {
    if (!were.some((each) => isSameFill(each, filled))) events.push(told('filled', filled))
  }
  if (after.closing !== undefined && before?.closing === undefined) {
    const { marketToken, direction } = terms
    const { outcome, code, reason } = after.closing
    events.push({ kind: 'closed', ...base, intentId, order, marketToken, direction, outcome, code, reason })
  }
  return events
}

/** Tells whether two fills say the same: a fill that became final unchanged, or one that the chain executed anew elsewhere. */
function isSameFill(one: FilledOrder, other: FilledOrder): boolean {
  return (
    one.orderKey === other.orderKey &&
    one.sizeDeltaUsd === other.sizeDeltaUsd &&
    one.settlement?.executionPrice === other.settlement?.executionPrice
  )
}

function factsOf(intentId: string, filled: FilledOrder): FillFacts {
  const { orderKey, role = 'main', marketToken, direction, collateralToken, adds, sizeDeltaUsd } = filled
  const { executionPrice, feesUsd, priceImpactUsd, pnlUsd } = filled.settlement ?? {}
  return {
    intentId,
    role,
    marketToken,
    direction,
    collateralToken,
    adds,
    ...defined({
      orderKey,
      sizeDeltaUsd: sizeDeltaUsd === undefined ? undefined : sizeDeltaUsd < 0n ? -sizeDeltaUsd : sizeDeltaUsd,
      executionPrice,
      feesUsd,
      priceImpactUsd,
      pnlUsd: adds ? undefined : pnlUsd,
    }),
  }
}
