/** How old what is read of the venue is, by feed. */
import type { Feed } from '../../domain/venueEvent.ts'
import type { EngineContext } from '../context/engineContext.ts'

/** The newest reading of each feed. */
export interface FeedAges {
  /** A feed was read that is this old, ms. */
  onFeed(feed: Feed, ageMs: number): void
  /** Ages at an instant (Unix ms); feeds that were never read are absent. */
  at(nowMs: number): Readonly<Partial<Record<Feed, number>>>
}

/** Makes it; each reading is told. */
export function createFeedAges({ clock, emit }: Pick<EngineContext, 'clock' | 'emit'>): FeedAges {
  const feedReadAtMs = new Map<Feed, { atMs: number; ageMs: number }>()
  return {
    onFeed(feed, ageMs) {
      feedReadAtMs.set(feed, { atMs: clock.now(), ageMs })
      emit({ type: 'feed.read', feed, ageMs })
    },
    at: (nowMs) =>
      Object.fromEntries([...feedReadAtMs].map(([feed, { atMs, ageMs }]) => [feed, nowMs - atMs + ageMs])),
  }
}
