/** Prices that follow candles of real dates: candles come out as they went in, each second is on the way inside one, and between them is no price. */
import { expect, test } from 'vitest'
import { createCandles } from '../../src/paper/catalog/candles.ts'
import { indexCatalog, loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { historyPrices, type PriceHistory } from '../../src/paper/catalog/historyPrices.ts'
import { assetOf, createPrices } from '../../src/paper/catalog/prices.ts'
import { hexKey } from '../../src/protocol/address.ts'

const start = 1_704_153_600
const catalog = indexCatalog(loadCatalog('arbitrum'))
const token = catalog.catalog.tokens.find((each) => each.symbol === 'WETH')
const key = hexKey(token?.address ?? '')
const seeded = createPrices({ seed: 1, epochSeconds: start, catalog })

/** Minutes of ETH in cents; the second one is missing. */
const bars = [
  { minute: 0, open: 200_000n, high: 200_900n, low: 199_000n, close: 200_500n },
  { minute: 2, open: 180_000n, high: 180_300n, low: 179_100n, close: 179_400n },
  { minute: 3, open: 179_400n, high: 179_400n, low: 179_400n, close: 179_400n },
]
const column = (name: 'open' | 'high' | 'low' | 'close') => BigInt64Array.from(bars.map((bar) => bar[name]))
const history: PriceHistory = {
  length: bars.length,
  startSeconds: Float64Array.from(bars.map(({ minute }) => start + minute * 60)),
  open: column('open'),
  high: column('high'),
  low: column('low'),
  close: column('close'),
  decimals: 2,
  periodSeconds: 60,
}
const prices = historyPrices(seeded, new Map([['ETH', history]]), catalog)
/** A contract price of a token of 18 decimals, in cents. */
const cents = (price: bigint | undefined) => (price ?? 0n) / 10n ** 10n

test('a finished candle is the candle of the history, to the last digit', () => {
  const candles = createCandles(prices)
  for (const { minute, open, high, low, close } of bars) {
    const candle = candles.candle(key, '1m', start + minute * 60, start + 600)
    expect([candle?.open, candle?.high, candle?.low, candle?.close].map(cents)).toEqual([
      open,
      high,
      low,
      close,
    ])
  }
  // A coarser one is made of those that are there, and of the last price where none is.
  const whole = candles.candle(key, '5m', start, start + 600)
  expect([whole?.open, whole?.high, whole?.low, whole?.close].map(cents)).toEqual([
    200_000n,
    200_900n,
    179_100n,
    179_400n,
  ])
})

test('inside a candle the price goes from open over the nearer extreme and the farther one to close', () => {
  const at = (second: number) => cents(prices.medianAt(key, start + second))
  expect([0, 20, 40, 59].map(at)).toEqual([200_000n, 200_900n, 199_000n, 200_500n])
  expect(at(10)).toBe(200_450n)
  for (let second = 0; second < 60; second += 7) {
    const range = prices.rangeOf(key, start + second, start + 55)
    const seen = Array.from(
      { length: Math.max(1, 55 - second) },
      (_unused, more) => prices.medianAt(key, start + second + more) ?? 0n,
    )
    expect([range?.open, range?.close]).toEqual([seen[0], seen.at(-1)])
    expect(range?.high).toBe(seen.reduce((one, other) => (other > one ? other : one)))
    expect(range?.low).toBe(seen.reduce((one, other) => (other < one ? other : one)))
  }
})

test('between candles there is no price, and the last one is shown', () => {
  const has = (second: number) => prices.hasPrice?.(key, start + second)
  expect([-1, 0, 59, 60, 119, 120, 239, 240].map(has)).toEqual([
    false,
    true,
    true,
    false,
    false,
    true,
    true,
    false,
  ])
  expect(cents(prices.medianAt(key, start + 90))).toBe(200_500n)
  expect(cents(prices.medianAt(key, start + 120))).toBe(180_000n)
})

test('assets without candles stand still, stable coins at a dollar', () => {
  for (const each of catalog.catalog.tokens) {
    const price = prices.at(catalog.priceKeyOf(each), start)
    if (price === undefined || assetOf(each) === 'ETH') continue
    expect(prices.at(catalog.priceKeyOf(each), start + 86_400)).toEqual(price)
    if (each.isStable)
      expect(price).toEqual({
        min: 10n ** BigInt(30 - each.decimals),
        max: 10n ** BigInt(30 - each.decimals),
      })
  }
})
