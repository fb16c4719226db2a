/** Candles of a fast run: those that the venue's oracle serves, whatever moments are asked for. */
import { expect, test } from 'vitest'
import { createCandleWindows } from '../../src/backtest/fast/candleWindows.ts'
import { createCandles } from '../../src/paper/catalog/candles.ts'
import { indexCatalog, loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { historyPrices } from '../../src/paper/catalog/historyPrices.ts'
import { createPrices } from '../../src/paper/catalog/prices.ts'
import { unit } from '../../src/paper/math/random.ts'
import { type CandlePeriod, periodSeconds } from '../../src/protocol/market.ts'

const start = Date.UTC(2024, 0, 1) / 1000
const catalog = indexCatalog(loadCatalog('arbitrum'))
const token = catalog.catalog.tokens.find(({ symbol }) => symbol === 'WETH')
if (token === undefined) throw new TypeError('no WETH')
const asked = { key: catalog.priceKeyOf(token), decimals: token.decimals }

/** Two days of minutes with a gap of half an hour. */
function prices() {
  const minutes = Array.from({ length: 2_880 }, (_, at) => at).filter((at) => at < 700 || at >= 730)
  const ticks = (at: number, of: number): bigint =>
    BigInt(200_000 + Math.round(4_000 * Math.sin(at / 97)) + of)
  const columns = {
    startSeconds: Float64Array.from(minutes, (at) => start + at * 60),
    open: BigInt64Array.from(minutes, (at) => ticks(at, 0)),
    high: BigInt64Array.from(minutes, (at) => ticks(at, 60 + Math.floor(unit(1, at) * 90))),
    low: BigInt64Array.from(minutes, (at) => ticks(at, -70 - Math.floor(unit(2, at) * 90))),
    close: BigInt64Array.from(minutes, (at) => ticks(at, Math.floor(unit(3, at) * 50) - 25)),
  }
  const history = { length: minutes.length, ...columns, decimals: 2, periodSeconds: 60 }
  const seeded = createPrices({ seed: 1, epochSeconds: start, catalog })
  return historyPrices(seeded, new Map([['ETH', history]]), catalog)
}

test('a window is what the oracle serves, at closes and between them, forth and back, over a gap', () => {
  const source = prices()
  const windows = createCandleWindows(source)
  const asOracle = (period: CandlePeriod, limit: number, second: number) =>
    // The oracle's own candles are made once time has come to them, and never for an earlier moment.
    [...createCandles(source).newest(asked.key, period, limit, second)]
      .map(({ timestampSeconds, open, high, low, close }) => {
        const [o, h, l, c] = [open, high, low, close].map((price) => Number(price) / 10 ** 12)
        return { timestampSeconds, open: o, high: h, low: l, close: c }
      })
      .toReversed()
  const wanted: readonly (readonly [CandlePeriod, number])[] = [
    ['1m', 60],
    ['5m', 40],
    ['1h', 9],
    ['4h', 3],
  ]
  for (const [period, limit] of wanted) {
    const from = start + limit * periodSeconds[period]
    const step = period === '1m' || period === '5m' ? 60 : 300
    for (let second = from; second < start + 2_800 * 60; second += step * 7)
      expect(windows.at(asked, period, limit, second), `${period} ${second - start}`).toEqual(
        asOracle(period, limit, second),
      )
    for (const second of [from + 7, from + 61, from + 3, from + 3_000, from + 2_999])
      expect(windows.at(asked, period, limit, second), `${period} ${second - start}`).toEqual(
        asOracle(period, limit, second),
      )
  }
  expect(windows.at({ key: 'nothing', decimals: 18 }, '1m', 5, start + 600)).toBeUndefined()
})

test('what was asked for long ago is made again', () => {
  const source = prices()
  const windows = createCandleWindows(source)
  const early = windows.at(asked, '1m', 10, start + 1_200)
  windows.at(asked, '1m', 10, start + 2_800 * 60)
  expect(windows.at(asked, '1m', 10, start + 1_200)).toEqual(early)
})
