/**
 * Shared reads: callers that ask the same question while it is being asked, or within the venue's own cache window of
 * it, get one request and one result. So reads at the venue do not grow with the number of strategies.
 */
import type { Clock } from '../../base/clock.ts'

interface Entry {
  readonly result: Promise<unknown>
  /** When the request was started, monotonic ms: the window counts from here, so that an answer is never called younger. */
  readonly startedMs: number
  readonly windowMs: number
  isPending: boolean
}

/** Remembers results that can be shared. */
export interface Coalescer {
  /** The shared result for the key, or a new one made by `ask`; failures are shared only while pending. */
  get<T>(key: string, windowMs: number, isFresh: boolean, ask: () => Promise<T>): Promise<T>
}

/** Past this many entries, those that ended are swept before another is added. */
const SWEEP_FROM = 256

/** Makes an empty memory. */
export function createCoalescer(clock: Clock): Coalescer {
  const entries = new Map<string, Entry>()

  function sweep(now: number): void {
    for (const [key, entry] of entries) {
      if (!entry.isPending && now - entry.startedMs >= entry.windowMs) entries.delete(key)
    }
  }

  return {
    get<T>(key: string, windowMs: number, isFresh: boolean, ask: () => Promise<T>): Promise<T> {
      const now = clock.monotonicMs()
      const known = entries.get(key)
      if (!isFresh && known !== undefined && (known.isPending || now - known.startedMs < known.windowMs)) {
        return known.result as Promise<T>
      }
      if (entries.size >= SWEEP_FROM) sweep(now)
      const result = ask()
      const entry: Entry = { result, startedMs: now, windowMs, isPending: true }
      entries.set(key, entry)
      result.then(
        () => {
          entry.isPending = false
        },
        () => {
          if (entries.get(key) === entry) entries.delete(key)
        },
      )
      return result
    },
  }
}
