/** The last turn that the daemon gave a kind, its view and its answer; and whether it would decide something at a later one. */
import { defined } from '../../base/defined.ts'
import { decodeExact, encodeExact } from '../../domain/records.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import type { Turn } from '../../strategy/kindMemory.ts'
import { type Strategy, type StrategyView, viewOf } from '../../strategy/strategy.ts'

/** The last turn of an instance. */
interface LastTurn {
  readonly view: StrategyView
  /** Memory after it, as the journal keeps it, and its text; absent for a kind without one. */
  readonly memory?: { readonly value: unknown; readonly text: string }
  readonly hasDecided: boolean
}

/** An instance whose turns are watched. */
export interface WatchedTurns {
  /** The file with its kind, to be run in the place of the one that was given. */
  readonly loaded: LoadedStrategy
  /** The snapshot of the last turn, Unix ms of it; undefined while there was none from which a later one can be told. */
  lastSnapshot(): Snapshot | undefined
  /** Tells whether the kind would decide nothing on a later snapshot and leave its memory as it is. Rejections of the kind count as something. */
  isIdle(snapshot: Snapshot): boolean
}

/** Watches the turns of a file. */
export function watchTurns(loaded: LoadedStrategy): WatchedTurns {
  const { strategy } = loaded
  let last: LastTurn | undefined
  const watched: Strategy = {
    ...strategy,
    decide(view, memory) {
      last = undefined
      const returned = strategy.decide(view, memory)
      last = lastTurnOf(strategy, view, returned)
      return returned
    },
  }
  return {
    loaded: { ...loaded, strategy: watched },
    // The daemon itself asks a kind in a thread, at each turn.
    lastSnapshot: () =>
      loaded.hosted === undefined && last?.hasDecided === false ? last.view.snapshot : undefined,
    isIdle(snapshot) {
      if (last === undefined) return false
      const { view, memory } = last
      const { params, instance, openIntents, restingOrders, tasks } = view
      const later = viewOf({
        ...{ snapshot, params, instance, openIntents, restingOrders, tasks },
        own: view.ownPositions(),
        ...defined({ approval: view.approval }),
        strayOrders: view.strayOrders,
      })
      try {
        const returned = strategy.decide(later, memory?.value)
        if (memory === undefined) return Array.isArray(returned) && returned.length === 0
        const turn = returned as Turn<unknown>
        return turn.decisions.length === 0 && encodeExact(turn.memory) === memory.text
      } catch {
        // The daemon reports it at its own turn.
        return false
      }
    },
  }
}

/** Undefined for an answer that is none: the daemon says what is wrong with it, at each turn. */
function lastTurnOf(strategy: Strategy, view: StrategyView, returned: unknown): LastTurn | undefined {
  if (strategy.memory === undefined)
    return Array.isArray(returned) ? { view, hasDecided: returned.length > 0 } : undefined
  const { decisions, memory } = returned as Turn<unknown>
  const text = encodeExact(memory)
  if (text === undefined || !Array.isArray(decisions)) return undefined
  return { view, memory: { value: decodeExact(text), text }, hasDecided: decisions.length > 0 }
}
