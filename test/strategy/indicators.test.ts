import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ATR,
  adx,
  atr,
  bollinger,
  closedCandles,
  donchian,
  EMA,
  ema,
  highest,
  lowest,
  macd,
  RSI,
  roc,
  rsi,
  sma,
  stochastic,
  zScore,
} from '../../src/strategy/indicators.ts'
import { candles, NOW_MS } from '../risk/world.ts'

const rows = candles([10, 12, 11, 15, 14]).value.candles

test('averages stand on the last closes', () => {
  expect(sma(rows, 2)).toBe(14.5)
  // k = 2 / 3: 10, 11.3333, 11.1111, 13.7037, 13.9012.
  expect(ema(rows, 2)).toBeCloseTo(13.9012346, 6)
  expect(ema(candles(Array(30).fill(7)).value.candles, 10)).toBeCloseTo(7, 9)
})

test('the true range counts the gap to the last close', () => {
  const flat = candles([10, 10, 10, 10]).value.candles
  expect(atr(flat, 3)).toBe(2)
  expect(atr(candles([10, 20, 30, 40]).value.candles, 3)).toBeGreaterThan(2)
})

test('averages and ranges are those of the library, to the last digit', () => {
  const closes = fc.array(fc.double({ min: 1, max: 1e5, noNaN: true }), { minLength: 1, maxLength: 80 })
  fc.assert(
    fc.property(closes, fc.integer({ min: 1, max: 40 }), (prices, length) => {
      const { candles: given } = candles(prices).value
      const [average, range] = [new EMA(length), new ATR(length)]
      for (const candle of given) {
        average.add(candle.close)
        range.add(candle)
      }
      const known = given.length >= length
      expect(ema(given, length)).toBe(known ? average.getResult() : undefined)
      expect(atr(given, length)).toBe(known ? range.getResult() : undefined)
    }),
  )
})

test('the z-score counts standard deviations from the mean', () => {
  expect(zScore(candles([1, 1, 1, 5]).value.candles, 4)).toBeCloseTo(Math.sqrt(3), 9)
  // The mean of equal decimals may differ from them by rounding: three times 0.1 is more than 0.3.
  for (const [close, count] of [
    [3, 3],
    [0.1, 3],
    [0.1, 7],
  ] as const) {
    expect(zScore(candles(Array(count).fill(close)).value.candles, count)).toBe(0)
  }
})

test('the channel is that of the last candles', () => {
  expect([highest(rows, 2), lowest(rows, 2)]).toEqual([16, 10])
  expect([highest(rows, 5), lowest(rows, 5)]).toEqual([16, 9])
  expect(donchian(rows, 5)).toEqual({ lower: 9, middle: 12.5, upper: 16 })
})

test('the rate of change is by the close so many candles before', () => {
  expect(roc(rows, 4)).toBeCloseTo(0.4, 12)
  expect(roc(rows, 1)).toBeCloseTo(-1 / 15, 12)
})

const anyCandle = fc
  .tuple(...Array.from({ length: 3 }, () => fc.double({ min: 1e-9, max: 1e9, noNaN: true })))
  .map(([one = 1, other = 1, close = 1], index = 0) => ({
    timestampSeconds: index,
    open: one,
    close,
    high: Math.max(one, other, close),
    low: Math.min(one, other, close),
  }))

test('channel, z-score and rate of change are what their definitions give by hand, to the last bit', () => {
  const run = fc.record({
    rows: fc.array(anyCandle, { minLength: 3, maxLength: 40 }),
    length: fc.integer({ min: 2, max: 40 }),
  })
  fc.assert(
    fc.property(run, ({ rows, length }) => {
      if (rows.length < length) {
        expect([highest(rows, length), lowest(rows, length), zScore(rows, length)]).toEqual([
          undefined,
          undefined,
          undefined,
        ])
        return
      }
      const window = rows.slice(-length)
      expect(highest(rows, length)).toBe(Math.max(...window.map(({ high }) => high)))
      expect(lowest(rows, length)).toBe(Math.min(...window.map(({ low }) => low)))
      const closes = window.map(({ close }) => close)
      const mean = closes.reduce((sum, close) => sum + close, 0) / length
      const variance = closes.reduce((sum, close) => sum + (close - mean) ** 2, 0) / length
      const newest = closes.at(-1) ?? 0
      const isFlat = closes.every((close) => close === newest)
      expect(zScore(rows, length)).toBe(isFlat ? 0 : (newest - mean) / Math.sqrt(variance))
      const [first = 0] = closes
      expect(roc(rows, length - 1)).toBe((newest - first) / first)
    }),
    { seed: 15, numRuns: 300 },
  )
})

test('too few candles say nothing', () => {
  for (const indicator of [sma, ema, atr, zScore, highest, lowest, roc]) {
    expect(indicator(rows, 6)).toBeUndefined()
  }
})

test('the running candle is not a closed one', () => {
  expect(closedCandles(rows, '1m', NOW_MS)).toHaveLength(4)
  expect(closedCandles(rows, '1m', NOW_MS + 60_000)).toHaveLength(5)
})

const rising = candles(Array.from({ length: 60 }, (_none, index) => 100 + index)).value.candles

test('the relative strength of closes that only rise is 100, of as many gains as losses 50', () => {
  expect(rsi(rising, 14)).toBe(100)
  // Gains 2, 0, 4, 0 and losses 0, 1, 0, 1 over 4 steps: averages 1.5 and 0.5, strength 3.
  expect(rsi(rows, 4)).toBeCloseTo(75, 9)
  const indicator = new RSI(4)
  for (const { close } of rows) indicator.add(close)
  expect(indicator.getResult()).toBeCloseTo(75, 9)
})

test('Bollinger bands lie at standard deviations around the average', () => {
  // 1, 1, 1, 5: mean 2, variance 3.
  const bands = bollinger(candles([1, 1, 1, 5]).value.candles, 4, 2)
  expect(bands?.middle).toBe(2)
  expect(bands?.upper).toBeCloseTo(2 + 2 * Math.sqrt(3), 9)
  expect(bands?.lower).toBeCloseTo(2 - 2 * Math.sqrt(3), 9)
})

test('a steady rise shows in the averages, the directional index and the oscillator', () => {
  const found = macd(rising, { fast: 12, slow: 26, signal: 9 })
  expect(found?.macd).toBeGreaterThan(0)
  expect(found?.histogram).toBeCloseTo((found?.macd ?? 0) - (found?.signal ?? 0), 9)
  expect(adx(rising, 14)).toBeGreaterThan(90)
  // Each close is 1 below its high, of a range of 15.
  expect(stochastic(rising, { k: 14, slowing: 3, d: 3 })?.k).toBeCloseTo((15 / 16) * 100, 0)
})

test('too few candles say nothing of the longer ones either', () => {
  expect(rsi(rows, 5)).toBeUndefined()
  expect(adx(rising.slice(0, 20), 14)).toBeUndefined()
  expect(macd(rising.slice(0, 20), { fast: 12, slow: 26, signal: 9 })).toBeUndefined()
  expect(bollinger(rows, 6)).toBeUndefined()
  expect(stochastic(rows, { k: 14, slowing: 3, d: 3 })).toBeUndefined()
})
