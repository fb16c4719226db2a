/**
 * Closings of a market with sessions, as a strategy file states them: spans of the week or of single dates by the wall clock of a named time zone,
 * with time before and after them. The venue shows only whether a market is open now. Pure; the zones' rules are those of the platform (`Intl`).
 *
 * Clocks may skip a time or show it twice. Such a time means the earlier instant where a span begins, and the later one where it ends. A change to or
 * from summer time therefore never shortens a span.
 */

/** Days of a week as files name them, Monday first. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** One of them. */
export type Weekday = (typeof weekdays)[number]

/** A moment of each week, or of one date, by the wall clock. */
export type ClosingMoment =
  | { readonly weekday: Weekday; readonly date?: never; readonly minute: number }
  /** `2026-12-24`. */
  | { readonly date: string; readonly weekday?: never; readonly minute: number }

/** A span in which a market is closed; both ends of one sort. A weekly one is shorter than a week. */
export interface ClosedSpan {
  readonly from: ClosingMoment
  readonly to: ClosingMoment
}

/** The closings of a file. */
export interface Closings {
  /** IANA name. */
  readonly timeZone: string
  readonly spans: readonly ClosedSpan[]
  /** Time before a closing during which no exposure is added, ms of real time. */
  readonly beforeMs: number
  /** Time after the market reopens during which no exposure is added, ms of real time. */
  readonly afterMs: number
}

/** A closing that keeps entries back now. Unix ms. */
export interface NearClosing {
  readonly span: ClosedSpan
  readonly closesMs: number
  readonly opensMs: number
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const WEEK_DAYS = 7
const WEEK_MINUTES = WEEK_DAYS * 1_440

/** The first of the closings that `atMs` is in, or near to by the time before and after it; undefined: none. */
export function nearClosing(
  { timeZone, spans, beforeMs, afterMs }: Closings,
  atMs: number,
): NearClosing | undefined {
  for (const span of spans) {
    for (const [closesMs, opensMs] of occurrencesOf(span, timeZone, atMs)) {
      if (atMs >= closesMs - beforeMs && atMs < opensMs + afterMs) return { span, closesMs, opensMs }
    }
  }
  return undefined
}

/** Longest time before a closing and after it: within it, and a week, all that may hold now are looked at. */
export const MOST_AROUND_MS = 2 * DAY_MS

/** Returns the beginnings and ends of those occurrences of a span that may apply about now. */
function occurrencesOf(
  { from, to }: ClosedSpan,
  timeZone: string,
  atMs: number,
): readonly (readonly [closesMs: number, opensMs: number])[] {
  if (from.date !== undefined && to.date !== undefined) {
    const [first, last] = [dayOf(from.date), dayOf(to.date)]
    return [[earliest(timeZone, first, from.minute), latest(timeZone, last, to.minute)]]
  }
  const length = weeklyLength({ from, to })
  const today = Math.floor((atMs + offsetAt(timeZone, atMs)) / DAY_MS)
  const wanted = weekdays.indexOf(from.weekday ?? 'mon')
  const days = Array.from({ length: 14 }, (_, index) => today - 10 + index)
  return days
    .filter((day) => weekdayOf(day) === wanted)
    .map((day) => {
      const end = from.minute + length
      return [
        earliest(timeZone, day, from.minute),
        latest(timeZone, day + Math.floor(end / 1_440), end % 1_440),
      ] as const
    })
}

/** Minutes of the wall clock that a weekly span lasts: less than a week, and 0 where both ends are the same. */
export function weeklyLength({ from, to }: ClosedSpan): number {
  const inWeek = ({ weekday = 'mon', minute }: ClosingMoment) => weekdays.indexOf(weekday) * 1_440 + minute
  return (((inWeek(to) - inWeek(from)) % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES
}

/** Days since 1970-01-01, a Thursday, to Monday as 0. */
function weekdayOf(day: number): number {
  return (((day + 3) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS
}

/** Days since 1970-01-01 of a date. */
function dayOf(date: string): number {
  return Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS)
}

function earliest(timeZone: string, day: number, minute: number): number {
  return Math.min(...instantsOf(timeZone, day, minute))
}

function latest(timeZone: string, day: number, minute: number): number {
  return Math.max(...instantsOf(timeZone, day, minute))
}

/** The instants at which the clocks of a zone show a time; of one that they skip, those between which they do. */
function instantsOf(timeZone: string, day: number, minute: number): readonly number[] {
  const wallMs = day * DAY_MS + minute * MINUTE_MS
  const candidates = [-DAY_MS, DAY_MS].map((aside) => wallMs - offsetAt(timeZone, wallMs + aside))
  const shown = candidates.filter((candidate) => candidate + offsetAt(timeZone, candidate) === wallMs)
  return shown.length > 0 ? shown : candidates
}

/**
 * Returns the local time of a time zone at an instant (Unix ms): the day of the week, and minutes since midnight. Throws RangeError for an unknown
 * zone.
 */
export function wallClockIn(
  timeZone: string,
  atMs: number,
): { readonly weekday: Weekday; readonly minute: number } {
  const wallMs = atMs + offsetAt(timeZone, atMs)
  const day = Math.floor(wallMs / DAY_MS)
  const minute = Math.floor((wallMs - day * DAY_MS) / MINUTE_MS)
  return { weekday: weekdays[weekdayOf(day)] ?? 'mon', minute }
}

/** A format is dear to make, and there are as many as files name zones. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns how far the clocks of a zone are ahead of UTC at an instant, ms. */
function offsetAt(timeZone: string, atMs: number): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(timeZone, format)
  }
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  const wallMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return wallMs - Math.floor(atMs / 1_000) * 1_000
}
