/** Times from a signed order to its execution, as a session of paper or live trading had them: its journal is the source. Pure. */
import type { IntentState } from '../domain/order/intent.ts'

/** Fewest executions that make a distribution. */
export const LEAST_EXECUTIONS = 20
/** Steps of a distribution. */
const STEPS = 20
/** Nothing executes sooner, ms: blocks are dated in whole seconds. */
const LEAST_MS = 1_000

/** Kinds of which the keeper executes the order at once, not when its price comes. */
const marketKinds: ReadonlySet<string> = new Set(['increase', 'decrease', 'close'])

/** The delays of all market orders that executed, ms, ascending. A block's time is whole seconds: what looks shorter than a second counts as one. */
export function delaysOf(intents: readonly IntentState[]): readonly number[] {
  return intents
    .filter(({ intent }) => marketKinds.has(intent.kind))
    .flatMap(({ attempts }) =>
      attempts.flatMap(({ armedAtMs, children }) => {
        const [first] = children
        const atSeconds = first?.phase === 'EXECUTED' ? first.settlement?.timestampSeconds : undefined
        return armedAtMs === undefined || atSeconds === undefined ? [] : [atSeconds * 1000 - armedAtMs]
      }),
    )
    .map((delayMs) => Math.max(LEAST_MS, delayMs))
    .toSorted((one, other) => one - other)
}

/** Makes a distribution: the middle delay of each twentieth, ms, ascending. Undefined for fewer than `LEAST_EXECUTIONS` delays. */
export function distributionOf(delaysMs: readonly number[]): readonly number[] | undefined {
  if (delaysMs.length < LEAST_EXECUTIONS) return undefined
  return Array.from(
    { length: STEPS },
    (_, step) => delaysMs[Math.floor(((step + 0.5) * delaysMs.length) / STEPS)] ?? 0,
  )
}
