/** Derived facts of an order besides its label: none of them is stored, and no decision depends on them. */

import { defined } from '../../base/defined.ts'
import type { EvidenceRules } from '../machine/observation.ts'
import { type IntentState, isOpen, isUnresolved, lastAttempt } from '../order/intent.ts'

/** Marks on an order. */
export interface OrderMarks {
  /** The person or strategy who requested its unwind; it is unwound if it lands. */
  readonly unwantedBy?: string
  /**
   * Time since its signed deadline, seconds, when no chain is configured and no host or row shows its fate. It is presumed dead, and only an operator
   * may say so (PRESUMED_DEAD, docs/orders.md, "What you see").
   */
  readonly presumedDeadForSeconds?: number
}

/** Rules for making marks. `nowMs`: our own clock, Unix ms, which marks the display and proves nothing. */
export interface MarkRules extends Pick<EvidenceRules, 'source' | 'deadlineMarginMs'> {
  readonly nowMs: number
}

/** The marks of an order. `unwind`: its unwind, running or ended; undefined: none. Pure. */
export function marksOf(
  state: IntentState,
  unwind: { readonly by: string } | undefined,
  rules: MarkRules,
): OrderMarks {
  const unwantedBy = unwind?.by
  const presumedDeadForSeconds = presumedDeadFor(state, rules)
  return {
    ...defined({ unwantedBy, presumedDeadForSeconds }),
  }
}

function presumedDeadFor(
  state: IntentState,
  { source, deadlineMarginMs, nowMs }: MarkRules,
): number | undefined {
  const attempt = lastAttempt(state)
  // With endpoints the chain proves death itself, and an unproven death is not presumed.
  if (source === 'chain' || !isOpen(state) || attempt?.armed === undefined || !isUnresolved(attempt)) {
    return undefined
  }
  const deadlineMs = attempt.armed.deadlineSeconds * 1_000
  return nowMs > deadlineMs + deadlineMarginMs ? Math.floor((nowMs - deadlineMs) / 1_000) : undefined
}
