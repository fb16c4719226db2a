/** The chart of a market: what is ours stands at its price and time, and what is far away leaves the curve its room. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Candles, Order } from '../../src/control/console/page/pageWire.ts'
import {
  fillsSinceMs,
  oldPricesText,
  placedApart,
  priceChartOf,
  priceRange,
  timeRange,
} from '../../src/control/console/page/shownChart.ts'
import { shownPositions } from '../../src/control/console/page/shownFigures.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { order, positionRow, status, usd } from './rows.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const candle = (timestampSeconds: number, close: number) => ({
  timestampSeconds,
  open: close,
  high: close,
  low: close,
  close,
})
const candles: Candles = {
  symbol,
  period: '5m',
  candles: [candle(600, 2_000), candle(900, 2_010), candle(1_200, 1_995)],
  readAtMs: 0,
}
type Leg = Order['legs'][number]
const leg = (over: Partial<Leg>): Leg => ({
  role: 'main',
  status: 'filled',
  orderKey: '0x01',
  triggerPrice: null,
  sizeDeltaUsd: null,
  inForceUsd: null,
  changedFrom: null,
  executionPrice: null,
  filledAt: null,
  feesUsd: null,
  pnlUsd: null,
  venuePnlUsd: null,
  fundingReceivedUsd: null,
  sendingUsd: null,
  entryCostsUsd: null,
  cancellingUsd: null,
  ownEntryUsd: null,
  isEntryKnown: null,
  isProvisional: false,
  ...over,
})
const fill = (seconds: number, dollars: number, over: Partial<Leg> = {}) =>
  leg({ executionPrice: usd(dollars), filledAt: new Date(seconds * 1_000).toISOString(), ...over })
const positions = shownPositions(status({ positions: [positionRow()] }), [], [])

test('fills stand between the candles at their own time and price, told by what they do and not by the side', () => {
  const orders = [
    order('a', { legs: [fill(700, 2_001)] }),
    order('b', { kind: 'decrease', legs: [fill(800, 2_002)] }),
    order('c', { direction: 'short', legs: [fill(900, 2_003)] }),
    order('d', { direction: 'short', kind: 'increase', legs: [fill(1_000, 2_004, { role: 'stop-loss' })] }),
    order('other', { market: 'BTC/USD [BTC-USDC]', legs: [fill(750, 90_000)] }),
    order('early', { legs: [fill(100, 1_900)] }),
  ]
  const chart = priceChartOf(candles, { orders, positions: [] })
  expect(chart.xs).toEqual([600, 700, 800, 900, 1_000, 1_200])
  expect(chart.closes).toEqual([2_000, null, null, 2_010, null, 1_995])
  expect(chart.buys).toEqual([null, 2_001, null, null, 2_004, null])
  expect(chart.sells).toEqual([null, null, 2_002, 2_003, null, null])
  expect(chart.fills.map(({ text }) => text)).toEqual(['$2,001.00', '$2,002.00', '$2,003.00', '$2,004.00'])
})

test('levels are the entry and liquidation of what is held, and what rests; what is over is none', () => {
  const resting = (role: Leg['role'], dollars: number) =>
    leg({ role, status: 'resting', triggerPrice: usd(dollars) })
  const orders = [
    order('a', { legs: [fill(700, 2_001), resting('stop-loss', 1_900), resting('take-profit', 2_200)] }),
    order('b', { legs: [resting('stop-loss', 1_900)] }),
    order('c', { legs: [resting('main', 1_950), leg({ status: 'cancelled', triggerPrice: usd(1) })] }),
  ]
  const { levels } = priceChartOf(candles, { orders, positions })
  expect(levels.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'entry $1,990.00',
    'liquidation $1,500.00',
    'stop $1,900.00',
    'target $2,200.00',
    'order $1,950.00',
  ])
})

test('every price that moved is inside the range, and a level far away leaves the curve its room', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 20 }), (prices) => {
      const moved = { ...candles, candles: prices.map((price, at) => candle(at * 300, price)) }
      const chart = priceChartOf(moved, { orders: [], positions })
      const [low, high] = priceRange(chart)
      expect(low).toBeLessThan(Math.min(...prices))
      expect(high).toBeGreaterThan(Math.max(...prices))
      const reach = Math.max(Math.max(...prices) - Math.min(...prices), Math.max(...prices) * 0.002)
      expect(high - low).toBeLessThanOrEqual(4 * reach)
    }),
  )
  expect(priceRange(priceChartOf({ ...candles, candles: [] }, { orders: [], positions: [] }))).toEqual([0, 1])
})

test('candles are drawn whole: their wicks are inside the range, and the last one ends within the time', () => {
  const wide = { timestampSeconds: 1_500, open: 2_000, high: 2_100, low: 1_900, close: 2_010 }
  const chart = priceChartOf(
    { ...candles, candles: [...candles.candles, wide] },
    { orders: [order('a', { legs: [fill(1_700, 2_001)] })], positions: [] },
  )
  expect(chart.candles.at(-1)).toEqual({ at: 1_500, open: 2_000, high: 2_100, low: 1_900, close: 2_010 })
  const [low, high] = priceRange(chart)
  expect([low < 1_900, high > 2_100]).toEqual([true, true])
  expect(timeRange(chart)).toEqual([600, 1_800])
  expect(
    timeRange(priceChartOf(candles, { orders: [order('a', { legs: [fill(1_600, 2_001)] })], positions: [] })),
  ).toEqual([600, 1_600])
})

test('names of levels overprint no other, stay in their order, and inside where there is room for all', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 240 }), { maxLength: 12 }), (wanted) => {
      const places = placedApart(wanted, 14, { top: 14, bottom: 240 })
      const sorted = places.toSorted((one, other) => one - other)
      expect(sorted.every((place, at) => at === 0 || place - (sorted[at - 1] ?? 0) >= 14)).toBe(true)
      expect(places.every((place) => place >= 14 && place <= 240)).toBe(true)
      for (const [at, own] of wanted.entries())
        for (const [to, other] of wanted.entries())
          if (own < other) expect(places[at] ?? 0).toBeLessThan(places[to] ?? 0)
    }),
    { seed: 7, numRuns: 200 },
  )
  expect(placedApart([100, 200], 14, { top: 0, bottom: 240 })).toEqual([100, 200])
})

test('a chart that begins before the orders that the page has says from when on fills are on it', () => {
  const chart = priceChartOf(candles, { orders: [], positions: [] })
  const since = (seconds: number, isAllOrders: boolean) =>
    fillsSinceMs(chart, { allSince: new Date(seconds * 1_000).toISOString(), isAllOrders })
  expect([since(700, false), since(600, false), since(700, true)]).toEqual([700_000, undefined, undefined])
  expect(fillsSinceMs(chart, { isAllOrders: false })).toBeUndefined()
})

test('a chart says how old it is where prices were not read for a while, or the venue has no newer one, and nothing once it has', () => {
  const at = (seconds: number, readAtSeconds: number) =>
    oldPricesText({ ...candles, readAtMs: readAtSeconds * 1_000 }, seconds * 1_000)
  // The newest candle of five minutes began at 1,200 s.
  expect(at(1_245, 1_200)).toBeUndefined()
  expect(at(1_246, 1_200)).toBe(texts.prices.readAgo('46 s'))
  expect(at(8_400, 1_200)).toBe(texts.prices.readAgo('2 h 0 min'))
  expect(at(8_400, 8_399)).toBe(texts.prices.newestOf('1970-01-01 00:25:00', '1 h 55 min'))
  // The next one may be told when it is over, and a while after.
  expect(at(2_100, 2_100)).toBeUndefined()
  expect(at(2_101, 2_101)).toBe(texts.prices.newestOf('1970-01-01 00:25:00', '10 min 1 s'))
  expect(oldPricesText({ ...candles, candles: [], readAtMs: 8_000_000 }, 8_000_000)).toBeUndefined()
})
