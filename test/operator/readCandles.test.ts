/** However many pages look at a market, the venue is asked once in ten seconds, and a fault is not kept. */
import { expect, test } from 'vitest'
import { createDecidedPrices } from '../../src/engine/decidedPrices.ts'
import { chartCandles, createCandleReads, mostCandles } from '../../src/operator/port/readCandles.ts'
import { priceOfLevel } from '../../src/strategy/levels.ts'

const [weth, wbtc] = [
  '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
  '0x47904963fc8b2340414262125aF798B9655E58Cd',
]
const market = (symbol: string, indexToken: string, more: object = {}) => ({
  symbol,
  marketToken: `0x${symbol.length}`,
  indexToken,
  isSpotOnly: false,
  ...more,
})
const at = (timestampSeconds: number) => ({ timestampSeconds, open: 1, high: 1, low: 1, close: 1 })

/** Reads over a venue that counts what it is asked, at a time that a test moves. */
function bench() {
  const asked: unknown[] = []
  const state = { nowMs: 0, isDown: false, rows: [at(900), at(600)] }
  const api = {
    getMarkets: () =>
      Promise.resolve({
        value: [
          market('ETH/USD [WETH-USDC]', weth),
          market('ETH/USD [WETH-WETH]', weth),
          market('BTC/USD [BTC-USDC]', wbtc),
          market('SWAP-ONLY [USDC-USDT]', weth, { isSpotOnly: true }),
        ],
      }),
    getOracleTokens: () => Promise.resolve({ value: [{ symbol: 'ETH', address: weth.toLowerCase() }] }),
    getCandles: (query: unknown) => {
      asked.push(query)
      if (state.isDown) return Promise.reject(new Error('down'))
      return Promise.resolve({ value: state.rows, readAtMs: 7 })
    },
  }
  const instance = (name: string) => {
    const decidedPrices = createDecidedPrices()
    return { status: () => ({ name }), decidedPrices }
  }
  const instances = [instance('eth-trend'), instance('eth-grid')]
  const { candles } = createCandleReads(
    { api: api as never, clock: { now: () => state.nowMs, monotonicMs: () => state.nowMs } },
    { all: () => instances },
  )
  return { asked, state, candles, instances }
}

test('prices that strategies named on the market come with its candles, newer ones at once', async () => {
  const { asked, candles, instances } = bench()
  const name = 'ETH/USD [WETH-USDC]'
  const [one, other] = instances.map(({ decidedPrices }) => decidedPrices)
  one?.take({ [name]: { fast: priceOfLevel(2_000.5), slow: priceOfLevel(1_990) } }, 600_000)
  other?.take({ 'BTC/USD [BTC-USDC]': { longLine: priceOfLevel(60_000) } }, 600_000)
  const lines = async () => (await candles('eth/usd [weth-usdc]', '5m'))?.indicators
  const slow = { strategy: 'eth-trend', name: 'slow', points: [[600, 1_990]] }
  expect(await lines()).toEqual([{ strategy: 'eth-trend', name: 'fast', points: [[600, 2_000.5]] }, slow])
  one?.take({ [name]: { fast: priceOfLevel(2_001) } }, 900_000)
  const fast = [
    [600, 2_000.5],
    [900, 2_001],
  ]
  expect(await lines()).toEqual([{ strategy: 'eth-trend', name: 'fast', points: fast }, slow])
  expect(asked).toHaveLength(1)
})

test('candles come oldest first, of the index token by its address, and are asked for once in ten seconds', async () => {
  const { asked, state, candles } = bench()
  const report = await candles('ETH/USD [WETH-USDC]', '5m')
  expect(report).toEqual({
    symbol: 'ETH/USD [WETH-USDC]',
    period: '5m',
    candles: [at(600), at(900)],
    indicators: [],
    readAtMs: 7,
  })
  await Promise.all([candles('eth/usd [weth-usdc]', '5m'), candles('ETH/USD [WETH-USDC]', '5m')])
  expect(asked).toEqual([{ tokenSymbol: 'ETH', period: '5m', limit: chartCandles }])
  await candles('ETH/USD [WETH-USDC]', '1h')
  state.nowMs = 10_000
  await candles('ETH/USD [WETH-USDC]', '5m')
  expect(asked).toHaveLength(3)
})

test('two markets of one pair have one price; one that nobody prices, knows or trades has none', async () => {
  const { candles } = bench()
  expect(await candles('ETH', '5m')).toMatchObject({ candles: [at(600), at(900)] })
  for (const name of ['BTC/USD [BTC-USDC]', 'NOPE/USD', 'SWAP-ONLY [USDC-USDT]'])
    expect([name, await candles(name, '5m')]).toEqual([name, undefined])
})

test('a fault is told to whoever asks, and the next one asks anew', async () => {
  const { state, candles } = bench()
  state.isDown = true
  await expect(candles('ETH', '5m')).rejects.toThrow('down')
  state.isDown = false
  expect(await candles('ETH', '5m')).toMatchObject({ period: '5m' })
})

test('older candles are the first of more of the newest, never more than a chart has, and one reading serves several parts', async () => {
  const { asked, state, candles } = bench()
  const last = 6_000 * 300
  state.nowMs = last * 1_000
  state.rows = Array.from({ length: 800 }, (_, back) => at(last - back * 300))
  const starts = async (limit: number, beforeSeconds?: number) =>
    (
      await candles('ETH', '5m', { limit, ...(beforeSeconds === undefined ? {} : { beforeSeconds }) })
    )?.candles.map(({ timestampSeconds }) => (last - timestampSeconds) / 300)
  expect(await starts(2)).toEqual([1, 0])
  expect(await starts(3, last - 300 * 300)).toEqual([303, 302, 301])
  expect(await starts(2, last - 390 * 300)).toEqual([392, 391])
  expect(await starts(10, last - 795 * 300)).toEqual([799, 798, 797, 796])
  await starts(mostCandles, last - 300 * 300)
  expect(asked).toEqual(
    [chartCandles, 400, 1_600, mostCandles].map((limit) => ({ tokenSymbol: 'ETH', period: '5m', limit })),
  )
})
