/** Notifies people of a resting order for a strategy: an event, and nothing at the venue. */

import type { HasCatalogue } from '../account/accountParts.ts'
import type { ReportDecision } from '../domain/order/decision.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { HasEmit } from '../execution/context/executionParts.ts'
import { marketSymbol } from '../market/marketSymbol.ts'

/** Tells it. */
export function reportOrder(
  { catalogue, emit }: HasCatalogue & HasEmit,
  strategy: string,
  { orderKey, marketToken, direction, cause, reason, isOver }: ReportDecision,
  snapshot: Snapshot,
): void {
  const symbol = marketSymbol(catalogue, snapshot, marketToken)
  emit({ type: 'order.untidy', strategy, orderKey, symbol, direction, cause, reason, isOver })
}
