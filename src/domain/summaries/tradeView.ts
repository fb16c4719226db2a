/** Fills as people and scripts see them: one row for each order of ours that was executed. Pure projections of the journal. */
import { isoTime } from '../../base/clock.ts'
import type { Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { filledAtMs } from '../accountRecords/fills.ts'
import { type IntentState, lastAttempt } from '../order/intent.ts'
import { isExit, type LegLookups, legsOf } from '../order/orderLegs.ts'
import { type PnlParts, pnlParts } from './orderView.ts'

/** One fill. Amounts and prices are decimal texts of integers with 30 decimals; null: not known, or there is none. */
export interface TradeRow extends PnlParts {
  readonly intentId: string
  readonly orderKey: Hex
  readonly strategy: string
  readonly market: string
  readonly direction: Direction
  /** `increase`, `close`, `decrease`, or which exit it was: `take-profit`, `stop-loss`. */
  readonly kind: string
  /** ISO 8601, UTC: of the chain where it is known, else when perpd saw it. */
  readonly filledAt: string
  readonly sizeDeltaUsd: string | null
  /** USD per whole index token. */
  readonly executionPrice: string | null
  readonly feesUsd: string | null
  readonly priceImpactUsd: string | null
  readonly transactionHash: Hex | null
  /** The chain may take it back. */
  readonly isProvisional: boolean
}

/** The fills of an intent, oldest first. */
export function tradeRows(state: IntentState, lookups: LegLookups = {}): readonly TradeRow[] {
  const { intent } = state
  const children = lastAttempt(state)?.children ?? []
  return legsOf(state, lookups)
    .filter(({ phase }) => phase === 'EXECUTED')
    .map((leg) => {
      const child = children.find(({ orderKey }) => orderKey === leg.orderKey)
      const { transactionHash } = child?.settlement ?? {}
      return {
        intentId: intent.intentId,
        orderKey: leg.orderKey,
        strategy: intent.strategy,
        market: intent.terms.symbol,
        direction: intent.terms.direction,
        kind: isExit(leg) ? leg.role : intent.kind,
        filledAt: isoTime(filledAtMs(state, child)),
        sizeDeltaUsd: leg.sizeDeltaUsd?.toString() ?? null,
        executionPrice: leg.executionPrice?.toString() ?? null,
        feesUsd: leg.feesUsd?.toString() ?? null,
        priceImpactUsd: leg.priceImpactUsd?.toString() ?? null,
        ...pnlParts(leg),
        transactionHash: (transactionHash ?? null) as Hex | null,
        isProvisional: leg.isProvisional,
      }
    })
}
