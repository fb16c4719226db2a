/** At how many of its crash points a story is told: each n-th, of those a third at each change, and all of them by hand. */
import { ofShare, shareOfChange } from '../gate/depth.ts'

/**
 * Every how many boundaries of a story the process ends: what the test says, or `CRASH_STRIDE`. 1: at all of them. An odd one meets
 * boundaries before a record and after one by turns.
 *
 * @throws RangeError when it is no whole number from 1 on
 */
export function crashStride(usual: number): number {
  const { CRASH_STRIDE: asked } = process.env
  const stride = asked === undefined ? usual : Number(asked)
  if (!Number.isInteger(stride) || stride < 1)
    throw new RangeError(`CRASH_STRIDE is ${asked}; expected a whole number from 1 on`)
  return stride
}

/** The boundaries of a story, from `first` on, at which the process ends. An odd stride keeps its turns in the share of a change too. */
export function crashedAt(boundaries: number, usual: number, first = 1): readonly number[] {
  const stride = crashStride(usual)
  const points: number[] = []
  for (let at = first; at <= boundaries; at += stride) points.push(at)
  return ofShare(points, shareOfChange(3))
}

/** How long a test of them may take, ms: ten minutes where it ends the process as often as it usually does, else as many times longer. */
export function crashTimeoutMs(usual: number): number {
  return Math.ceil((600_000 * usual) / Math.min(usual, crashStride(usual)))
}
