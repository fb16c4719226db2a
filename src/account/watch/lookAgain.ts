/** Looks that come soon after an order moved, between the rounds of the watch, until the lists show it. */
import type { Clock } from '../../base/clock.ts'

/** Dependencies of the repeated look. */
export interface LookAgainParts {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  /** Ends it. */
  readonly signal: AbortSignal
  /** Longest repetition after the newest move, ms: then lists are believed all the same. */
  readonly forMs: number
  /** One look. Rejects with mistakes of ours alone. */
  readonly look: () => Promise<void>
  /** Tells whether the lists show everything known. */
  readonly isSettled: () => boolean
}

/** The looks. */
export interface LookAgain {
  /** An order moved. */
  soon(): void
  /** Runs until the signal. */
  run(): Promise<void>
}

/** From a move to the first look, and from one look to the next, ms: a list follows the chain by a moment. */
const [firstMs, everyMs] = [500, 2_000]

/** Makes the looks; nothing is looked at before it runs. */
export function createLookAgain({ clock, signal, forMs, look, isSettled }: LookAgainParts): LookAgain {
  let untilMs = Number.NEGATIVE_INFINITY
  let moves = 0
  let wake = (): void => undefined
  signal.addEventListener('abort', () => wake())

  async function follow(): Promise<void> {
    let seen = -1
    while (!signal.aborted && clock.monotonicMs() < untilMs) {
      const isNew = seen !== moves
      seen = moves
      await clock.sleep(isNew ? firstMs : everyMs, signal)
      if (signal.aborted) return
      await look()
      if (seen === moves && isSettled()) return
    }
  }

  return {
    soon() {
      moves += 1
      untilMs = clock.monotonicMs() + forMs
      wake()
    },
    async run() {
      while (!signal.aborted) {
        const done = moves
        await follow()
        if (signal.aborted || moves !== done) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = () => undefined
      }
    },
  }
}
