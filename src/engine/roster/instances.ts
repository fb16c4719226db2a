/** The running instances: each in a separate loop, started, changed and ended between two of its turns. */

import type { LoadedStrategy } from '../../strategy/files/load.ts'
import type { Roster } from './roster.ts'
import { type FileField, fileFields } from './setField.ts'

/** Instances whose turns begin together. */
const ABREAST = 8
/** Between those and the next ones, ms: 500 instances are spread over a second, so that none waits for all others. */
const SPREAD_MS = 16

/** An instance as the set has it. */
export interface RunningInstance {
  /** Returns the running strategy. */
  loaded(): LoadedStrategy
  /**
   * Takes turns until nothing is decided any more or until its end; never rejects because of the strategy or the venue. Its turns, except the first,
   * begin `phaseMs` behind the grid of its cadence (less than a cadence counts).
   */
  run(phaseMs?: number): Promise<void>
  /** Waits until its turn is over: `durable` writes the change down, then it continues as `next` at once. Throws what `durable` throws. */
  replace(next: LoadedStrategy, durable: () => Promise<void>): Promise<void>
  /** The same with its end: no turn follows. */
  end(durable: () => Promise<void>): Promise<void>
}

/** The running set. */
export interface Instances<I extends RunningInstance = RunningInstance> {
  /** Lists the running strategies, in the order in which they began. */
  strategies(): readonly LoadedStrategy[]
  /** Returns the file content of a running strategy; undefined when none of that name runs. */
  fileOf(name: string): { readonly path: string; readonly fields: readonly FileField[] } | undefined
  all(): readonly I[]
  /** Lets another one run, once the set does. */
  add(loaded: LoadedStrategy): void
  /**
   * Waits until its turn is over: `durable` writes down the change, then it continues as `next`. The thread of its former kind ends. Throws what
   * `durable` throws, and then nothing changed.
   */
  replace(next: LoadedStrategy, durable: () => Promise<void>): Promise<void>
  /** The same with its end in the place of another one. */
  remove(name: string, durable: () => Promise<void>): Promise<void>
  /** Runs them all until nothing is decided any more. Rejects when a loop does: a mistake of ours. */
  run(): Promise<void>
}

/** Makes the set of those that the roster lists, and keeps the roster as the set changes. */
export function createInstances<I extends RunningInstance>(
  roster: Roster,
  make: (loaded: LoadedStrategy) => I,
  deciding: AbortSignal,
): Instances<I> {
  const running = new Map(roster.strategies().map((loaded) => [loaded.name, make(loaded)]))
  const loops = new Set<Promise<void>>()
  const over = Promise.withResolvers<void>()
  let isRunning = false
  let begun = 0

  function begin(instance: I): void {
    const loop = instance.run(Math.floor(begun / ABREAST) * SPREAD_MS)
    begun += 1
    loops.add(loop)
    loop.then(() => loops.delete(loop), over.reject)
  }

  function named(name: string): I {
    const found = running.get(name)
    if (found === undefined) throw new TypeError(`no instance ${name} runs`)
    return found
  }

  return {
    strategies: roster.strategies,
    fileOf(name) {
      const loaded = running.get(name)?.loaded()
      return loaded === undefined ? undefined : { path: loaded.path, fields: fileFields(loaded.written) }
    },
    all: () => [...running.values()],
    add(loaded) {
      const instance = make(loaded)
      roster.put(loaded)
      running.set(loaded.name, instance)
      if (isRunning) begin(instance)
    },
    async replace(next, durable) {
      const instance = named(next.name)
      const { hosted } = instance.loaded()
      await instance.replace(next, async () => {
        await durable()
        roster.put(next)
      })
      await hosted?.close()
    },
    async remove(name, durable) {
      const instance = named(name)
      await instance.end(async () => {
        await durable()
        roster.drop(name)
        running.delete(name)
      })
      await instance.loaded().hosted?.close()
    },
    async run() {
      isRunning = true
      for (const instance of running.values()) begin(instance)
      const end = (): void => {
        Promise.all(loops).then(() => over.resolve(), over.reject)
      }
      if (deciding.aborted) end()
      else deciding.addEventListener('abort', end, { once: true })
      await over.promise
    },
  }
}
