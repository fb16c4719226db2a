/** When a served venue writes its state file: every few seconds, in slices, and seldom enough that orders have the process. */
import type { Venue } from './venue.ts'

/** A large world takes its time to write: it rests this many times as long, so that saves take a fifth of the time at most. */
const REST = 4

/** Saves venues from time to time, until the returned function is called. A save that is under way then is finished or dropped. */
export function saveNowAndThen(
  venues: readonly Venue[],
  everyMs: number,
  onError: (error: unknown) => void,
): () => void {
  const timers = venues.map((venue) => {
    let isSaving = false
    let restsUntilMs = 0
    const save = async (): Promise<void> => {
      isSaving = true
      const begunMs = performance.now()
      try {
        await venue.saveInSlices()
      } catch (error) {
        onError(error)
      }
      const endedMs = performance.now()
      restsUntilMs = endedMs + REST * (endedMs - begunMs)
      isSaving = false
    }
    return setInterval(() => {
      if (!isSaving && (performance.now() >= restsUntilMs || venue.needsSave())) void save()
    }, everyMs).unref()
  })
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}
