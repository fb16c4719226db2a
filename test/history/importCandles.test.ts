/** Imports into the history: whose candles they are, which are left out, and that prices of something else are refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { type ImportRequest, importCandles } from '../../src/history/importCandles.ts'
import { assetOfMarket } from '../../src/history/indexAssets.ts'
import { type HistoryStore, openStore } from '../../src/history/store.ts'

const START = 1_735_689_600
let folder: string
let store: HistoryStore
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-import-'))
  store = openStore(join(folder, 'history'))
  return () => rmSync(folder, { recursive: true, force: true })
})

/** Candles that are `apart` seconds, each of one price. */
const rows = (count: number, apart = 60, price = (at: number): number => 2000 + at) =>
  Array.from({ length: count }, (_, at) => {
    const each = price(at)
    return `${START + at * apart},${each},${each},${each},${each}`
  })

async function imported(name: string, lines: readonly string[], request: Partial<ImportRequest> = {}) {
  const path = join(folder, name)
  writeFileSync(path, lines.join('\n'))
  const usual = { source: 'exchange', maxBasisBps: 50, nowSeconds: START + 1e6 }
  return await importCandles(store, { path, ...usual, ...request })
}

test.each([
  ['ETH-1m.csv', 'ETH'],
  ['ETHUSDT-1m-2025-01.csv', 'ETH'],
  ['pepe_usd.csv', 'PEPE'],
])('%s is of %s by its name', async (name, asset) => {
  const [first] = await imported(name, rows(3))
  expect(first?.series).toEqual({ asset, period: '1m', source: 'exchange' })
})

test.each([
  ['WETH-1m.csv', 'ETH'],
  ['candles.csv', undefined],
])(
  '%s is of no known asset and is refused; a person who names the market is followed',
  async (name, near) => {
    await expect(imported(name, rows(3))).rejects.toMatchObject({
      code: 'HISTORY_IMPORT_REFUSED',
      facts: near === undefined ? {} : { nearest: near },
    })
    expect(store.manifest().candles).toEqual([])
    const [first] = await imported(name, rows(3), { market: 'ETH/USD [WETH-USDC]' })
    expect(first?.series.asset).toBe('ETH')
  },
)

test('a market is the asset that its index token follows, by symbol, pair, token and asset', () => {
  const names = ['kPEPE/USD [WETH-USDC]', 'kpepe/usd', 'PEPE', '0x2b477989A149B17073D9C9C82eC9cB03591e20c6']
  expect(names.map(assetOfMarket)).toEqual(['PEPE', 'PEPE', 'PEPE', 'PEPE'])
})

test('the period is what most candles are apart; one that is none, and times between periods, are refused', async () => {
  const hours = rows(5, 3600).toSpliced(2, 1)
  expect((await imported('ETH.csv', hours))[0]).toMatchObject({
    series: { period: '1h' },
    candles: 4,
    quality: { gaps: [{ fromSeconds: START + 7200, toSeconds: START + 10_800 }] },
  })
  await expect(imported('ETH.csv', rows(5, 180))).rejects.toThrow('180 s apart, which is no period')
  await expect(imported('ETH.csv', rows(5, 180), { period: '5m' })).rejects.toThrow(
    '4 of its candles do not start at a whole 5m of UTC',
  )
})

test('a candle that is not over yet is left out', async () => {
  const [first] = await imported('ETH.csv', rows(3), { nowSeconds: START + 179 })
  expect(first).toMatchObject({ candles: 2, running: 1, written: { added: 2 } })
})

test('a file of several symbols is a series each, and --market cannot stand for all', async () => {
  const lines = ['time,open,high,low,close,symbol', ...rows(2).map((row) => `${row},ETH/USDT`)]
  const both = [...lines, ...rows(2, 60, () => 9).map((row) => `${row},BTCUSDT`)]
  const assets = (await imported('x.csv', both)).map(({ series }) => series.asset)
  expect(assets).toEqual(['ETH', 'BTC'])
  await expect(imported('x.csv', both, { market: 'ETH' })).rejects.toThrow('2 symbols')
})

test("prices near the oracle's are imported with their difference; those of another market are refused whole", async () => {
  await imported('ETH.csv', rows(100), { source: 'oracle' })
  // 2 bps off, and one of them a whole percent.
  const near = rows(100, 60, (at) => Math.round((2000 + at) * (at === 50 ? 1.01 : 1.0002) * 1e6) / 1e6)
  const [first] = await imported('ETH.csv', near, { maxBasisBps: 5 })
  expect(first?.basis).toEqual({ candles: 100, p50Bps: 2, p99Bps: 2 })
  const far = rows(100, 60, (at) => (2000 + at) * 1.02)
  const before = store.manifest()
  await expect(imported('ETH.csv', far, { source: 'other' })).rejects.toMatchObject({
    code: 'HISTORY_BASIS',
    facts: { candles: 100, maxBasisBps: 50 },
  })
  expect(store.manifest()).toEqual(before)
  expect(
    (await imported('ETH.csv', far, { source: 'other', maxBasisBps: 300 }))[0]?.basis?.p50Bps,
  ).toBeGreaterThan(190)
})

test('too few common candles say nothing of a difference', async () => {
  await imported('ETH.csv', rows(10), { source: 'oracle' })
  expect((await imported('ETH.csv', rows(100)))[0]?.basis).toBeUndefined()
})
