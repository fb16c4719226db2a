/**
 * Journal records about a strategy's memory: the newest value of each instance, the last of its own events handed to it, and denials of its newest
 * turn. They are written in the commit of the turn's acceptances, so that no crash separates them.
 */
import type { DeniedEvent } from './ownEvent.ts'
import type { TakenSignals } from './tradeSignal.ts'

/** A record of a memory: the part of an account's record that is not its stamp. */
export type MemoryEntry =
  | ({
      readonly kind: 'strategy.remembered'
      /** Name of the instance. */
      readonly strategy: string
      /** External signals that the turn received; absent: none. */
      readonly signals?: TakenSignals
    } & KeptMemory)
  /** An operator reset the memory of the instance. */
  | { readonly kind: 'strategy.forgotten'; readonly strategy: string; readonly by: string }

/** A memory as it is kept. */
export interface KeptMemory {
  /** Kind of the strategy whose memory it is. */
  readonly strategyKind: string
  /** Version of the kind's schema that it fits. */
  readonly version: number
  /** Plain values, bigints and maps; at most `MEMORY_MOST_BYTES` as text. */
  readonly memory: unknown
  /** The scheduled instant of the turn that gave it, Unix ms. */
  readonly tickMs: number
  /** Own events up to the record of this number were given. */
  readonly throughSeq: number
  /** Denials of that turn, handed over at the next. */
  readonly denied: readonly DeniedEvent[]
}

/** Kinds of the entries above. */
export const memoryKinds = [
  'strategy.remembered',
  'strategy.forgotten',
] as const satisfies readonly MemoryEntry['kind'][]

/** Most bytes of a memory as text of a record: 64 KiB. */
export const MEMORY_MOST_BYTES = 65_536

/** The newest memory of each instance, by its name. */
export type Memories = ReadonlyMap<string, KeptMemory>

/** Before the first record. */
export const noMemories: Memories = new Map()

/** The fold after one more record. Pure. */
export function applyMemoryEntry(memories: Memories, entry: MemoryEntry): Memories {
  const next = new Map(memories)
  if (entry.kind === 'strategy.forgotten') {
    next.delete(entry.strategy)
    return next
  }
  const { strategyKind, version, memory, tickMs, throughSeq, denied } = entry
  return next.set(entry.strategy, { strategyKind, version, memory, tickMs, throughSeq, denied })
}
