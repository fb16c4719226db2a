import { expect, test } from 'vitest'
import { atr, closedCandles, ema, highest, lowest, sma, zScore } from '../../src/strategy/indicators.ts'
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

test('the z-score counts standard deviations from the mean', () => {
  expect(zScore(candles([1, 1, 1, 5]).value.candles, 4)).toBeCloseTo(Math.sqrt(3), 9)
  expect(zScore(candles([3, 3, 3]).value.candles, 3)).toBe(0)
})

test('the channel is that of the last candles', () => {
  expect([highest(rows, 2), lowest(rows, 2)]).toEqual([16, 10])
  expect([highest(rows, 5), lowest(rows, 5)]).toEqual([16, 9])
})

test('too few candles say nothing', () => {
  for (const indicator of [sma, ema, atr, zScore, highest, lowest]) {
    expect(indicator(rows, 6)).toBeUndefined()
  }
})

test('the running candle is not a closed one', () => {
  expect(closedCandles(rows, '1m', NOW_MS)).toHaveLength(4)
  expect(closedCandles(rows, '1m', NOW_MS + 60_000)).toHaveLength(5)
})
