/**
 * Orders that nobody wants any more while their fate is open (docs/orders.md, "Unwind an order"), as tasks of the journal. An order cannot be
 * called back once its signature left; it can be unwound if it lands.
 */
import { defined } from '../../base/defined.ts'
import type { TaskState, Tasks } from './taskRecord.ts'

/** The kind of these tasks. */
export const UNWIND = 'unwind'

/** Version of the parameters and the state below. */
export const UNWIND_VERSION = 1

/** Goal of an unwind. */
export interface UnwindParams {
  /** The order's intent. */
  readonly intentId: string
  /** One sentence: why it is not wanted. */
  readonly reason: string
}

/** Progress of an unwind. */
export interface UnwindProgress {
  /** Number of the newest try to cancel its resting orders, from 1; 0 before the first. */
  readonly cancels: number
  /** The newest try to close its position, by side in the order in which it opened them; as above. */
  readonly closes: readonly number[]
  /** Sides that were seen to be gone, by number from 1: a later position there is another's. */
  readonly gone: readonly number[]
}

/** Before its first step. */
export const unwindBegins: UnwindProgress = { cancels: 0, closes: [], gone: [] }

/**
 * The way in which it ended. `nothing-landed`: the order opened nothing. `flat`: its position is closed, or was gone already. `given-up`: attempts to
 * undo it failed too often; an operator must look.
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
  /** One sentence: the result. */
  readonly statement?: string
}

/** The task that unwinds an order: an order has one at most. */
export function unwindTaskId(intentId: string): string {
  return `${UNWIND}:${intentId}`
}

/** Returns the unwind of an order, running or ended; undefined without one. */
export function unwindOf(tasks: Tasks | undefined, intentId: string): UnwindState | undefined {
  const task = tasks?.get(unwindTaskId(intentId))
  return task === undefined ? undefined : unwindStateOf(task)
}

/** A task of this kind in its own words. */
export function unwindStateOf({ params, by, sinceMs, end }: TaskState): UnwindState {
  const { intentId, reason } = params as UnwindParams
  const wanted = { intentId, by, reason, sinceMs }
  if (end === undefined) return wanted
  const { atMs, outcome, statement } = end
  return {
    ...wanted,
    endedAtMs: atMs,
    outcome: outcome as UnwindOutcome,
    ...defined({ statement }),
  }
}
