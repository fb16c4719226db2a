/** Answers to an operator's commands. */

import type { LimitRow, WaitingLimit } from '../account/liveLimits.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { StrategyDifference } from '../engine/roster/rosterPlan.ts'
import { marketsNamed, type NamedMarket } from '../protocol/marketName.ts'
import type { Usd } from '../protocol/units.ts'
import type { KillPreview } from '../running/killPlan.ts'
import type { CloseQuote, ManualQuote } from './quotes/manualQuote.ts'
import { unknownMarketText } from './unknownMarket.ts'

/** Outcome of a command: a sentence, or a refusal with a code. `intentId`: the order that carries it out; absent for a preview, and for what is no order. */
export type OperatorAnswer =
  | {
      readonly ok: true
      readonly statement: string
      readonly intentId?: string
      /** Starts of tasks only: its id. */
      readonly taskId?: string
      /** Previews of tasks only: the whole symbol of the market that a short one means. */
      readonly market?: string
      /** Previews of tasks only: the fees that a start must agree to (`maxFees`), USD, where they may exceed 2 % of its size. */
      readonly maxFees?: string
      /** Previews only: the quote of an order that opens, or of one that closes. */
      readonly quote?: ManualQuote
      readonly closing?: CloseQuote
      /** The preview of a kill. */
      readonly killing?: KillPreview
      /** Previews of a cancel only: it removes the last stop-loss of an open position. */
      readonly isLastStop?: true
      /** Previews of protect and move only: a stop-loss goes away, or moves to where more is lost. */
      readonly isLooser?: true
      /** Readings of the limits only: the limits in force afterwards. */
      readonly limits?: readonly LimitRow[]
      /** True for a reading that changed limits: `limits.changed` reports the changes. */
      readonly isChanged?: true
      /** Previews of them only: limits that are configured otherwise. */
      readonly waiting?: readonly WaitingLimit[]
      /** Differences of strategy files from the strategies that ran before the reading; in a preview, from those that run. */
      readonly strategies?: readonly StrategyDifference[]
    }
  | {
      readonly ok: false
      readonly code: string
      readonly reason: string
      /** MARKET_AMBIGUOUS where a pool must be chosen: those that the name means. */
      readonly pools?: readonly PoolChoice[]
    }

/** A pool that a short symbol may mean. */
export interface PoolChoice {
  readonly symbol: string
  /** Capacity of the side, USD; null: nothing fresh says it. */
  readonly freeUsd: Usd | null
}

/** An answer that says no, with its code. */
export type Refusal = Extract<OperatorAnswer, { readonly ok: false }>

/** The one market that was meant, or why there is none. */
export function theOne<T extends NamedMarket>(listed: readonly T[], name: string): T | Refusal {
  const found = marketsNamed(listed, name)
  const [one] = found
  if (one === undefined)
    return refusal(
      'MARKET_UNKNOWN',
      unknownMarketText(
        listed.map(({ symbol }) => symbol),
        name,
      ),
    )
  if (found.length === 1) return one
  const symbols = found.map(({ symbol }) => JSON.stringify(symbol)).join(', ')
  return refusal('MARKET_AMBIGUOUS', `${name} matches ${symbols}; give the whole symbol`)
}

/** A denial of admission as an answer. */
export function denied({ code, reason, wanted, allowed }: Denial): Refusal {
  const bounds =
    wanted === undefined ? '' : ` (asked: ${wanted}${allowed === undefined ? '' : `; allowed: ${allowed}`})`
  return refusal(code, `${reason.replace(/\.$/, '')}${bounds}`)
}

/** A refusal with this code and reason. */
export function refusal(code: string, reason: string): Refusal {
  return { ok: false, code, reason }
}

/** An answer that a command was carried out, in one clause. */
export function done(statement: string): OperatorAnswer {
  return { ok: true, statement }
}
