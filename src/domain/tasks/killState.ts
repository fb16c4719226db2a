/** A kill as a task of the journal: everything is cancelled, and closed if asked, until nothing is left. */
import type { Tasks } from './taskRecord.ts'

/** The kind of these tasks. */
export const KILL = 'kill'

/** Version of the parameters and the state below. */
export const KILL_VERSION = 1

/** What such a task is to do. */
export interface KillParams {
  /** Whether positions are closed too. */
  readonly close: boolean
}

/** How far it is. */
export interface KillProgress {
  /** The newest decision that it made, from 1; 0 before the first. */
  readonly made: number
}

/** Before its first step. */
export const killBegins: KillProgress = { made: 0 }

/** How it ended. `abandoned`: an operator let trading go on before it was done. `replaced`: one that closes too took its place. */
export type KillOutcome = 'done' | 'abandoned' | 'replaced'

/** A kill that was asked for. */
export interface KillState extends KillParams {
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly endedAtMs?: number
  readonly outcome?: KillOutcome
}

/** The newest kill of a journal, done or not; undefined when there never was one. */
export function killOf(tasks: Tasks | undefined): KillState | undefined {
  const task = [...(tasks?.values() ?? [])].findLast(({ taskKind }) => taskKind === KILL)
  if (task === undefined) return undefined
  const { close } = task.params as KillParams
  const asked = { by: task.by, close, sinceMs: task.sinceMs }
  if (task.end === undefined) return asked
  return { ...asked, endedAtMs: task.end.atMs, outcome: task.end.outcome as KillOutcome }
}
