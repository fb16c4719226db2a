/** Views as a check changes them: an honest kind decides the same by each of them. Pure. */
import { defined } from '../../base/defined.ts'
import type { CandleReading, MarketView, Snapshot } from '../../domain/snapshot.ts'
import { type Candle, periodSeconds } from '../../protocol/market.ts'
import type { CandleNeed, Needs } from '../../strategy/strategy.ts'
import type { ShownScene } from './recordedTurns.ts'

/** The candles of a view, each reading changed; `need`: what the kind asked for of it, absent where it did not. */
function withCandles(
  scene: ShownScene,
  needs: Needs,
  change: (
    candles: readonly Candle[],
    reading: CandleReading,
    need: CandleNeed | undefined,
  ) => readonly Candle[],
): ShownScene {
  const changed = (view: MarketView, reading: CandleReading): CandleReading => {
    const { period, candles } = reading.value
    const need = (needs.candles ?? []).find(
      (each) => each.symbol === view.market.symbol && each.period === period,
    )
    return { ...reading, value: { period, candles: change(candles, reading, need) } }
  }
  const markets = new Map(
    [...scene.snapshot.markets].map(([key, view]): [string, MarketView] => [
      key,
      {
        ...view,
        ...defined({ candles: view.candles === undefined ? undefined : changed(view, view.candles) }),
        ...defined({ moreCandles: view.moreCandles?.map((reading) => changed(view, reading)) }),
      },
    ]),
  )
  const snapshot: Snapshot = { ...scene.snapshot, markets }
  return { ...scene, snapshot }
}

/** The view with noise in the place of every candle that was not over; one that the kind declares to read stays. `random`: even numbers in [0, 1). */
export function withoutRunning(scene: ShownScene, needs: Needs, random: () => number): ShownScene {
  const { atMs } = scene.snapshot
  return withCandles(scene, needs, (candles, { value: { period } }, need) =>
    need?.readsRunning === true
      ? candles
      : candles.map((candle) => {
          if ((candle.timestampSeconds + periodSeconds[period]) * 1000 <= atMs) return candle
          const [open, close] = [candle.open * (0.7 + 0.6 * random()), candle.open * (0.7 + 0.6 * random())]
          return {
            ...candle,
            open,
            close,
            high: Math.max(open, close) * (1 + random() / 10),
            low: Math.min(open, close) * (1 - random() / 10),
          }
        }),
  )
}

/** The view with no more candles than the kind asked for: the newest. */
export function cutToNeeds(scene: ShownScene, needs: Needs): ShownScene {
  return withCandles(scene, needs, (candles, _reading, need) =>
    need === undefined ? candles : candles.slice(-need.limit),
  )
}

/** The calendar repeats after 28 years: weekday, date and leap year. */
const CALENDAR_MS = 10_227 * 86_400_000
/** From when to when a number is taken for a time, Unix ms: 2000 to 2058. Amounts are bigints, prices far smaller. */
const [FIRST_MS, LAST_MS] = [946_684_800_000, 2_800_000_000_000]

/**
 * The value with every time in it moved by 28 years, back where `direction` is -1. A kind that looks times up in a table or in its own file finds
 * nothing there, or other things; one that reads hours, weekdays and spans sees the same. Numbers that could be spans are times by the name of
 * their field alone.
 */
export function movedInTime(value: unknown, direction: 1 | -1, name = ''): unknown {
  if (typeof value === 'number') {
    if (value >= FIRST_MS && value <= LAST_MS) return value + direction * CALENDAR_MS
    const isSecond = value >= FIRST_MS / 1000 && value <= LAST_MS / 1000 && /second|time/i.test(name)
    return isSecond ? value + (direction * CALENDAR_MS) / 1000 : value
  }
  if (Array.isArray(value)) return value.map((each) => movedInTime(each, direction, name))
  if (value instanceof Map)
    return new Map([...value].map(([key, each]) => [key, movedInTime(each, direction, String(key))]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, movedInTime(each, direction, key)]),
  )
}
