/** Where in its candles a replay is at a moment, for the venue that plays them and for all who report it. */

import { isoTime } from '../clock.ts'
import type { FileCandle } from './candleFile.ts'

/** Length of a candle without a successor, seconds. */
export const LAST_CANDLE_SECONDS = 60

/** A replay and when it began. */
export interface RunningReplay {
  /** Name of its file, without folders. */
  readonly file: string
  /** Candles by asset, each ascending. */
  readonly series: ReadonlyMap<string, readonly FileCandle[]>
  /** Seconds of the file for a second of the clock. */
  readonly speed: number
  /** Unix seconds of the clock at the file's beginning. */
  readonly epochSeconds: number
}

/** Where a replay is. */
export interface ReplayPlace {
  readonly file: string
  readonly speed: number
  /** Date within the file, Unix ms; after the last candle that of its end. */
  readonly atMs: number
  /** End of the last candle of the file, Unix ms. */
  readonly endMs: number
  /** When the clock is there, Unix ms. */
  readonly endsAtMs: number
  /** Assets of the file without a candle of that date: not yet begun, or over. Their prices stand still. */
  readonly still: readonly string[]
  readonly hasEnded: boolean
}

/** The date at which the files of a replay begin, Unix seconds. */
export function replayStartSeconds(series: RunningReplay['series']): number {
  return Math.min(...[...series.values()].map((candles) => candles[0]?.startSeconds ?? 0))
}

/** Finds where a replay is. */
export function replayPlace(replay: RunningReplay, nowMs: number): ReplayPlace {
  const { file, series, speed, epochSeconds } = replay
  const startMs = replayStartSeconds(series) * 1000
  const endMs = Math.max(...[...series.values()].map((candles) => spanOf(candles).endMs))
  const dateMs = startMs + Math.max(0, nowMs - epochSeconds * 1000) * speed
  const still = [...series].flatMap(([asset, candles]) => {
    const span = spanOf(candles)
    return dateMs < span.startMs || dateMs >= span.endMs ? [asset] : []
  })
  return {
    file,
    speed,
    atMs: Math.min(dateMs, endMs),
    endMs,
    endsAtMs: epochSeconds * 1000 + (endMs - startMs) / speed,
    still,
    hasEnded: dateMs >= endMs,
  }
}

/** Moments of the clock at which an asset's candles begin or end, Unix ms, ascending. */
export function replayChanges({ series, speed, epochSeconds }: RunningReplay): readonly number[] {
  const startMs = replayStartSeconds(series) * 1000
  const dates = [...series.values()].flatMap((candles) => Object.values(spanOf(candles)))
  const moments = dates.map((dateMs) => epochSeconds * 1000 + (dateMs - startMs) / speed)
  return [...new Set(moments)].sort((one, other) => one - other)
}

/** A replay in a sentence's part, as log and status have it. */
export function replayText({ file, speed, atMs, endMs, endsAtMs, still, hasEnded }: ReplayPlace): string {
  if (hasEnded)
    return `${file} ended at ${minute(endsAtMs)}: its last candle is of ${minute(endMs)}, and ${still.join(', ')} keep their last price`
  const fast = speed === 1 ? '' : `, ${speed} times as fast as the clock`
  const rest =
    still.length === 0 ? '' : `; ${still.join(', ')} have no candle of that date and keep their last price`
  return `${file} is at ${minute(atMs)} of ${minute(endMs)}${fast}; it ends at ${minute(endsAtMs)}${rest}`
}

function minute(atMs: number): string {
  return `${isoTime(atMs).slice(0, 16)}Z`
}

function spanOf(candles: readonly FileCandle[]): { readonly startMs: number; readonly endMs: number } {
  const [first, last] = [candles[0]?.startSeconds ?? 0, candles.at(-1)?.startSeconds ?? 0]
  return { startMs: first * 1000, endMs: (last + LAST_CANDLE_SECONDS) * 1000 }
}
