/**
 * Incidents: troubles that last until their end, as one fold over events. The row of an event says which incident it opens, makes worse, continues
 * or ends (`notice` in `events/`); this file holds the rules that are the same for all. One that waits for its end and comes back is the same
 * incident, and news only when it is worse. Notices, the gauge, the status and readiness read this fold. Pure but for its state and its store.
 */
import { defined } from '../../base/defined.ts'
import type { Event } from '../../domain/event.ts'
import { minOf, type Usd } from '../../protocol/units.ts'
import { noticesOf, rowOfEvent } from '../events/eventRegister.ts'
import type { HeardNotice, OpenIncident, Seen } from '../events/eventRow.ts'
import { type IncidentKind, isIncidentKind, type Notice, type NoticeLevel } from '../events/notice.ts'
import { createCauseFilter } from './again.ts'
import { createOpenStories, type StoryStore } from './openStories.ts'
import { sumsOf, type UnprotectedSide, unprotectedCause, unprotectedNotice } from './unprotected.ts'

/** An open incident. */
export interface Incident {
  readonly kind: IncidentKind
  /** The same for all that has the same cause: `trading:global:drawdown`. */
  readonly subject: string
  /** Time when this run first saw it, Unix ms. */
  readonly sinceMs: number
  readonly level: NoticeLevel
  /** A sentence. */
  readonly reason: string
  /** Action that a person must take; absent: none. */
  readonly action?: string
}

/** A notice to send, and how often its cause has happened. */
export interface News {
  readonly notice: Notice
  readonly count: number
}

/** Options of the fold. */
export interface IncidentOptions {
  /** Unix ms, for `sinceMs`. */
  readonly now: () => number
  /** Where notified incidents are kept between runs, without secrets; absent: nowhere. */
  readonly store?: StoryStore
  /** Hides secrets in a text. */
  readonly redact?: (text: string) => string
}

/** Incidents of now. */
export interface IncidentReads {
  /** Open incidents, oldest first. */
  open(): readonly Incident[]
  /** Kinds of open incidents during which no new order is made; one whose end waits is none. */
  blocking(): readonly IncidentKind[]
}

/** The incidents of a run. Times are monotonic ms. */
export interface Incidents extends IncidentReads {
  /** Takes each event in its order; returns what is news of it, and the ends that are due. */
  take(event: Event, nowMs: number): readonly News[]
  /** Takes a notice that no event has. */
  report(notice: Notice, nowMs: number): readonly News[]
  /** Takes the unprotected positions of one look: one is an incident at its second look, and news again when twice as much is uncovered. */
  look(bare: readonly UnprotectedSide[], nowMs: number): readonly News[]
  /** Takes events of before a restart; returns their notices, which were sent then. */
  recall(events: readonly Event[], nowMs: number): readonly Notice[]
  /** Incidents that earlier runs notified, as notices. */
  readonly before: readonly Notice[]
  /** Returns the ends that still wait: nothing comes after. */
  rest(nowMs: number): readonly News[]
}

/** An open incident, as the fold holds it. */
interface Held extends OpenIncident {
  readonly blocks?: true
  readonly notice: Notice
  readonly sinceMs: number
  /** Uncovered size that was last news, USD, or the lowest since; 0 for other incidents. */
  readonly sizeUsd: Usd
}

/** An end that waits until the incident has stayed away. */
interface WaitingEnd {
  readonly event: Event
  readonly heard: HeardNotice
  readonly dueMs: number
}

/** Open incidents at most; the oldest is forgotten, and its end is still notified. */
const MOST = 1_000

/** A fold without incidents. */
export function createIncidents(options: IncidentOptions): Incidents {
  const { now, store, redact = (text: string) => text } = options
  const again = createCauseFilter()
  const stories = createOpenStories(store)
  const held = new Map<string, Held>()
  const ends = new Map<string, WaitingEnd>()
  /** The newest event about a subject whose ends are reworded when they are due. */
  const newest = new Map<string, Event>()
  let hosts: Pick<Seen, 'apiHosts' | 'oracleHosts'> = { apiHosts: [], oracleHosts: [] }
  const seen: Seen = {
    get apiHosts() {
      return hosts.apiHosts
    },
    get oracleHosts() {
      return hosts.oracleHosts
    },
    open: (cause) => held.get(cause),
    isWaiting: (cause) => ends.has(cause),
    all: () => [...held.values()],
  }

  /** Uncovered size of each side at the last look, USD. */
  let lastLook: ReadonlyMap<string, Usd> = new Map()

  function hold(heard: HeardNotice, nowMs: number, sizeUsd: Usd = 0n): void {
    const { notice, rank = 0, parts, blocks } = heard
    const { cause } = notice
    const known = held.get(cause)
    const { sinceMs = now() } = known ?? {}
    const { kind, stage } = notice
    held.set(cause, {
      kind,
      cause,
      notice,
      rank,
      sinceMs,
      seenMs: nowMs,
      sizeUsd,
      ...defined({ stage, parts, blocks }),
    })
    const [oldest] = held.keys()
    if (held.size > MOST && oldest !== undefined) held.delete(oldest)
  }

  /** The end of an incident; undefined while it does not count. */
  function over(event: Event, heard: HeardNotice, nowMs: number): Notice | undefined {
    const { notice, calmMs, quietMs = 0 } = heard
    const { cause } = notice
    const known = held.get(cause)
    if (known !== undefined && nowMs - known.seenMs < quietMs) return undefined
    if (calmMs !== undefined) {
      ends.set(cause, { event, heard, dueMs: nowMs + calmMs })
      return undefined
    }
    held.delete(cause)
    return notice
  }

  /** The opening of an incident, or its change; undefined when it is no news. */
  function begun(heard: HeardNotice, nowMs: number): Notice | undefined {
    const { notice, rank = 0 } = heard
    const { cause, kind } = notice
    if (!isIncidentKind(kind)) return notice
    const known = held.get(cause)
    const isBack = ends.delete(cause) && known !== undefined && rank <= known.rank
    if (isBack) held.set(cause, { ...known, seenMs: nowMs })
    else hold(heard, nowMs)
    return isBack ? undefined : notice
  }

  function hear(event: Event, heard: HeardNotice, nowMs: number): readonly Notice[] {
    const { notice, isSame = false } = heard
    if (isSame) {
      ends.delete(notice.cause)
      const known = held.get(notice.cause)
      if (known !== undefined) held.set(notice.cause, { ...known, seenMs: nowMs })
      return []
    }
    const told = notice.isEnd === true ? over(event, heard, nowMs) : begun(heard, nowMs)
    return told === undefined ? [] : [told]
  }

  function dueEnds(untilMs: number): readonly Notice[] {
    return [...ends].flatMap(([cause, { event, heard, dueMs }]) => {
      if (dueMs > untilMs) return []
      ends.delete(cause)
      held.delete(cause)
      return [rewordedEnd(event, heard)]
    })
  }

  /** An end with the state of its subject when it is notified. */
  function rewordedEnd(event: Event, { notice }: HeardNotice): Notice {
    const { late } = rowOfEvent(event)
    const current = late === undefined ? event : (newest.get(late.subject(event)) ?? event)
    if (late === undefined || current === event) return notice
    const [end = { notice }] = noticesOf(late.reword(event, current), seen)
    return end.notice
  }

  function heardOf(event: Event, nowMs: number): readonly Notice[] {
    if (event.type === 'daemon.started') hosts = event
    const { late } = rowOfEvent(event)
    if (late !== undefined) newest.set(late.subject(event), event)
    return noticesOf(event, seen).flatMap((heard) => hear(event, heard, nowMs))
  }

  /** Those that are notified now, by the one rule for what comes again. */
  function news(notices: readonly Notice[], nowMs: number): readonly News[] {
    return notices.flatMap((notice) => {
      const count = again.take(notice, nowMs)
      if (count === undefined) return []
      stories.told({ ...notice, cause: redact(notice.cause), text: redact(notice.text) })
      return [{ notice, count }]
    })
  }

  function look(bare: readonly UnprotectedSide[], nowMs: number): readonly Notice[] {
    const sides = sumsOf(bare)
    const begun = [...sides].flatMap(([side, uncoveredUsd]) => {
      const known = held.get(unprotectedCause(side))
      const isWorse = minOf(lastLook.get(side) ?? -1n, uncoveredUsd) >= 2n * (known?.sizeUsd ?? 0n)
      if (known !== undefined && !isWorse)
        held.set(known.cause, { ...known, seenMs: nowMs, sizeUsd: minOf(known.sizeUsd, uncoveredUsd) })
      // A stop is set a moment after its entry: one look alone says nothing.
      if (!isWorse) return []
      const notice = unprotectedNotice(side, uncoveredUsd)
      hold({ notice }, nowMs, uncoveredUsd)
      return [notice]
    })
    const ended = [...lastLook.keys()].flatMap((side) => {
      const isOver = !sides.has(side) && held.delete(unprotectedCause(side))
      return isOver ? [unprotectedNotice(side)] : []
    })
    lastLook = sides
    return [...begun, ...ended]
  }

  return {
    open: () =>
      [...held.values()].flatMap(({ notice: { kind, cause, level, text, action }, sinceMs }) =>
        isIncidentKind(kind)
          ? [
              {
                ...{ kind, subject: redact(cause), sinceMs, level, reason: redact(text) },
                ...(action !== undefined && { action: redact(action) }),
              },
            ]
          : [],
      ),
    blocking: () =>
      [...held.values()].flatMap(({ kind, cause, blocks }) =>
        blocks === true && isIncidentKind(kind) && !ends.has(cause) ? [kind] : [],
      ),
    look: (bare, nowMs) => news(look(bare, nowMs), nowMs),
    take(event, nowMs) {
      const due = ends.size === 0 ? [] : dueEnds(nowMs)
      return news([...due, ...heardOf(event, nowMs), ...stories.take(event, nowMs)], nowMs)
    },
    report(notice, nowMs) {
      if (notice.isEnd === true) held.delete(notice.cause)
      else if (isIncidentKind(notice.kind)) hold({ notice }, nowMs)
      return news([notice], nowMs)
    },
    recall: (events, nowMs) => events.flatMap((event) => heardOf(event, nowMs)),
    before: stories.before,
    rest: (nowMs) => news(dueEnds(Number.POSITIVE_INFINITY), nowMs),
  }
}
