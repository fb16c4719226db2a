/** Looks that come soon after an order moved, between the rounds of the watch, until the lists show it. */
import type { MonotonicClock, Timer } from '../../base/clock.ts'

/** Moves of orders, as the repeated look waits for them. */
export interface OrderMoves {
  /** An order moved. */
  soon(): void
  /** Number of moves so far. */
  count(): number
  /** Time until which the newest move is looked for, monotonic ms. */
  untilMs(): number
  /** Resolves at the next move, or when the wait is ended. */
  next(): Promise<void>
  /** Ends a wait. */
  wake(): void
}

/** Begins with none. `forMs`: longest repetition after the newest move: then lists are believed all the same. */
export function createOrderMoves(clock: MonotonicClock, forMs: number): OrderMoves {
  let untilMs = Number.NEGATIVE_INFINITY
  let moves = 0
  let wake = (): void => undefined
  return {
    soon() {
      moves += 1
      untilMs = clock.monotonicMs() + forMs
      wake()
    },
    count: () => moves,
    untilMs: () => untilMs,
    async next() {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = () => undefined
    },
    wake: () => wake(),
  }
}

/** Dependencies of the repeated look. */
export interface LookAgainParts {
  readonly clock: MonotonicClock & Timer
  readonly moves: Omit<OrderMoves, 'soon'>
  /** Looks once. Rejects only with mistakes of perpd itself. */
  readonly look: () => Promise<void>
  /** Tells whether the lists show everything known. */
  readonly isSettled: () => boolean
}

/** From a move to the first look, and from one look to the next, ms: a list follows the chain by a moment. */
const [firstMs, everyMs] = [500, 2_000]

/** Looks until the signal. */
export async function lookAgain(
  { clock, moves, look, isSettled }: LookAgainParts,
  signal: AbortSignal,
): Promise<void> {
  async function follow(): Promise<void> {
    let seen = -1
    while (!signal.aborted && clock.monotonicMs() < moves.untilMs()) {
      const isNew = seen !== moves.count()
      seen = moves.count()
      await clock.sleep(isNew ? firstMs : everyMs, signal)
      if (signal.aborted) return
      await look()
      if (seen === moves.count() && isSettled()) return
    }
  }

  signal.addEventListener('abort', moves.wake, { once: true })
  while (!signal.aborted) {
    const done = moves.count()
    await follow()
    if (!signal.aborted && moves.count() === done) await moves.next()
  }
}
