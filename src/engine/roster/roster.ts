/** The strategies that run, known before anything that runs them is made. */
import type { LoadedStrategy } from '../../strategy/files/load.ts'

/** The strategies that run now. */
export interface Roster {
  /** Lists them, in the order in which they began. */
  readonly strategies: () => readonly LoadedStrategy[]
  /** Adds one, or takes it in the place of the one of its name. */
  put(loaded: LoadedStrategy): void
  drop(name: string): void
}

/** Begins with those that run first. */
export function createRoster(first: readonly LoadedStrategy[]): Roster {
  const running = new Map(first.map((loaded) => [loaded.name, loaded]))
  return {
    strategies: () => [...running.values()],
    put: (loaded) => void running.set(loaded.name, loaded),
    drop: (name) => void running.delete(name),
  }
}
