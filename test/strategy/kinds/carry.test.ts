import { expect, test } from 'vitest'
import { ONE_USD, usd } from '../../../src/protocol/units.ts'
import { carry } from '../../../src/strategy/kinds/carry.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import { intentState, NOW_MS, position, ticker } from '../../risk/world.ts'
import { decideOn } from './kindScene.ts'

/** A rate an hour that makes this many basis points a day. */
const hourly = (bpsPerDay: number) => (BigInt(bpsPerDay) * ONE_USD) / 240_000n + (bpsPerDay > 0 ? 1n : 0n)
const at = (long: number, short: number, atMs = NOW_MS) => ({
  ticker: { value: ticker({ netRateLong: hourly(long), netRateShort: hourly(short) }), atMs },
})
const noCandles = { params: { period: undefined } }
const flat = [2000]

test('the side that earns enough is opened with a stop', () => {
  expect(decideOn(carry, flat, { ...noCandles, view: at(-20, 16) })).toMatchObject([
    { kind: 'increase', direction: 'short', tpsl: [{ type: 'stop-loss', triggerPrice: usd(2100) }] },
  ])
  expect(decideOn(carry, flat, { ...noCandles, view: at(30, 16) })).toMatchObject([{ direction: 'long' }])
})

test('a rate that is too low, does not earn its costs or is old opens nothing', () => {
  expect(decideOn(carry, flat, { ...noCandles, view: at(14, -20) })).toEqual([])
  expect(
    decideOn(carry, flat, { params: { ...noCandles.params, holdHours: 24 }, view: at(16, -20) }),
  ).toEqual([])
  expect(decideOn(carry, flat, { ...noCandles, view: at(16, -20, NOW_MS - 61_000) })).toEqual([])
})

test("without the venue's net rate, borrowing is taken off the funding", () => {
  const value = ticker({ fundingRateLong: hourly(20), borrowingRateLong: hourly(10) })
  expect(decideOn(carry, flat, { ...noCandles, view: { ticker: { value, atMs: NOW_MS } } })).toEqual([])
  const free = ticker({ fundingRateLong: hourly(20) })
  expect(
    decideOn(carry, flat, { ...noCandles, view: { ticker: { value: free, atMs: NOW_MS } } }),
  ).toHaveLength(1)
})

test('between the two rates a position is kept, below the lower one closed', () => {
  const positions = [position({ entryPrice: usd(2000) })]
  expect(decideOn(carry, flat, { ...noCandles, positions, view: at(5, -5) })).toEqual([])
  expect(decideOn(carry, flat, { ...noCandles, positions, view: at(2, -5) })).toMatchObject([
    { kind: 'close', direction: 'long' },
  ])
})

test('a crash through the stop closes it even when rates are old', () => {
  const positions = [position({ entryPrice: usd(2000) })]
  expect(
    decideOn(carry, [1800], { ...noCandles, positions, view: at(30, 0, NOW_MS - 600_000) }),
  ).toMatchObject([{ kind: 'close' }])
})

test('nothing is opened in a closed market or beside an open order', () => {
  expect(decideOn(carry, flat, { ...noCandles, view: { ...at(30, 0), status: 'closed' } })).toEqual([])
  expect(
    decideOn(carry, flat, { ...noCandles, view: at(30, 0), openIntents: openIntentsOf([intentState()]) }),
  ).toEqual([])
})
