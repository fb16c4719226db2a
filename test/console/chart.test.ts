/** The chart of a market: candles of several readings are one list, fills are few marks, and what is ours stands at its price. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Candle,
  mostCandles,
  oldPricesText,
  runningCandle,
  withCandles,
} from '../../src/control/console/page/chart/candleList.ts'
import {
  levelsOf,
  lineTitle,
  placesOfMarket,
  shownRange,
} from '../../src/control/console/page/chart/chartLevels.ts'
import {
  fillsOf,
  fillsSinceMs,
  markersOf,
  mostMarkers,
} from '../../src/control/console/page/chart/chartMarkers.ts'
import { chartTexts as words } from '../../src/control/console/page/chart/chartTexts.ts'
import { crosshairText, tickText } from '../../src/control/console/page/chart/chartTimes.ts'
import type { Candles, Order, RestingOrder, Status } from '../../src/control/console/page/pageWire.ts'
import { shownPositions } from '../../src/control/console/page/shownFigures.ts'
import { ETH, order, positionRow, resting, status, usd } from './rows.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const candle = (timestampSeconds: number, close = 2_000): Candle => ({
  ...{ timestampSeconds, open: close, high: close + 5, low: close - 5, close },
})
const candles: Candles = {
  symbol,
  period: '5m',
  candles: [candle(600), candle(900), candle(1_200)],
  indicators: [],
  readAtMs: 0,
}
type Leg = Order['legs'][number]
const fill = (seconds: number, dollars: number, over: Partial<Leg> = {}): Leg => ({
  ...{
    role: 'main',
    status: 'filled',
    orderKey: '0x01',
    triggerPrice: null,
    sizeDeltaUsd: null,
    inForceUsd: null,
  },
  ...{ changedFrom: null, feesUsd: null, pnlUsd: null, venuePnlUsd: null, fundingReceivedUsd: null },
  ...{ sendingUsd: null, entryCostsUsd: null, cancellingUsd: null, ownEntryUsd: null, isEntryKnown: null },
  isProvisional: false,
  executionPrice: usd(dollars),
  filledAt: new Date(seconds * 1_000).toISOString(),
  ...over,
})

test('candles that come are put in by their time, the later reading of one counts, and a chart has 5,000 at most', () => {
  fc.assert(
    fc.property(fc.nat({ max: 300 }), fc.nat({ max: 300 }), fc.nat({ max: 300 }), (from, more, fromOther) => {
      const list = (begin: number, close: number) =>
        Array.from({ length: more + 1 }, (_, at) => candle((begin + at) * 60, close))
      const merged = withCandles(list(from, 1), list(fromOther, 2))
      const times = merged.map(({ timestampSeconds }) => timestampSeconds)
      expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other))
      expect(merged.filter(({ close }) => close === 2)).toHaveLength(more + 1)
    }),
    { seed: 3, numRuns: 100 },
  )
  const many = Array.from({ length: mostCandles }, (_, at) => candle(at * 60))
  const one = withCandles(many, [candle(mostCandles * 60)])
  expect([one.length, one.at(-1)?.timestampSeconds]).toEqual([mostCandles, mostCandles * 60])
  expect(withCandles(many, [])).toBe(many)
})

test('a mark moves the candle that runs or begins the next, and never makes old candles look new', () => {
  const at = (atSeconds: number, price = 2_010) => runningCandle(candle(1_200), { price, atSeconds }, '5m')
  expect(at(1_300)).toEqual({ ...candle(1_200), close: 2_010, high: 2_010 })
  expect(at(1_300, 1_990)).toMatchObject({ low: 1_990, high: 2_005, open: 2_000 })
  expect(at(1_500)).toEqual({ timestampSeconds: 1_500, open: 2_010, high: 2_010, low: 2_010, close: 2_010 })
  expect([at(1_800), at(1_199), runningCandle(undefined, { price: 1, atSeconds: 1 }, '5m')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('a chart says how old it is where prices were not read for a while, or the venue has no newer one, and nothing once it has', () => {
  const at = (nowSeconds: number, readSeconds: number) =>
    oldPricesText({ ...candles, readAtMs: readSeconds * 1_000 }, nowSeconds * 1_000)
  // The newest candle of five minutes began at 1,200 s.
  expect(at(1_245, 1_200)).toBeUndefined()
  expect(at(1_246, 1_200)).toBe(words.readAgo('46 s'))
  expect(at(8_400, 8_399)).toBe(words.newestOf('1970-01-01 00:25:00 UTC', '1 h 55 min'))
  // The next one may be told when it is over, and a while after.
  expect(at(2_100, 2_100)).toBeUndefined()
  expect(at(2_101, 2_101)).toBe(words.newestOf('1970-01-01 00:25:00 UTC', '10 min 1 s'))
  expect(oldPricesText({ ...candles, candles: [], readAtMs: 8_000_000 }, 8_000_000)).toBeUndefined()
})

test('fills are told by what they do and not by the side, and those of one candle are one mark', () => {
  const orders = [
    order('a', { legs: [fill(700, 2_001)] }),
    order('b', { kind: 'decrease', legs: [fill(1_000, 2_002)] }),
    order('c', { direction: 'short', legs: [fill(1_010, 2_003)] }),
    order('d', { direction: 'short', legs: [fill(1_201, 2_004, { role: 'stop-loss' })] }),
    order('e', { legs: [fill(1_202, 2_005)] }),
    order('f', { legs: [fill(1_203, 2_006, { role: 'take-profit' })] }),
    order('other', { market: 'BTC/USD [BTC-USDC]', legs: [fill(750, 90_000)] }),
    order('early', { legs: [fill(100, 1_900)] }),
  ]
  const fills = fillsOf(orders, symbol)
  expect(fills.map(({ text }) => text)[0]).toBe('$1,900.00')
  const marks = (from: number, to: number, textSeconds = 0) =>
    markersOf(fills, { starts: [600, 900, 1_200], stepSeconds: 300 }, { from, to, textSeconds })
  expect(marks(600, 1_200)).toEqual([
    { atSeconds: 600, side: 'buy', text: 'bought at $2,001.00', order: 'a' },
    // A mark opens the story of its newest order.
    { atSeconds: 900, side: 'sell', text: words.fills(2), order: 'c' },
    { atSeconds: 1_200, side: 'both', text: words.fills(3), order: 'f' },
  ])
  // Those out of sight cost nothing.
  expect(marks(900, 900).map(({ atSeconds }) => atSeconds)).toEqual([900])
  // Of texts that would lie over each other the newest one stands.
  expect(marks(600, 1_200, 300).map(({ text }) => text !== '')).toEqual([true, true, true])
  expect(marks(600, 1_200, 301).map(({ text }) => text !== '')).toEqual([true, false, true])
  expect(marks(600, 1_200, 601).map(({ text }) => text !== '')).toEqual([false, false, true])
})

test('a chart draws 200 marks at most, the newest', () => {
  const starts = Array.from({ length: 1_000 }, (_, at) => at * 60)
  const fills = starts.map((start) => ({
    atMs: start * 1_000 + 5,
    isBuy: true,
    price: 1,
    text: '$1.00',
    order: 'a',
  }))
  const marks = markersOf(fills, { starts, stepSeconds: 60 }, { from: 0, to: 60_000, textSeconds: 0 })
  expect([marks.length, marks.at(-1)?.atSeconds]).toEqual([mostMarkers, 999 * 60])
})

test('a chart that begins before the orders that the page has says from when on fills are on it', () => {
  const since = (seconds: number, isAllOrders: boolean) =>
    fillsSinceMs(600, { allSince: new Date(seconds * 1_000).toISOString(), isAllOrders })
  expect([since(700, false), since(600, false), since(700, true)]).toEqual([700_000, undefined, undefined])
  expect(fillsSinceMs(600, { allSince: undefined, isAllOrders: false })).toBeUndefined()
})

/** Levels of ETH with a long of $500 entered at $1,990 and these orders. */
function levels(rows: readonly RestingOrder[], over: Parameters<typeof status>[0] = {}) {
  const known = status({ positions: [positionRow()], restingOrders: rows, ...over })
  return levelsOf({ status: known, positions: shownPositions(known, [], []), market: symbol, places: 2 })
}

test('every order that rests, the entry and the liquidation are levels with kind, price, size and distance, and exits with their result', () => {
  const rows = [
    resting({ type: 'target', triggerPrice: usd(2_200), orderKey: '0x0a', distanceBps100: 100_000 }),
    resting({ type: 'stop', triggerPrice: usd(1_900), orderKey: '0x0b' }),
    resting({ type: 'limit', triggerPrice: usd(1_950), orderKey: '0x0c' }),
    resting({ type: 'part', triggerPrice: null, orderKey: '0x0d' }),
    resting({ market: 'BTC/USD [BTC-USDC]', orderKey: '0x0e' }),
  ]
  expect(levels(rows).map((each) => [each.kind, each.text, each.distance, each.size, each.pnl])).toEqual([
    ['target', '$2,200.00', '+10.00%', '$500.00', '+$52.76'],
    ['entry', '$1,990.00', '-0.50%', '$500.00', undefined],
    ['limit', '$1,950.00', '-2.50%', '$500.00', undefined],
    ['stop', '$1,900.00', '-5.00%', '$500.00', '-$22.61'],
    ['liquidation', '$1,500.00', '-25.00%', '$500.00', '-$123.12'],
  ])
  expect(levels(rows).map(lineTitle)).toEqual([
    'target long $500.00 +$52.76',
    'entry long $500.00',
    'limit long $500.00',
    'stop long $500.00 -$22.61',
    'liquidation long $500.00 -$123.12',
  ])
})

test('an exit of a short gains where the price falls, and one larger than its position counts the position', () => {
  const row = positionRow({ direction: 'short', entryPrice: usd(2_000), liquidationPrice: usd(3_000) })
  const stop = resting({
    direction: 'short',
    triggerPrice: usd(2_100),
    sizeUsd: (2n ** 256n - 1n).toString(),
  })
  expect(levels([stop], { positions: [row] }).find(({ kind }) => kind === 'stop')?.pnl).toBe('-$25.00')
})

test('who maintains an order is told: a running strategy or task, and nobody for what is by hand, of others, or of a strategy that ended', () => {
  const maintainer = (over: Partial<RestingOrder>, strategies: readonly string[] = []) =>
    levels([resting(over)], { strategies: strategies.map((name) => ({ name })) as never }).find(
      ({ order: of }) => of !== undefined,
    )?.maintainer
  expect([
    maintainer({ ownerKind: 'hand', owner: '@operator' }),
    maintainer({ ownerKind: 'others', owner: '' }),
    maintainer({ ownerKind: 'instance', owner: 'eth-trend' }),
    maintainer({ ownerKind: 'instance', owner: 'eth-trend' }, ['eth-trend']),
    maintainer({ ownerKind: 'task', owner: 'chase-1' }),
  ]).toEqual([undefined, undefined, undefined, 'eth-trend', expect.stringContaining('chase-1')])
})

test('prices of one market have one count of places, and a price of many zeros stays readable', () => {
  const small = status({
    restingOrders: [resting({ market: 'PEPE/USD', markPrice: '12300000000000000000000000' })],
  })
  const places = (known: Status, name: string, close?: number) =>
    placesOfMarket({ status: known, markets: [] }, name, close)
  expect(places(small, 'PEPE/USD')).toBe(10)
  expect(places(status(), 'PEPE/USD', 0.0000123)).toBe(10)
  expect(places(status(), 'PEPE/USD')).toBeUndefined()
  expect(places(status({ positions: [positionRow()] }), symbol)).toBe(2)
  expect(places(status({ positions: [positionRow({ markPrice: usd(95_000) })] }), symbol)).toBe(2)
  expect(ETH).toBe(positionRow().marketToken)
})

test('near levels are inside the range, and one far away leaves the candles their room', () => {
  const own = { low: 1_990, high: 2_010 }
  expect(shownRange(own, [{ price: 2_025 }, { price: 1_975 }, { price: 1_500 }, { price: 2_500 }])).toEqual({
    low: 1_975,
    high: 2_025,
  })
  expect(shownRange(own, [])).toEqual(own)
})

test('times are written in UTC over a change of clocks, and are not shifted', () => {
  const changeSeconds = Date.UTC(2026, 9, 25, 1) / 1_000
  expect(crosshairText(changeSeconds)).toBe('2026-10-25 01:00')
  expect([0, 1, 2, 3, 4].map((weight) => tickText(changeSeconds, weight))).toEqual([
    ...['2026', '2026-10', '10-25', '01:00', '01:00:00'],
  ])
})
