/** The end of a wait for an answer from outside. */

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
