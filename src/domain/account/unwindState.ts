/**
 * Orders that nobody wants any more while their fate is open (docs/orders.md 11). An order cannot be
 * called back once its signature left; it can be unwound if it lands. The decision is kept in the journal as records of the
 * account; what it calls for is in `unwindPlan.ts`.
 */
/**
 * How it ended. `nothing-landed`: the order opened nothing. `flat`: what it opened is closed, or was gone already.
 * `given-up`: its undoing ended without effect too often; an operator must look.
 */
export type UnwindOutcome = 'nothing-landed' | 'flat' | 'given-up'

/** An order that is to be unwound if it lands. */
export interface UnwindState {
  readonly intentId: string
  /** An operator's name, or the strategy whose order it is. */
  readonly by: string
  /** One sentence. */
  readonly reason: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly endedAtMs?: number
  readonly outcome?: UnwindOutcome
  /** One sentence: what came of it. */
  readonly statement?: string
}

/** What the journal keeps of it: the part of an account's record that is not its stamp. `of` is the order's intent. */
export type UnwindEntry =
  | { readonly kind: 'flatten.wanted'; readonly of: string; readonly by: string; readonly reason: string }
  | {
      readonly kind: 'flatten.ended'
      readonly of: string
      readonly outcome: UnwindOutcome
      readonly statement: string
    }

/** Kinds of the entries above. */
export const unwindKinds = [
  'flatten.wanted',
  'flatten.ended',
] as const satisfies readonly UnwindEntry['kind'][]

/** All of a journal, by intent, oldest first. */
export type Unwinds = ReadonlyMap<string, UnwindState>

/**
 * The fold after one more entry of `atMs`. Pure. A second ask for one order changes nothing, and neither does an end
 * without a decision.
 */
export function applyUnwindEntry(fold: Unwinds, entry: UnwindEntry, atMs: number): Unwinds {
  const known = fold.get(entry.of)
  if (entry.kind === 'flatten.wanted') {
    if (known !== undefined) return fold
    const { of: intentId, by, reason } = entry
    return new Map(fold).set(intentId, { intentId, by, reason, sinceMs: atMs })
  }
  if (known === undefined || known.endedAtMs !== undefined) return fold
  const { outcome, statement } = entry
  return new Map(fold).set(entry.of, { ...known, endedAtMs: atMs, outcome, statement })
}
