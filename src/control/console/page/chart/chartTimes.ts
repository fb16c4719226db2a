/** Moments on a chart's axis and at its crosshair. The times of candles are never shifted: their text alone is of a zone. Pure. */
import { momentText, zoneInForce } from '../shownTimes.ts'

/** `2026-11-23 18:39`: the moment at the crosshair. `time`: Unix seconds. */
export function crosshairText(time: unknown): string {
  return momentText(Number(time) * 1_000).slice(0, 16)
}

/**
 * A moment of the axis, as short as its weight allows: the year, the month, the day, or the clock.
 *
 * @param time Unix seconds
 * @param weight 0: begins a year; 1: a month; 2: a day; 3: within a day; 4: with seconds
 */
export function tickText(time: unknown, weight: number): string {
  const text = momentText(Number(time) * 1_000)
  if (weight === 0) return text.slice(0, 4)
  if (weight === 1) return text.slice(0, 7)
  // The library's days are UTC days: elsewhere one of them begins within a day, whose clock is shown too.
  if (weight === 2) return zoneInForce() === 'utc' ? text.slice(5, 10) : text.slice(5, 16)
  return weight === 3 ? text.slice(11, 16) : text.slice(11)
}
