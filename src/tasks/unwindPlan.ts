/**
 * Plan for unwinding an order (`unwindTask.ts`). It follows from the order's own story alone, and every process gives its decisions the same keys, so
 * that no restart forgets or repeats one.
 */
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { fillsOf } from '../domain/accountRecords/fills.ts'
import { hasEnded, type IntentState, isWaiting, lastAttempt } from '../domain/order/intent.ts'
import type { Hex } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'

/** Size that the order opened on one side, USD, above zero. */
export interface Opened extends PositionSide {
  readonly sizeUsd: Usd
}

/** Step that the unwind of an order requires by its present story. */
export type UnwindStep =
  /** Its fate is not proven, or a keeper has yet to decide it: nothing may be done that would be wrong in one of its fates. */
  | { readonly kind: 'wait' }
  /** These orders of it wait at the venue. */
  | { readonly kind: 'cancel'; readonly orderKeys: readonly Hex[] }
  /** It is over and opened this much. */
  | { readonly kind: 'reduce'; readonly opened: readonly Opened[] }
  /** It is over and opened nothing. */
  | { readonly kind: 'over'; readonly statement: string }

/**
 * Returns the next step. Pure. Waiting orders are cancelled before anything is reduced: an exit that fired during the reduction would close a
 * position that is not the order's. A provisional end does not count.
 */
export function unwindStepOf(state: IntentState): UnwindStep {
  if (state.closing !== undefined) {
    const opened = openedBy(state)
    if (opened.length > 0) return { kind: 'reduce', opened }
    return { kind: 'over', statement: `it opened nothing: ${state.closing.reason}` }
  }
  const attempt = lastAttempt(state)
  if (attempt?.phase !== 'LANDED') return { kind: 'wait' }
  const resting = attempt.children.filter((child) => !hasEnded(child) && isWaiting(state.intent, child))
  return resting.length === 0
    ? { kind: 'wait' }
    : { kind: 'cancel', orderKeys: resting.map(({ orderKey }) => orderKey) }
}

/**
 * Returns the size that a closed intent added to positions, less its own exits' reductions, by side. Where an operator's statement replaces the
 * evidence, the signed size counts.
 */
export function openedBy(state: IntentState): readonly Opened[] {
  const { kind, terms } = state.intent
  const bySide = new Map<string, Opened>()
  for (const { sizeDeltaUsd, ...side } of fillsOf(state)) {
    // A fill without its size is a statement, or an exit whose row does not give it. The former adds all; the latter reduced by no known size, and
    // the observed position bounds the reduction.
    const moved = sizeDeltaUsd ?? (kind === 'increase' && isStatement(state) ? terms.sizeDeltaUsd : 0n)
    const key = sideKeyOf(side)
    bySide.set(key, { ...side, sizeUsd: (bySide.get(key)?.sizeUsd ?? 0n) + moved })
  }
  return [...bySide.values()].filter(({ sizeUsd }) => sizeUsd > 0n)
}

function isStatement({ closing }: IntentState): boolean {
  return closing?.evidence.level === 'operator'
}

/** Number of tries of the same step: each only after the previous one ended and is proven to have had no effect. */
export const UNWIND_TRIES = 5

/**
 * Key of the decision that unwinds an order: the same in every process, so that the journal takes it once. `part` counts the
 * sides that it opened, `tryNo` the tries, both from 1.
 */
export function unwindKeyOf(
  what: 'unwind' | 'unwind-cancel',
  intentId: string,
  part: number,
  tryNo: number,
): string {
  return `${what}:${intentId}${part === 1 ? '' : `.${part}`}${tryNo === 1 ? '' : `#${tryNo}`}`
}

/** Returns the keys of all decisions that may unwind the order by its present story: every try of its next step. */
export function unwindKeysOf(state: IntentState): readonly string[] {
  const { intentId } = state.intent
  const step = unwindStepOf(state)
  const tries = Array.from({ length: UNWIND_TRIES }, (_each, index) => index + 1)
  if (step.kind === 'cancel') return tries.map((tryNo) => unwindKeyOf('unwind-cancel', intentId, 1, tryNo))
  if (step.kind !== 'reduce') return []
  return step.opened.flatMap((_side, index) =>
    tries.map((tryNo) => unwindKeyOf('unwind', intentId, index + 1, tryNo)),
  )
}
