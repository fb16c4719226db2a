/**
 * The lab's one time for venue and daemon. It stands while work is under way, and jumps to whatever is next once all that was woken has done its work.
 * Everything that does not end within promises alone registers here: an answer of the venue, a commit of the journal, a kind in a thread.
 */
import type { Clock } from '../../base/clock.ts'
import { createTimeline, epochMs, processClock } from './timeline.ts'

/** Time, and the work for which it stands. */
export interface Scheduler {
  /** Milliseconds since the beginning. */
  readonly nowMs: number
  /** Makes a clock that is `offsetMs` off; after `isAlive` turned false nobody wakes from its sleeps. */
  clock(offsetMs?: number, isAlive?: () => boolean): Clock
  /** Runs `run` after `ms`; the returned function takes it back. */
  after(ms: number, run: () => void): () => void
  /** Does `work` every `everyMs`. */
  every(everyMs: number, work: () => void): void
  /** Does work for which time stands. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /**
   * Does work that another thread does at its own pace. Its answer comes once nothing else is under way, with those of all other threads, in the order in
   * which they were asked: no thread's speed decides what comes first.
   */
  aside<T>(work: () => Promise<T>): Promise<T>
  /** Counts work by hand: 1 when it begins, -1 when it ends or waits for time. */
  hold(by: 1 | -1): void
  /** Runs `run` once all that was woken waits, and before time moves: several writers of one moment share a commit. */
  soon(run: () => void): void
  /** Resolves when all that was woken waits for time alone. */
  settle(): Promise<void>
  /** Settles, then moves to the next thing and runs it; false when nothing is left until `untilMs`. */
  step(untilMs: number): Promise<boolean>
  /** Moves on to `untilMs`. */
  runTo(untilMs: number): Promise<void>
  /** Lets `ms` pass in which nothing happens: what is to come stands still for so long, and comes that much later. To be called when all is settled. */
  pass(ms: number): void
}

/** Ends a turn of the event loop: whatever promises alone carry on has run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Makes a scheduler at 0, which is `startMs` of its clocks, Unix ms. */
export function createScheduler(startMs = epochMs): Scheduler {
  const timeline = createTimeline()
  let inWork = 0
  let waiting: (() => void)[] = []
  let change = Promise.withResolvers<void>()
  let asides: { readonly done: Promise<unknown>; readonly answer: () => void }[] = []

  const changed = (): void => {
    change.resolve()
    change = Promise.withResolvers()
  }
  const hold = (by: 1 | -1): void => {
    inWork += by
    if (inWork === 0) changed()
  }
  async function settle(): Promise<void> {
    for (;;) {
      await turn()
      if (waiting.length > 0) {
        const all = waiting
        waiting = []
        for (const run of all) run()
      } else if (inWork > 0) await change.promise
      else if (asides.length === 0) return
      else {
        const all = asides
        asides = []
        await Promise.allSettled(all.map(({ done }) => done))
        for (const { answer } of all) answer()
      }
    }
  }
  async function step(untilMs: number): Promise<boolean> {
    await settle()
    return timeline.runNext(untilMs)
  }
  const every = (everyMs: number, work: () => void): void => {
    timeline.after(everyMs, () => {
      work()
      every(everyMs, work)
    })
  }
  return {
    get nowMs() {
      return timeline.nowMs
    },
    clock: (offsetMs = 0, isAlive = () => true) =>
      processClock(timeline, isAlive, () => offsetMs + startMs - epochMs),
    after: timeline.after,
    every,
    async busy(work) {
      hold(1)
      try {
        return await work()
      } finally {
        hold(-1)
      }
    },
    aside<T>(work: () => Promise<T>) {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      let answer = (): void => undefined
      const done = work().then(
        (value) => {
          answer = () => resolve(value)
        },
        (error: unknown) => {
          answer = () => reject(error)
        },
      )
      asides.push({ done, answer: () => answer() })
      return promise
    },
    hold,
    soon: (run) => {
      waiting.push(run)
      changed()
    },
    settle,
    step,
    async runTo(untilMs) {
      while (await step(untilMs));
      timeline.after(untilMs - timeline.nowMs, () => undefined)
      while (await step(untilMs));
    },
    pass: timeline.pass,
  }
}

/** Lives on a scheduler until something is fatal. */
export interface Life {
  /** Takes what stops the daemon; the first one counts. */
  readonly fatal: (error: unknown) => void
  /** Moves on to `atMs`. Throws what was fatal. */
  readonly until: (atMs: number) => Promise<void>
}

/** Begins a life on a scheduler. */
export function createLife(scheduler: Scheduler): Life {
  const died = Promise.withResolvers<never>()
  died.promise.catch(() => undefined)
  return {
    fatal: (error) => died.reject(error),
    until: async (atMs) => {
      await Promise.race([scheduler.runTo(atMs), died.promise])
    },
  }
}
