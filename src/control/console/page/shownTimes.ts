/**
 * Spans and moments as people read them. Moments are UTC, as everywhere in perpd, or local where somebody chose that for this browser. Days of results,
 * limits and files are UTC days in either zone.
 */

/** Zones that moments are shown in. */
export const zones = ['utc', 'local'] as const

/** A zone: `local` is that of the machine with the browser. */
export type Zone = (typeof zones)[number]

/** The zone of all moments that are drawn. */
let zone: Zone = 'utc'

/** Has moments drawn in a zone from now on; whoever calls it draws anew what is drawn already. */
export function showZone(next: Zone): void {
  zone = next
}

/** The zone that moments are drawn in. */
export function zoneInForce(): Zone {
  return zone
}

/** Minutes that the clock of the zone is ahead of UTC at a moment. `atMs`: Unix ms. */
function minutesAhead(atMs: number): number {
  return zone === 'utc' ? 0 : -new Date(atMs).getTimezoneOffset()
}

/** `UTC`, `UTC+2`, `UTC-3:30`: the zone that moments are shown in, as it is at this one. `atMs`: Unix ms. */
export function zoneName(atMs: number): string {
  const ahead = minutesAhead(atMs)
  if (ahead === 0) return 'UTC'
  const [hours, minutes] = [Math.trunc(Math.abs(ahead) / 60), Math.abs(ahead) % 60]
  return `UTC${ahead < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${String(minutes).padStart(2, '0')}`}`
}

/** `4 s`, `3 min 5 s`, `2 h 3 min`, `3 d 4 h`; what lies ahead of its clock by less than a second is `0 s`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `1.2 s`, `32 ms`: how long something took. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : spanText(ms)
}

/** `18:39:02` in the zone that is shown. `atMs`: Unix ms. */
export function clockText(atMs: number): string {
  return momentText(atMs).slice(11)
}

/** `2026-11-23 18:39:02` in the zone that is shown. `atMs`: Unix ms. */
export function momentText(atMs: number): string {
  return utcText(atMs + minutesAhead(atMs) * 60_000)
}

/** The same with the name of the zone: `2026-11-23 18:39:02 UTC`. */
export function zonedText(atMs: number): string {
  return `${momentText(atMs)} ${zoneName(atMs)}`
}

/** `2026-11-23 18:39:02`, UTC: moments of what is counted by UTC days. `atMs`: Unix ms. */
export function utcText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * Moments of an axis, as short as they are told apart: days by their date; within days by the clock, with the date in a second line at the
 * first and wherever it is another than before. `atMs`: Unix ms, in order; `textOf`: a moment in the zone of the axis.
 */
export function axisTexts(atMs: readonly number[], textOf = momentText): readonly string[] {
  const gapMs = Math.min(...atMs.slice(1).map((each, index) => each - (atMs[index] ?? each)))
  return atMs.map((each, index) => {
    const [date, clock] = textOf(each).split(' ') as [string, string]
    if (gapMs >= 86_400_000) return date
    const time = gapMs < 60_000 ? clock : clock.slice(0, 5)
    const before = atMs[index - 1]
    return before !== undefined && textOf(before).startsWith(date) ? time : `${time}\n${date}`
  })
}

/** A moment of the wire in Unix ms; undefined for none. */
export function millisOf(iso: string | null): number | undefined {
  if (iso === null) return undefined
  const atMs = Date.parse(iso)
  return Number.isNaN(atMs) ? undefined : atMs
}
