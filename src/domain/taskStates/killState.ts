/** A kill as a task of the journal: orders that add risk are cancelled, and positions are closed if requested, until nothing of it is left. */
import { defined } from '../../base/defined.ts'
import type { Usd } from '../../protocol/units.ts'
import type { Tasks } from './taskRecord.ts'

/** The kind of these tasks. */
export const KILL = 'kill'

/** Version of the parameters and the state below. */
export const KILL_VERSION = 1

/** Goal of a kill task. */
export interface KillParams {
  /** True if positions are closed too. */
  readonly close: boolean
  /**
   * True: stop-losses and take-profits of open positions are cancelled at once too. Absent: they stay, with `close` until what they
   * protect is closed.
   */
  readonly exits?: true
}

/** Progress of a kill task. */
export interface KillProgress {
  /** The newest decision that it made, from 1; 0 before the first. */
  readonly made: number
}

/** Before its first step. */
export const killBegins: KillProgress = { made: 0 }

/**
 * End of the kill. `unproven`: no list shows anything left, but the chain can no longer prove the end of what was sent. `abandoned`: an operator
 * resumed trading before it was done. `replaced`: one that does more took its place.
 */
export type KillOutcome = 'done' | 'unproven' | 'abandoned' | 'replaced'

/** An exit that a kill leaves at rest. */
export interface KeptExit {
  /** As the venue's page calls it: `stop-loss`. */
  readonly name: string
  /** USD per whole index token; null where it is not known. */
  readonly triggerPrice: Usd | null
  /** The most that it closes, USD. */
  readonly sizeUsd: Usd
}

/** A position that a kill leaves open, and its protection. */
export interface LeftPosition {
  /** Its market's symbol. */
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly sizeUsd: Usd
  readonly exits: readonly KeptExit[]
  /** The unprotected part: no stop-loss that can fire would close it, USD; 0: they close all. */
  readonly uncoveredUsd: Usd
}

/** A requested kill. */
export interface KillState extends KillParams {
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly endedAtMs?: number
  readonly outcome?: KillOutcome
  /** The missing proof at its end, a clause. */
  readonly statement?: string
}

/** The newest kill of a journal, done or not; undefined when there never was one. */
export function killOf(tasks: Tasks | undefined): KillState | undefined {
  const task = [...(tasks?.values() ?? [])].findLast(({ taskKind }) => taskKind === KILL)
  if (task === undefined) return undefined
  const { close, exits } = task.params as KillParams
  const asked = { by: task.by, close, ...defined({ exits }), sinceMs: task.sinceMs }
  if (task.end === undefined) return asked
  const { atMs: endedAtMs, outcome, statement } = task.end
  return {
    ...asked,
    ...{ endedAtMs, outcome: outcome as KillOutcome },
    ...defined({ statement }),
  }
}
