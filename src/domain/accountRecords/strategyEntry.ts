import { defined } from '../../base/defined.ts'

/**
 * Journal records about strategy files while perpd runs: each accepted change, and instances that an operator paused. After a crash their fold gives
 * the removal rule of a file that is gone meanwhile, and the paused instances.
 */

/** Treatment of a strategy's orders and position when its file is removed. `docs/control.md` describes each value. */
export const removals = ['keep', 'reduce', 'close'] as const

/** One of them. */
export type OnRemove = (typeof removals)[number]

/** One field of a strategy file, before and now, as it is written in the file; absent: the field is missing there. */
export interface FieldChange {
  /** Dotted: `size.usd`. */
  readonly field: string
  readonly from?: string
  readonly to?: string
}

/**
 * Change of an instance. `kept`: no change of the file, but its removal rule is recorded. `disabled`: its file disables it now. `removed`: its file
 * is gone.
 */
export type RosterChange = 'added' | 'changed' | 'kept' | 'disabled' | 'removed'

/** A record of the instances: the part of an account's record that is not its stamp. */
export type StrategyEntry =
  | {
      readonly kind: 'strategy.changed'
      /** Name of the instance. */
      readonly strategy: string
      /** Its file, as an absolute path. */
      readonly file: string
      readonly change: RosterChange
      readonly onRemove: OnRemove
      readonly fields: readonly FieldChange[]
      /** All fields of its file as they are now, by dotted name; absent of one that ends. */
      readonly written?: Readonly<Record<string, string>>
      /** Name of the person who had the files read; `perpd` when it noticed them itself. */
      readonly by: string
    }
  | {
      readonly kind: 'strategy.switched'
      readonly strategy: string
      readonly to: 'paused' | 'running'
      readonly reason: string
      readonly by: string
    }

/** Kinds of the entries above. */
export const strategyKinds = [
  'strategy.changed',
  'strategy.switched',
] as const satisfies readonly StrategyEntry['kind'][]

/** An operator's pause. */
export interface OperatorPause {
  readonly by: string
  readonly reason: string
  /** Unix ms. */
  readonly sinceMs: number
}

/** Persisted state of an instance. */
export interface KeptStrategy {
  /** File and removal rule of a running instance whose removal does more than keep. */
  readonly ends?: { readonly file: string; readonly onRemove: Exclude<OnRemove, 'keep'> }
  readonly paused?: OperatorPause
  /** Content of its file when it last ran, field by field; absent: unknown. */
  readonly written?: Readonly<Record<string, string>>
}

/** By name; of an instance with nothing to keep there is none. */
export type KeptStrategies = ReadonlyMap<string, KeptStrategy>

/** Before the first record. */
export const noKeptStrategies: KeptStrategies = new Map()

/** The fold after one more record of `atMs`. Pure. */
export function applyStrategyEntry(kept: KeptStrategies, entry: StrategyEntry, atMs: number): KeptStrategies {
  const { ends, paused, written } = kept.get(entry.strategy) ?? {}
  if (entry.kind === 'strategy.switched') {
    const { by, reason } = entry
    if (entry.to === 'running') return withKept(kept, entry.strategy, { ends, written })
    // A repeated pause keeps its start.
    const pause = paused ?? { by, reason, sinceMs: atMs }
    return withKept(kept, entry.strategy, { ends, paused: pause, written })
  }
  if (entry.change === 'removed') return withKept(kept, entry.strategy, {})
  const { file, onRemove } = entry
  const isRunning = entry.change !== 'disabled' && onRemove !== 'keep'
  return withKept(kept, entry.strategy, {
    ends: isRunning ? { file, onRemove } : undefined,
    paused,
    written: entry.written ?? written,
  })
}

function withKept(
  all: KeptStrategies,
  name: string,
  { ends, paused, written }: { readonly [K in keyof KeptStrategy]?: KeptStrategy[K] | undefined },
): KeptStrategies {
  const next = new Map(all)
  if (ends === undefined && paused === undefined && written === undefined) {
    next.delete(name)
    return next
  }
  return next.set(name, {
    ...defined({ ends, paused, written }),
  })
}
