/** Results as the page draws them: weeks of a calendar, bars of days, and lines over time. Pure. */
import type { PnlLine } from './pageWire.ts'
import { absOf, amountOf } from './shownAmount.ts'

const dayMs = 86_400_000

/** A day of the calendar; one without a row has no result. */
export interface CalendarDay {
  /** `2026-11-28`, UTC. */
  readonly day: string
  /** In whole cents, USD; absent: nothing happened. */
  readonly centsUsd?: bigint
}

/** A week of it, Monday first. */
export interface CalendarWeek {
  /** Its Monday. */
  readonly start: string
  readonly days: readonly CalendarDay[]
  /** Sum of its days as they are shown, USD. */
  readonly centsUsd: bigint
}

const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

/** Weeks with results and those between them, newest first. `rows`: by day, oldest first. */
export function calendarOf(rows: readonly PnlLine[]): readonly CalendarWeek[] {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return []
  const known = new Map(rows.map(({ name, centsUsd }) => [name, amountOf(centsUsd)]))
  const weeks: CalendarWeek[] = []
  for (let startMs = mondayOf(last.name); startMs >= mondayOf(first.name); startMs -= 7 * dayMs) {
    const days = Array.from({ length: 7 }, (_, at): CalendarDay => {
      const day = dayOf(startMs + at * dayMs)
      const centsUsd = known.get(day)
      return centsUsd === undefined ? { day } : { day, centsUsd }
    })
    weeks.push({
      start: dayOf(startMs),
      days,
      centsUsd: days.reduce((sum, { centsUsd = 0n }) => sum + centsUsd, 0n),
    })
  }
  return weeks
}

/** Unix ms of the Monday before a day. The epoch was a Thursday. */
function mondayOf(day: string): number {
  const atMs = Date.parse(`${day}T00:00:00Z`)
  return atMs - ((Math.floor(atMs / dayMs) + 3) % 7) * dayMs
}

/** Days up to the newest with a result, oldest first, at most so many. */
export function lastDays(rows: readonly PnlLine[], most: number): readonly CalendarDay[] {
  const days = calendarOf(rows)
    .toReversed()
    .flatMap((week) => week.days)
  const newest = rows.at(-1)?.name ?? ''
  return days.filter(({ day }) => day <= newest).slice(-most)
}

/** A line over time: the sum of its days up to each. */
export interface ResultLine {
  readonly name: string
  /** At each of the days, USD. */
  readonly sumsUsd: readonly bigint[]
  /** All of it, in cents as they are shown, USD. */
  readonly centsUsd: bigint
  readonly trades: number
  readonly wins: number
}

/** Lines in one chart at most; the rest is one of them. */
const MOST_LINES = 8

/** Lines of names, those with the largest results first; `rows`: by day and name. The rest is added up under `others`. */
export function linesOf(
  rows: readonly PnlLine[],
  others: string,
): { readonly days: readonly string[]; readonly lines: readonly ResultLine[] } {
  const days = [...new Set(rows.map(({ name }) => name))]
  const place = new Map(days.map((day, at) => [day, at]))
  const all = [...Map.groupBy(rows, ({ each }) => each ?? '')].map(([name, own]) =>
    lineOf(name, own, days.length, place),
  )
  const bySize = all.toSorted((one, other) => (absOf(other.centsUsd) > absOf(one.centsUsd) ? 1 : -1))
  if (bySize.length <= MOST_LINES) return { days, lines: bySize }
  const kept = bySize.slice(0, MOST_LINES - 1)
  const names = new Set(kept.map(({ name }) => name))
  const rest = rows.filter(({ each = '' }) => !names.has(each))
  return { days, lines: [...kept, lineOf(others, rest, days.length, place)] }
}

function lineOf(
  name: string,
  rows: readonly PnlLine[],
  count: number,
  place: ReadonlyMap<string, number>,
): ResultLine {
  const byDay = Array.from({ length: count }, () => 0n)
  let [centsUsd, trades, wins] = [0n, 0, 0]
  for (const row of rows) {
    const at = place.get(row.name) ?? 0
    byDay[at] = (byDay[at] ?? 0n) + amountOf(row.centsUsd)
    centsUsd += amountOf(row.centsUsd)
    trades += row.trades
    wins += row.wins
  }
  let sum = 0n
  const sumsUsd = byDay.map((each) => {
    sum += each
    return sum
  })
  return { name, sumsUsd, centsUsd, trades, wins }
}
