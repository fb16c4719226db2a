/**
 * Virtual time: one queue of things to come, taken in the order of their time and then of their making. The wall clock of
 * the daemon is this time plus an offset that faults may move; its monotonic clock is this time; block times come from it
 * too. No real time passes.
 */
import type { Again, Clock } from '../../base/clock.ts'

interface Entry {
  atMs: number
  order: number
  readonly run: () => void
  /** Asked in the place of `run` first: after so many ms it comes again, and nothing happened. */
  readonly again?: Again | undefined
  isCancelled: boolean
}

/** The queue and its time. */
export interface Timeline {
  /** Milliseconds since the world began. */
  readonly nowMs: number
  /** Runs `run` after `ms`, or later where `again` says so by then; the returned function takes it back. */
  after(ms: number, run: () => void, again?: Again): () => void
  /** Runs the next thing that does anything, moving time to it; false when nothing is left before `untilMs`. */
  runNext(untilMs: number): boolean
  /** Lets `ms` pass for which everything to come stands still: it comes that much later, in the same order. */
  pass(ms: number): void
  /** Number of entries to come. */
  readonly size: number
}

/** Makes an empty timeline at 0. */
export function createTimeline(): Timeline {
  const heap: Entry[] = []
  let nowMs = 0
  let order = 0
  let live = 0

  const isBefore = (one: Entry, other: Entry) =>
    one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)

  function push(entry: Entry): void {
    let at = heap.length
    heap.push(entry)
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent] as Entry
      if (!isBefore(entry, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = entry
  }

  function pop(): Entry | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child += 1
      if (!isBefore(heap[child] as Entry, last)) break
      heap[at] = heap[child] as Entry
      at = child
    }
    heap[at] = last
    return first
  }

  return {
    get nowMs() {
      return nowMs
    },
    get size() {
      return live
    },
    after(ms, run, again) {
      const entry: Entry = { atMs: nowMs + Math.max(0, ms), order, run, again, isCancelled: false }
      order += 1
      live += 1
      push(entry)
      return () => {
        if (entry.isCancelled) return
        entry.isCancelled = true
        live -= 1
      }
    },
    runNext(untilMs) {
      for (;;) {
        const head = heap[0]
        if (head === undefined || head.atMs > untilMs) return false
        pop()
        if (head.isCancelled) continue
        nowMs = Math.max(nowMs, head.atMs)
        const moreMs = head.again?.()
        if (moreMs !== undefined) {
          // Its place among those of one time is that of a sleep that begins now.
          head.atMs = nowMs + Math.max(0, moreMs)
          head.order = order
          order += 1
          push(head)
          continue
        }
        head.isCancelled = true
        live -= 1
        head.run()
        return true
      }
    },
    pass(ms) {
      nowMs += ms
      for (const entry of heap) entry.atMs += ms
    },
  }
}

/** Wall time at which every world begins, Unix ms. */
export const epochMs = 1_800_000_000_000

/** The clock of one process of the daemon. After its end nothing of it wakes up. */
export interface ProcessClock extends Clock {
  /** Sleeps that have not ended. */
  readonly sleepers: number
}

/** Makes the clock of a process; `offsetMs` is how far its wall clock is off now. */
export function processClock(
  timeline: Timeline,
  isAlive: () => boolean,
  offsetMs: () => number,
): ProcessClock {
  let sleepers = 0
  return {
    get sleepers() {
      return sleepers
    },
    now: () => Math.floor(epochMs + timeline.nowMs + offsetMs()),
    monotonicMs: () => timeline.nowMs,
    sleep: (ms, signal, again) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        sleepers += 1
        const onAbort = () => {
          cancel()
          sleepers -= 1
          if (isAlive()) resolve()
        }
        const end = () => {
          signal?.removeEventListener('abort', onAbort)
          sleepers -= 1
          if (isAlive()) resolve()
        }
        const cancel = timeline.after(ms, end, again && (() => (isAlive() ? again() : undefined)))
        signal?.addEventListener('abort', onAbort)
      }),
  }
}
