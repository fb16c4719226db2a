/**
 * Figures of the closed candles of one reading, for signals only. Hundreds of instances share a reading, so each figure is made once for it;
 * a reading's candles are never changed. Readings between two closes have the same closed candles, and the same figures.
 */

import type { CandleReading } from '../domain/snapshot.ts'
import type { Candle, CandlePeriod } from '../protocol/market.ts'
import { atr, closedCandles, ema, secondsOfPeriod } from './indicators.ts'

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
  let fromMs = Number.NEGATIVE_INFINITY
  let untilMs = Number.POSITIVE_INFINITY
  for (const { timestampSeconds } of candles) {
    const endMs = (timestampSeconds + secondsOfPeriod(period)) * 1000
    if (endMs <= nowMs) fromMs = Math.max(fromMs, endMs)
    else untilMs = Math.min(untilMs, endMs)
  }
  const figures = sameFigures(closedCandles(candles, period, nowMs))
  made.set(candles, { period, fromMs, untilMs, figures })
  return figures
}

/** The last figures of each first candle. */
const byFirst = new WeakMap<Candle, ClosedFigures>()

/** Gives the figures of the reading before where each closed candle is the same object. */
function sameFigures(candles: readonly Candle[]): ClosedFigures {
  const [first] = candles
  if (first === undefined) return figuresOf(candles)
  const last = byFirst.get(first)
  const isSame =
    last?.candles.length === candles.length && last.candles.every((one, at) => one === candles[at])
  if (isSame) return last
  const figures = figuresOf(candles)
  byFirst.set(first, figures)
  return figures
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
