/** Asks a kind for one turn: one of perpd's own here and at once, one of the user's in its thread. */
import { defined } from '../base/defined.ts'
import type { Scene } from '../strategy/files/hosted.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { checkTurn, type GivenMemory, memoryFor } from '../strategy/kindMemory.ts'
import { type StatusLine, statusAfter, viewOf } from '../strategy/strategy.ts'

/** The world's part of a view. */
export type OwnScene = Pick<
  Scene,
  'snapshot' | 'openIntents' | 'own' | 'restingOrders' | 'tasks' | 'approval' | 'strayOrders'
>

/** Additional input of a kind with a memory. */
export interface GivenPast extends Required<Pick<Scene, 'events' | 'eventsMissed' | 'signals'>> {
  /** Its saved memory; absent before its first turn. */
  readonly memory?: GivenMemory
}

/** A turn that a kind answered: everything it was handed, and its answer. The memory of the answer is the one to save. */
export interface TakenTurn {
  readonly loaded: LoadedStrategy
  readonly scene: Scene
  readonly returned: unknown
}

/** Receives each turn that a kind answered, before its decisions are judged. It must not throw. */
export type TakeTurn = (turn: TakenTurn) => void

/** Answer of a kind. */
export interface KindAnswer {
  /** Return value: a `CheckedTurn` from a kind with a memory, unless it is a promise. The decisions are not checked yet. */
  readonly returned: unknown
  /** The line on what it waits for; absent: it says none. */
  readonly status?: StatusLine
  /** Failure in its thread next to a good answer. */
  readonly failed?: unknown
  /** Size of the view that was handed to a kind of the user's own, bytes. */
  readonly viewBytes?: number
  /** Time of the processor that such a kind took, ms; absent in its first turns. */
  readonly spentMs?: number
}

/** Returns the answer of one turn. `past` is set for a kind with a memory. Rejects with what the kind throws, KindFault and MemoryUnfitError. */
export async function callKind(
  loaded: LoadedStrategy,
  scene: OwnScene,
  past?: GivenPast,
): Promise<KindAnswer> {
  const { hosted } = loaded
  if (hosted === undefined) return askHere(loaded, scene, past)
  const { memory, events = [], eventsMissed = 0, signals = [] } = past ?? {}
  const told = past === undefined ? {} : { events, eventsMissed, signals, ...defined({ memory }) }
  const { returned, status, crash, viewBytes, spentMs } = await hosted.decide({ ...scene, ...told })
  const spent = spentMs === undefined ? {} : { spentMs }
  return { returned, viewBytes, ...spent, ...defined({ status, failed: crash }) }
}

function askHere(
  { strategy, params, instance }: LoadedStrategy,
  scene: OwnScene,
  past?: GivenPast,
): KindAnswer {
  if (strategy.memory === undefined || past === undefined) {
    const view = viewOf({ ...scene, params, instance })
    return { returned: strategy.decide(view), ...defined({ status: statusAfter(strategy, view) }) }
  }
  const { events, eventsMissed, signals } = past
  const memory = memoryFor(strategy.kind, strategy.memory, past.memory)
  const view = viewOf({ ...scene, params, instance, events, eventsMissed, signals })
  const returned: unknown = strategy.decide(view, memory)
  if (returned instanceof Promise) return { returned }
  const turn = checkTurn(strategy.memory, returned)
  return { returned: turn, ...defined({ status: statusAfter(strategy, view, turn.memory) }) }
}
