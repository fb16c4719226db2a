/**
 * Joins the looks of several accounts at the same endpoints: whoever asks while one is under way is served by the next, all together. A look costs as much
 * for a hundred accounts as for one, so a process asks its endpoints no more often with many accounts than with a few.
 */
import type { Clock } from '../base/clock.ts'
import type { AttemptQuery, ChainReader } from '../domain/machine/chainReader.ts'
import type { ChainView } from '../domain/machine/chainView.ts'
import { hexKey } from '../protocol/address.ts'

/** Shortest time from the beginning of a look to that of the next while several accounts ask, ms. */
const BETWEEN_MS = 500
/** An account that asked within this time asks now, ms. */
const ASKS_MS = 60_000

interface Waiting extends PromiseWithResolvers<readonly ChainView[]> {
  readonly queries: readonly AttemptQuery[]
}

/** Makes a poll whose looks are joined. Of one account alone each look begins at once. */
export function joinLooks(poll: ChainReader['poll'], clock: Clock): ChainReader['poll'] {
  let waiting: Waiting[] = []
  let isLooking = false
  let begunMs = Number.NEGATIVE_INFINITY
  const askedMs = new Map<string, number>()

  function note(queries: readonly AttemptQuery[]): void {
    const nowMs = clock.monotonicMs()
    for (const [key, atMs] of askedMs) if (nowMs - atMs > ASKS_MS) askedMs.delete(key)
    for (const { account } of queries) askedMs.set(hexKey(account), nowMs)
  }

  async function look(): Promise<void> {
    isLooking = true
    while (waiting.length > 0) {
      const pauseMs = begunMs + BETWEEN_MS - clock.monotonicMs()
      if (askedMs.size > 1 && pauseMs > 0) await clock.sleep(pauseMs)
      const together = waiting
      waiting = []
      begunMs = clock.monotonicMs()
      try {
        const views = await poll(together.flatMap(({ queries }) => queries))
        let at = 0
        for (const { queries, resolve } of together) {
          resolve(views.slice(at, at + queries.length))
          at += queries.length
        }
      } catch (error) {
        for (const { reject } of together) reject(error)
      }
    }
    isLooking = false
  }

  return (queries) => {
    if (queries.length === 0) return Promise.resolve([])
    note(queries)
    const one = { queries, ...Promise.withResolvers<readonly ChainView[]>() }
    waiting.push(one)
    if (!isLooking) void look()
    return one.promise
  }
}
