/** Words and fields of a decision, an order and its attempt, for lines of the log. */

import type { StrategyDecision } from '../../domain/order/decision.ts'
import { type Intent, type IntentState, type Label, lastAttempt } from '../../domain/order/intent.ts'
import { orderTypeName } from '../../domain/order/orderTerms.ts'
import { shortHex } from '../../protocol/address.ts'
import { formatExactPrice } from '../../protocol/priceText.ts'
import type { Usd } from '../../protocol/units.ts'
import { counted, money, shortId } from '../text.ts'
import type { Field, Level } from './eventRow.ts'

/** A decision in a sentence, without who made it. */
export function decisionText(decision: StrategyDecision, symbol: string): string {
  if (decision.kind === 'unwind') return `unwind the order ${shortId(decision.intentId)} if it lands`
  if (decision.kind === 'start-task') return `begin the ${decision.task.kind} ${decision.label}`
  if (decision.kind === 'stop-task') return `end the task ${decision.label}`
  if (decision.kind === 'prepare-approval')
    return `prepare a renewal of the approval: ${decision.actions} actions, ${counted(decision.days, 'day')}`
  if (decision.kind === 'prepare-claim')
    return `prepare a claim of due amounts above ${money(decision.aboveUsd)}`
  const { direction } = decision
  switch (decision.kind) {
    case 'increase':
      return `open a ${direction} of ${money(decision.sizeDeltaUsd)} on ${symbol}${how(decision)}`
    case 'decrease':
      return `reduce the ${direction} on ${symbol} by ${money(decision.sizeDeltaUsd)}${how(decision)}`
    case 'close':
      return `close the ${direction} on ${symbol}`
    case 'swap':
      return `${direction === 'long' ? 'buy' : 'sell'} the long token of ${symbol} by a swap`
    case 'edit':
      return `edit the order ${shortHex(decision.orderKey)} of the ${direction} on ${symbol}`
    case 'cancel':
      return `cancel ${counted(decision.orderKeys.length, 'order')} of the ${direction} on ${symbol}`
    case 'collateral-in':
      return `add collateral to the ${direction} on ${symbol}`
    case 'collateral-out':
      return `withdraw collateral from the ${direction} on ${symbol}`
    case 'report-order':
      return `report the order ${shortHex(decision.orderKey)} of the ${direction} on ${symbol}`
    case 'batch':
      return `send its own batch for the ${direction} on ${symbol}`
  }
}

/** Half a cent, USD with 30 decimals. */
const HALF_CENT = 5n * 10n ** 27n

/** Describes the trigger or form of an order: ` at $1,900.00 (limit)`, ` in 4 parts (twap)`; nothing for a market order. */
function how(order: {
  readonly orderType?: string
  readonly triggerPrice?: Usd
  readonly twap?: { readonly parts: number }
}): string {
  if (order.orderType === undefined || order.orderType === 'market') return ''
  const where = order.triggerPrice === undefined ? '' : ` at ${formatExactPrice(order.triggerPrice)}`
  const parts = order.twap === undefined ? '' : ` in ${order.twap.parts} parts`
  return `${where}${parts} (${orderTypeName(order.orderType)})`
}

/** Fields of a line about a decision. */
export const decisionFields: readonly Field<{ readonly decision: StrategyDecision }>[] = [
  ['direction', ({ decision }) => ('direction' in decision ? decision.direction : undefined)],
  ['kind', ({ decision }) => decision.kind],
  ['label', ({ decision }) => ('label' in decision ? decision.label : undefined)],
  ['intent_id', ({ decision }) => (decision.kind === 'unwind' ? decision.intentId : undefined)],
]

/** Fields of a line about an order. */
export const orderFields: readonly Field<{ readonly intent: Intent }>[] = [
  ['intent_id', ({ intent }) => intent.intentId],
  ['strategy', ({ intent }) => intent.strategy],
  ['market', ({ intent }) => intent.terms.symbol],
  ['direction', ({ intent }) => intent.terms.direction],
  ['kind', ({ intent }) => intent.kind],
  ['size_delta_usd', ({ intent }) => intent.terms.sizeDeltaUsd],
]

/** Fields that an order's newest attempt adds to a line. */
export const attemptFields: readonly Field<{ readonly state: IntentState }>[] = [
  ['host', ({ state }) => lastAttempt(state)?.host],
  ['request_id', ({ state }) => lastAttempt(state)?.armed?.requestId],
  ['digest', ({ state }) => lastAttempt(state)?.armed?.digest],
  ['execution_fee', ({ state }) => lastAttempt(state)?.armed?.executionFee],
  ['whole_fee', ({ state }) => lastAttempt(state)?.armed?.relayFeeAmount],
  ['fee_estimate', ({ state }) => lastAttempt(state)?.armed?.feeEstimate],
  ['task_id', ({ state }) => lastAttempt(state)?.send?.taskId],
  ['trace_id', ({ state }) => lastAttempt(state)?.send?.traceId],
]

/** Upper bounds of what waits for a host, seconds. */
export const networkBuckets = [
  ...[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
]

/** Each label as it is said of an order. */
export const labelWords: Readonly<Record<Label, string>> = {
  planned: 'is planned',
  pending: 'is in flight',
  resting: 'rests at the venue',
  executed: 'executed',
  cancelled: 'was cancelled by the venue',
  reverted: 'reverted on chain',
  failed: 'failed',
  unknown: 'has an unknown outcome',
  expired: 'expired',
  refused: 'was not sent',
}

/** Labels of orders that have ended. */
export const closedLabels: readonly Label[] = [
  ...(['executed', 'cancelled', 'reverted', 'failed', 'expired', 'refused'] as const),
]

/** Level of the line that tells of a label. */
export const labelLevels: Readonly<Record<Label, Level>> = {
  planned: 'debug',
  pending: 'info',
  resting: 'info',
  executed: 'info',
  cancelled: 'warn',
  reverted: 'warn',
  failed: 'warn',
  unknown: 'warn',
  expired: 'warn',
  refused: 'warn',
}

/** Tells whether an amount would be shown as zero. */
export function isBelowCent(amount: Usd): boolean {
  return amount < HALF_CENT && amount > -HALF_CENT
}
