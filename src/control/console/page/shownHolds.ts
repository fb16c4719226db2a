/** What holds trading back, as an operator may end it: by the whole daemon, or by one strategy. Pure. */
import type { Status } from './pageWire.ts'

/** One of a status's `holds`. */
export type Hold = Status['holds'][number]

/** Whether an operator's word ends it; others end with their cause alone. */
export function mayBeLifted({ lifts }: Hold): boolean {
  return lifts !== 'itself'
}

/** Whether it is on one strategy alone: what lets all trading go on leaves it. */
export function isOfOneStrategy({ scope }: Hold): boolean {
  return scope.startsWith('strategy:')
}
