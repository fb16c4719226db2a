/** The system's time, for those who use the clients on their own. */
import type { Clock } from './clock.ts'

/** Wall clock, monotonic clock and timers of this machine; the usual `clock` of `createApi`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal, again) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const over = (): void => {
        const moreMs = again?.()
        if (moreMs === undefined) done()
        else timer = setTimeout(over, moreMs)
      }
      let timer = setTimeout(over, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/**
 * Makes a signal that aborts after `ms`, once what had arrived by then was read: a process that was held up finds the answer in its
 * socket, and asks or sends nothing twice for it. It keeps no process alive.
 */
export function answerTimeout(ms: number): AbortSignal {
  const ending = new AbortController()
  // Sockets are read between timers and immediates.
  setTimeout(() => setImmediate(() => ending.abort()), ms).unref()
  return ending.signal
}
