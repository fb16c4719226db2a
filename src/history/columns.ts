/**
 * Candles by column, as history keeps them in memory and on disk: a year of minutes is 21 MB, and no object per row. Prices are whole ticks;
 * a tick is a power of ten of a dollar, the same for all rows. Pure.
 */
import type { FileCandle } from '../base/candles/candleFile.ts'
import { absOf, tenTo, USD_DECIMALS } from '../protocol/units.ts'

/** Names of the columns of prices, in the order in which files have them. */
export const priceColumns = ['open', 'high', 'low', 'close'] as const

/** Candles by column, ascending by time. */
export interface CandleColumns {
  /** Number of candles. */
  readonly length: number
  /** Unix seconds of each candle's start. */
  readonly startSeconds: Float64Array
  /** Prices in ticks. */
  readonly open: BigInt64Array
  readonly high: BigInt64Array
  readonly low: BigInt64Array
  readonly close: BigInt64Array
  /** Decimal places of a tick: a tick is 10^-decimals dollars. 0 to 18. */
  readonly decimals: number
}

/** Most digits of a price in ticks: what a signed integer of 64 bits and a decimal of Parquet in as many bits hold. */
const MOST_DIGITS = 18
/** Digits that the largest price leaves free, so that a series may grow a hundredfold without a coarser tick. */
const SPARE_DIGITS = 2

/** A price in USD with 30 decimals for a tick of so many places. */
export function usdPerTick(decimals: number): bigint {
  return tenTo(USD_DECIMALS - decimals)
}

/** The candle at a place, prices in USD with 30 decimals. Throws RangeError where none is. */
export function candleAt(columns: CandleColumns, index: number): FileCandle {
  const unit = usdPerTick(columns.decimals)
  const of = (column: BigInt64Array): bigint => {
    const ticks = column[index]
    if (ticks === undefined) throw new RangeError(`no candle ${index} of ${columns.length}`)
    return ticks * unit
  }
  return {
    startSeconds: columns.startSeconds[index] ?? 0,
    open: of(columns.open),
    high: of(columns.high),
    low: of(columns.low),
    close: of(columns.close),
  }
}

/** All candles as objects. */
export function candlesOf(columns: CandleColumns): readonly FileCandle[] {
  return Array.from({ length: columns.length }, (_, index) => candleAt(columns, index))
}

/** Columns of so many candles, all zero. */
export function emptyColumns(length: number, decimals: number): CandleColumns {
  const prices = (): BigInt64Array => new BigInt64Array(length)
  return {
    length,
    startSeconds: new Float64Array(length),
    open: prices(),
    high: prices(),
    low: prices(),
    close: prices(),
    decimals,
  }
}

/**
 * Puts candles into columns, with the coarsest tick that loses no digit of them.
 *
 * @param least decimal places that a tick has at least
 * @returns `rounded`: how many prices have more digits than a tick may have and were rounded to the nearest one, at a relative 10^-15 at most
 */
export function columnsOf(
  candles: readonly FileCandle[],
  least = 0,
): {
  readonly columns: CandleColumns
  readonly rounded: number
} {
  const { wanted, most } = placesOf(candles)
  const decimals = Math.max(Math.min(least, most + SPARE_DIGITS), Math.min(wanted, most))
  const columns = emptyColumns(candles.length, decimals)
  const unit = usdPerTick(decimals)
  let rounded = 0
  for (const [index, candle] of candles.entries()) {
    columns.startSeconds[index] = candle.startSeconds
    for (const name of priceColumns) {
      const price = candle[name]
      if (wanted > decimals && price % unit !== 0n) rounded += 1
      columns[name][index] = wanted > decimals ? (price + unit / 2n) / unit : price / unit
    }
  }
  return { columns, rounded }
}

/** Decimal places that the prices have, and the most that a tick of them may have. */
function placesOf(candles: readonly FileCandle[]): { readonly wanted: number; readonly most: number } {
  let wanted = 0
  let unit = usdPerTick(0)
  let largest = 0n
  for (const candle of candles) {
    if (candle.high > largest) largest = candle.high
    for (const name of priceColumns) {
      while (candle[name] % unit !== 0n) unit = usdPerTick(++wanted)
    }
  }
  return { wanted, most: mostPlaces(largest) }
}

/** Most decimal places of ticks in which a price has its digits and some to spare. */
function mostPlaces(price: bigint): number {
  const whole = absOf(price) / usdPerTick(0)
  const digits = whole === 0n ? 0 : whole.toString().length
  return Math.max(0, MOST_DIGITS - SPARE_DIGITS - digits)
}

/** Columns of the same candles with another tick; a coarser one rounds. Throws RangeError for prices that a finer one cannot hold. */
export function withDecimals(columns: CandleColumns, decimals: number): CandleColumns {
  if (decimals === columns.decimals) return columns
  const changed = emptyColumns(columns.length, decimals)
  changed.startSeconds.set(columns.startSeconds)
  const factor = tenTo(Math.abs(decimals - columns.decimals))
  const limit = tenTo(MOST_DIGITS)
  for (const name of priceColumns) {
    for (let index = 0; index < columns.length; index++) {
      const ticks = columns[name][index] ?? 0n
      const other = decimals > columns.decimals ? ticks * factor : (ticks + factor / 2n) / factor
      if (other >= limit) throw new RangeError(`a price of ${ticks} ticks has no tick of ${decimals} places`)
      changed[name][index] = other
    }
  }
  return changed
}

/** Candles of several files in one, in the order given; each price keeps its digits as far as one tick for all can hold them. */
export function joinColumns(parts: readonly CandleColumns[]): CandleColumns {
  const most = parts.reduce((least, { high, decimals }) => {
    const largest = high.reduce((one, other) => (other > one ? other : one), 0n)
    return Math.min(least, mostPlaces(largest * usdPerTick(decimals)) + SPARE_DIGITS)
  }, MOST_DIGITS)
  const finest = parts.reduce((places, { decimals }) => Math.max(places, decimals), 0)
  const decimals = Math.min(finest, most)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const joined = emptyColumns(length, decimals)
  let at = 0
  for (const part of parts) {
    const same = withDecimals(part, decimals)
    joined.startSeconds.set(same.startSeconds, at)
    for (const name of priceColumns) joined[name].set(same[name], at)
    at += part.length
  }
  return joined
}

/** The candles from one place to before another, over the same memory. */
export function sliceColumns(columns: CandleColumns, from: number, to: number): CandleColumns {
  return {
    length: Math.max(0, to - from),
    startSeconds: columns.startSeconds.subarray(from, to),
    open: columns.open.subarray(from, to),
    high: columns.high.subarray(from, to),
    low: columns.low.subarray(from, to),
    close: columns.close.subarray(from, to),
    decimals: columns.decimals,
  }
}

/** The place of the first candle that starts at or after a moment, Unix seconds; the number of candles where none does. */
export function placeAt({ startSeconds, length }: CandleColumns, seconds: number): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((startSeconds[middle] ?? 0) < seconds) low = middle + 1
    else high = middle
  }
  return low
}
