/** What holds trading back, as an operator may end it: by the whole daemon, or by one strategy. Pure. */
import type { Status } from './pageWire.ts'

/** One of a status's `halts`. */
export type Halt = Status['halts'][number]

/** Whether an operator's word ends it; others end with their cause alone. */
export function mayBeLifted({ releasedBy }: Halt): boolean {
  return releasedBy !== 'itself'
}

/** Whether it is on one strategy alone: what lets all trading go on leaves it. */
export function isOfOneStrategy({ scope }: Halt): boolean {
  return scope.startsWith('strategy:')
}
