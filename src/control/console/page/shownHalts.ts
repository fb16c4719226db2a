/** The halts on trading, as an operator may lift them: of the whole daemon, or of one strategy. Pure. */
import type { Status } from './pageWire.ts'

/** One of a status's `halts`. */
export type Halt = Status['halts'][number]

/** Tells whether an operator can lift the halt; others end with their cause alone. */
export function mayBeLifted({ releasedBy }: Halt): boolean {
  return releasedBy !== 'itself'
}

/** Tells whether the halt is on one strategy alone; resuming all trading leaves it in force. */
export function isOfOneStrategy({ scope }: Halt): boolean {
  return scope.startsWith('strategy:')
}
