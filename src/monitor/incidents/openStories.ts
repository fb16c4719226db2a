/**
 * Persists notified stories without an end over restarts, when each start checks them anew. So a story that ended while perpd was down has an end
 * too. Stories that the journal knows to be open are not stored here. Pure but for its state and its store.
 */
import type { Event } from '../../domain/event.ts'
import { compareLevels, type Notice, type NoticeKind, type NoticeLevel } from '../events/notice.ts'

/** Something that was told and whose end was not. */
export interface OpenStory {
  readonly kind: NoticeKind
  readonly cause: string
  readonly level: NoticeLevel
  /** Text that was notified, without secrets; at most 300 characters. */
  readonly text: string
}

/** Where they are kept between runs. Neither throws. */
export interface StoryStore {
  read(): readonly OpenStory[]
  keep(stories: readonly OpenStory[]): void
}

/** Kinds that a start tells anew while they go on, with the kind of their end. */
const endKinds: ReadonlyMap<NoticeKind, NoticeKind> = new Map([
  ['hosts-down', 'hosts-up'],
  ['prices-stale', 'prices-stale'],
  ['books-differ', 'books-differ'],
  ['position-unmanaged', 'position-unmanaged'],
  ['position-without-stop', 'position-without-stop'],
  ['chat-failed', 'chat-failed'],
])

/** Their names, for what reads them back. */
export const storyKinds: readonly NoticeKind[] = [...endKinds.keys()]

/** Time from readiness after which a run reports a story that it did not see again, ms: each is looked at several times by then. */
const NOT_SEEN_MS = 600_000
const NOT_SEEN = 'ten minutes'
/** Most that are kept; more are told and forgotten. */
const MOST = 100
const LONGEST_TEXT = 300

/** The stories that go on. */
export interface OpenStories {
  /** Those of before this run, as they began. */
  readonly before: readonly Notice[]
  /** Takes each notice that is told; its text without secrets. */
  told(notice: Notice): void
  /** Takes each event, with its monotonic ms; gives the ends of what was not told again. */
  take(event: Event, nowMs: number): readonly Notice[]
}

/** Over what a store holds; without one nothing is kept. */
export function createOpenStories(store: StoryStore | undefined): OpenStories {
  const open = new Map((store?.read() ?? []).map((story) => [story.cause, story]))
  /** Earlier stories that this run has not notified again. */
  const unseen = new Set(open.keys())
  let readyMs: number | undefined
  return {
    before: [...open.values()],
    told({ kind, cause, level, text, isEnd }) {
      unseen.delete(cause)
      if (isEnd === true) {
        if (open.delete(cause)) store?.keep([...open.values()])
        return
      }
      const known = open.get(cause)
      const isNews = known === undefined ? open.size < MOST : compareLevels(known.level, level) < 0
      if (!endKinds.has(kind) || !isNews) return
      open.set(cause, { kind, cause, level, text: text.slice(0, LONGEST_TEXT) })
      store?.keep([...open.values()])
    },
    take(event, nowMs) {
      if (event.type === 'daemon.ready') readyMs ??= nowMs
      if (readyMs === undefined || unseen.size === 0 || nowMs - readyMs < NOT_SEEN_MS) return []
      // While no host answers nothing is seen of positions and books.
      if ([...open.values()].some(({ kind, cause }) => kind === 'hosts-down' && !unseen.has(cause))) return []
      return [...unseen].flatMap((cause) => endOf(open.get(cause)))
    },
  }
}

function endOf(story: OpenStory | undefined): readonly Notice[] {
  const kind = story === undefined ? undefined : endKinds.get(story.kind)
  if (story === undefined || kind === undefined) return []
  const text = `reported before the last start, and not seen since perpd started ${NOT_SEEN} ago: ${story.text}`
  return [{ kind, level: 'info', cause: story.cause, isEnd: true, text }]
}
