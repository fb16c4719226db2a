/**
 * Prices that follow candles of real dates: each second's price is one of its own candle, before the world's start too. A finished candle of the venue is
 * the candle of the history, to the last digit. Between candles there is no price: the last one is shown, and nothing trades on it.
 */
import { hexKey } from '../../protocol/address.ts'
import type { PricePair } from '../math/marketState.ts'
import type { CatalogIndex } from './catalog.ts'
import { assetOf, type PriceRange, type Prices } from './prices.ts'

/** The extreme that a candle's price reaches first; `unknown` while nobody can say yet: it may be at either at any second. */
export type CandleWay = 'nearer first' | 'high first' | 'low first' | 'unknown'

/** Candles of one asset by column, ascending, all of one length; prices in ticks of 10^-decimals dollars. */
export interface PriceHistory {
  readonly length: number
  /** Unix seconds of each candle's start. */
  readonly startSeconds: Float64Array
  readonly open: BigInt64Array
  readonly high: BigInt64Array
  readonly low: BigInt64Array
  readonly close: BigInt64Array
  readonly decimals: number
  /** Length of a candle, seconds; at least 4. */
  readonly periodSeconds: number
  /** The way inside the candle that starts then; `nearer first` when absent. */
  readonly wayOf?: (startSeconds: number) => CandleWay
}

const HALF_SPREAD_PER_MILLION = 100n
const USD_DECIMALS = 30

interface Followed extends PriceHistory {
  /** Contract price of a tick: multiplied, then divided. */
  readonly times: bigint
  readonly by: bigint
  /** The candle that was asked for last. */
  at: number
}

/** Puts histories by asset (`BTC`) in the place of seeded prices. Tokens of other assets stand still: stable coins at a dollar, others at their recorded price. */
export function historyPrices(
  seeded: Prices,
  histories: ReadonlyMap<string, PriceHistory>,
  catalog: CatalogIndex,
): Prices {
  const byKey = new Map<string, Followed>()
  const still = new Map<string, PricePair>()
  for (const key of seeded.tokens) {
    const token = catalog.tokenByAddress.get(hexKey(key))
    const history = token === undefined ? undefined : histories.get(assetOf(token))
    if (token === undefined) continue
    if (history === undefined || history.length === 0) {
      const sample = catalog.catalog.samplePrices.find(({ address }) => hexKey(address) === key)
      const dollar = 10n ** BigInt(USD_DECIMALS - token.decimals)
      const median = token.isStable ? dollar : (BigInt(sample?.min ?? 0) + BigInt(sample?.max ?? 0)) / 2n
      still.set(key, { min: median, max: median })
      continue
    }
    // A contract price is USD with 30 decimals for a base unit of the token.
    const places = USD_DECIMALS - history.decimals - token.decimals
    byKey.set(key, {
      ...history,
      times: places >= 0 ? 10n ** BigInt(places) : 1n,
      by: places < 0 ? 10n ** BigInt(-places) : 1n,
      at: 0,
    })
  }
  const priceOf = ({ times, by }: Followed, ticks: bigint): bigint => {
    const price = (ticks * times) / by
    return price > 0n ? price : 1n
  }
  const medianAt = (key: string, seconds: number): bigint | undefined => {
    const followed = byKey.get(key)
    if (followed === undefined) return still.get(key)?.min
    return priceOf(followed, ticksAt(followed, seconds))
  }
  const rangeOf = (key: string, fromSeconds: number, toSeconds: number): PriceRange | undefined => {
    const followed = byKey.get(key)
    if (followed === undefined) {
      const median = still.get(key)?.min
      return median === undefined ? undefined : { open: median, high: median, low: median, close: median }
    }
    const ticks = ticksIn(followed, fromSeconds, Math.max(fromSeconds, toSeconds - 1))
    return {
      open: priceOf(followed, ticks.open),
      high: priceOf(followed, ticks.high),
      low: priceOf(followed, ticks.low),
      close: priceOf(followed, ticks.close),
    }
  }
  const pairOf = (key: string, median: bigint): PricePair | undefined => {
    if (!byKey.has(key)) return still.get(key)
    const half = (median * HALF_SPREAD_PER_MILLION) / 1_000_000n
    return { min: median > half ? median - half : median, max: median + half }
  }
  return {
    tokens: seeded.tokens,
    // Each second has a price, also long ago.
    stepAt: (seconds) => ({ startSeconds: Math.floor(seconds), lengthSeconds: 1 }),
    pairOf,
    medianAt,
    rangeOf,
    at: (key, seconds) => {
      if (!byKey.has(key)) return still.get(key)
      const median = medianAt(key, Math.floor(seconds))
      return median === undefined ? undefined : pairOf(key, median)
    },
    hasPrice: (key, seconds) => {
      const followed = byKey.get(key)
      if (followed === undefined) return true
      const at = placeOf(followed, Math.floor(seconds))
      const startSeconds = followed.startSeconds[at] ?? 0
      return seconds >= startSeconds && seconds < startSeconds + followed.periodSeconds
    },
  }
}

/** The place of the last candle that began by a moment; 0 before the first. Time mostly advances: the last place is tried first. */
function placeOf(followed: Followed, seconds: number): number {
  const { startSeconds, length } = followed
  const startOf = (at: number): number => startSeconds[at] ?? Number.POSITIVE_INFINITY
  for (let at = followed.at; at <= followed.at + 1 && at < length; at += 1)
    if (startOf(at) <= seconds && seconds < startOf(at + 1)) {
      followed.at = at
      return at
    }
  let low = 0
  let high = length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (startOf(middle) <= seconds) low = middle
    else high = middle - 1
  }
  followed.at = low
  return low
}

/** The ends of the three legs of a candle's way, in seconds from its start: the close is reached in its last second. */
function legsOf(periodSeconds: number): readonly [number, number, number] {
  return [Math.floor(periodSeconds / 3), Math.floor((2 * periodSeconds) / 3), periodSeconds - 1]
}

/** The corners of a candle's way: from open over one extreme, as a rule the nearer one, to the other and to close. */
function cornersOf({ open, high, low, close }: PriceHistory, at: number, way: CandleWay): readonly bigint[] {
  const [first = 0n, most = 0n, least = 0n, last = 0n] = [open[at], high[at], low[at], close[at]]
  const isHighFirst = way === 'high first' || (way !== 'low first' && most - first < first - least)
  return isHighFirst ? [first, most, least, last] : [first, least, most, last]
}

function wayAt({ startSeconds, wayOf }: PriceHistory, at: number): CandleWay {
  return wayOf?.(startSeconds[at] ?? 0) ?? 'nearer first'
}

function ticksAt(followed: Followed, seconds: number): bigint {
  const at = placeOf(followed, seconds)
  const into = seconds - (followed.startSeconds[at] ?? 0)
  return onWay(cornersOf(followed, at, wayAt(followed, at)), legsOf(followed.periodSeconds), into)
}

/** Where on its way a candle is `into` seconds from its start; before it at its open, after it at its close. */
function onWay(corners: readonly bigint[], ends: readonly number[], into: number): bigint {
  let from = 0
  for (let leg = 0; leg < 3; leg += 1) {
    const end = ends[leg] ?? 0
    const [start = 0n, stop = 0n] = [corners[leg], corners[leg + 1]]
    if (into <= from) return start
    if (into <= end) return start + ((stop - start) * BigInt(into - from)) / BigInt(end - from)
    from = end
  }
  return corners[3] ?? 0n
}

/** First, highest, lowest and last price of the seconds from one to another, both included. */
function ticksIn(followed: Followed, fromSeconds: number, toSeconds: number): PriceRange {
  const { startSeconds, periodSeconds, length } = followed
  const ends = legsOf(periodSeconds)
  const open = ticksAt(followed, fromSeconds)
  const first = followed.at
  let [high, low, close] = [open, open, open]
  const see = (ticks: bigint): void => {
    if (ticks > high) high = ticks
    if (ticks < low) low = ticks
  }
  for (let at = first; at < length && (startSeconds[at] ?? 0) <= toSeconds; at += 1) {
    const start = startSeconds[at] ?? 0
    const way = wayAt(followed, at)
    if (start >= fromSeconds && start + periodSeconds - 1 <= toSeconds) {
      // On whatever way, a whole candle reaches all its corners and ends at its close.
      close = followed.close[at] ?? 0n
      see(followed.open[at] ?? 0n)
      see(followed.high[at] ?? 0n)
      see(followed.low[at] ?? 0n)
      see(close)
      continue
    }
    const corners = cornersOf(followed, at, way)
    for (const [place, ticks] of corners.entries()) {
      const second = start + (place === 0 ? 0 : (ends[place - 1] ?? 0))
      if (way === 'unknown' || (second >= fromSeconds && second <= toSeconds)) see(ticks)
    }
    close = onWay(corners, ends, Math.min(toSeconds, start + periodSeconds) - start)
    see(close)
  }
  return { open, high, low, close }
}
