/** The phase of an engine's life, and its end: values that everything with a life of its own may read. */
import type { EngineState } from './strategyStatus.ts'

/** The phase of now. */
export interface Phase {
  state(): EngineState
  enter(state: EngineState): void
}

/** Begins in `starting`. */
export function createPhase(): Phase {
  let state: EngineState = 'starting'
  return {
    state: () => state,
    enter: (next) => {
      state = next
    },
  }
}

/** The end of an engine's life, in two steps. */
export interface Ending {
  /** Ended first: nothing is decided after it. */
  readonly deciding: AbortController
  /** Ended last: every loop ends with it. */
  readonly living: AbortController
  /** Ends both at once. */
  abort(): void
}

/** Makes the end that a life is going to have. */
export function createEnding(): Ending {
  const [deciding, living] = [new AbortController(), new AbortController()]
  return {
    deciding,
    living,
    abort() {
      deciding.abort()
      living.abort()
    },
  }
}
