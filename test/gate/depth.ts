/**
 * How many of its cases a deep file tries. All of them: run by hand, and by `npm run test:full`. Of a change (`npm run test:deep`) a share, another
 * one at each change: GATE_CHANGE is a number that follows from the code (run.ts). The same number tries the same cases again.
 */

/** One case of each so many. */
export interface CaseShare {
  /** The first of them, 0 to `every - 1`. */
  readonly from: number
  /** 1: all cases. */
  readonly every: number
}

/**
 * Returns the share of a change where one case of each `parts` is tried, and all cases without GATE_CHANGE.
 *
 * @throws RangeError when GATE_CHANGE is no whole number from 0 on
 */
export function shareOfChange(parts: number): CaseShare {
  const { GATE_CHANGE: asked } = process.env
  if (asked === undefined) return { from: 0, every: 1 }
  const change = Number(asked)
  if (!Number.isInteger(change) || change < 0)
    throw new RangeError(`GATE_CHANGE is ${asked}; expected a whole number from 0 on`)
  return { from: change % parts, every: parts }
}

/** Returns the cases of a share, in their order. */
export function ofShare<T>(cases: readonly T[], { from, every }: CaseShare): readonly T[] {
  return cases.filter((_, at) => at % every === from)
}
