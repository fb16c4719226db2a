/**
 * Figures of the closed candles of one reading, for signals only. Hundreds of instances share a reading, so each figure is made once for it;
 * a reading's candles are never changed. Readings between two closes have the same closed candles, and the same figures.
 */

import type { CandleReading } from '../domain/snapshot.ts'
import type { Candle, CandlePeriod } from '../protocol/market.ts'
import { atr, closedCandles, ema, secondsOfPeriod } from './closedCandles.ts'

/** Figures of candles whose period is over. */
export interface ClosedFigures {
  readonly candles: readonly Candle[]
  /** As `ema` and `atr` of these candles. */
  ema(length: number): number | undefined
  atr(length: number): number | undefined
}

/** Figures, and from when until when (Unix ms) these candles are the closed ones. */
interface Made {
  readonly period: CandlePeriod
  readonly fromMs: number
  readonly untilMs: number
  readonly figures: ClosedFigures
}

/** The last ones of each list of candles. */
const made = new WeakMap<readonly Candle[], Made>()

/** Gives the figures of the candles of a reading whose period is over at `nowMs` (Unix ms). */
export function closedFigures({ period, candles }: CandleReading['value'], nowMs: number): ClosedFigures {
  const last = made.get(candles)
  if (last?.period === period && nowMs >= last.fromMs && nowMs < last.untilMs) return last.figures
  const now = madeBefore(candles, period, nowMs) ?? madeNow(candles, period, nowMs)
  made.set(candles, now)
  return now.figures
}

/** The last ones of each first candle. */
const byFirst = new WeakMap<Candle, Made>()

/** Gives the ones of the reading before where each closed candle is the same object, and no other one has closed. */
function madeBefore(candles: readonly Candle[], period: CandlePeriod, nowMs: number): Made | undefined {
  const [first] = candles
  const last = first && byFirst.get(first)
  if (last?.period !== period || nowMs < last.fromMs) return undefined
  const closed = last.figures.candles
  for (let at = 0; at < closed.length; at += 1) if (candles[at] !== closed[at]) return undefined
  let untilMs = Number.POSITIVE_INFINITY
  for (let at = closed.length; at < candles.length; at += 1) {
    const endMs = endMsOf(candles[at], period)
    if (endMs <= nowMs) return undefined
    untilMs = Math.min(untilMs, endMs)
  }
  return { ...last, untilMs }
}

function madeNow(candles: readonly Candle[], period: CandlePeriod, nowMs: number): Made {
  let [fromMs, untilMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const candle of candles) {
    const endMs = endMsOf(candle, period)
    if (endMs <= nowMs) fromMs = Math.max(fromMs, endMs)
    else untilMs = Math.min(untilMs, endMs)
  }
  const now = { period, fromMs, untilMs, figures: figuresOf(closedCandles(candles, period, nowMs)) }
  const [first] = now.figures.candles
  if (first !== undefined) byFirst.set(first, now)
  return now
}

/** Unix ms of the end of a candle. */
function endMsOf(candle: Candle | undefined, period: CandlePeriod): number {
  return ((candle?.timestampSeconds ?? 0) + secondsOfPeriod(period)) * 1000
}

function figuresOf(candles: readonly Candle[]): ClosedFigures {
  return {
    candles,
    ema: madeByLength((length) => ema(candles, length)),
    atr: madeByLength((length) => atr(candles, length)),
  }
}

function madeByLength(make: (length: number) => number | undefined): (length: number) => number | undefined {
  const known = new Map<number, number | undefined>()
  return (length) => {
    if (!known.has(length)) known.set(length, make(length))
    return known.get(length)
  }
}
