/** Ages of the venue's readings, by feed. */

import type { Feed } from '../../domain/venueEvent.ts'
import type { HasClock, HasEmit } from '../../execution/context/executionParts.ts'

/** The newest reading of each feed. */
export interface FeedAges {
  /** A feed was read that is this old, ms. */
  onFeed(feed: Feed, ageMs: number): void
  /** Ages now, by the monotonic clock: the wall clock may be set; feeds that were never read are absent. */
  now(): Readonly<Partial<Record<Feed, number>>>
}

/** Makes it; each reading is emitted. */
export function createFeedAges({ clock, emit }: HasClock & HasEmit): FeedAges {
  const feedReadAtMs = new Map<Feed, { atMs: number; ageMs: number }>()
  return {
    onFeed(feed, ageMs) {
      feedReadAtMs.set(feed, { atMs: clock.monotonicMs(), ageMs })
      emit({ type: 'feed.read', feed, ageMs })
    },
    now: () => {
      const nowMs = clock.monotonicMs()
      return Object.fromEntries(
        [...feedReadAtMs].map(([feed, { atMs, ageMs }]) => [feed, nowMs - atMs + ageMs]),
      )
    },
  }
}
