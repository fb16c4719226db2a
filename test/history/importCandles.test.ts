/** Imports into the history: whose candles they are, which are left out, and that prices of something else are refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { candleAt } from '../../src/history/columns.ts'
import { type ImportRequest, importCandles } from '../../src/history/importCandles.ts'
import { assetOfMarket } from '../../src/history/indexAssets.ts'
import { type HistoryStore, openStore } from '../../src/history/store.ts'
import { parseUnits } from '../../src/protocol/units.ts'

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

const heads = 'timestamp,open,high,low,close'
const odd: readonly (readonly [name: string, lines: readonly string[], asset: string, open: string])[] = [
  [
    'ETH-bom.json',
    [
      '\ufeff[{"timestamp": 1735689600, "open": 2000, "high": 2001, "low": 1999, "close": 2000.5}, {"timestamp": 1735689660, "open": 2001, "high": 2002, "low": 2000, "close": 2001.5}]',
    ],
    'ETH',
    '2000',
  ],
  [
    'ETH-micro.csv',
    [heads, '1735689600000000,2000,2001,1999,2000.5', '1735689660000000,2001,2002,2000,2001.5'],
    'ETH',
    '2000',
  ],
  [
    'ETH-quoted.csv',
    [
      '"timestamp","open","high","low","close"',
      '"1735689600","2000","2001","1999","2000.5"',
      '"1735689660","2001","2002","2000","2001.5"',
    ],
    'ETH',
    '2000',
  ],
  [
    'ETHUSDT-1m-2025-01-01.csv',
    [
      '1735689600000000,2000.00000000,2001.0,1999.0,2000.5,12.5,1735689659999999,1,2,3,4,0',
      '1735689660000000,2001.0,2002.0,2000.0,2001.5,12.5,1735689719999999,1,2,3,4,0',
    ],
    'ETH',
    '2000',
  ],
  [
    'PEPE-tiny.json',
    [
      '[{"timestamp": 1735689600, "open": 7.1e-07, "high": 7.2e-07, "low": 7e-07, "close": 7.15e-07}, {"timestamp": 1735689660, "open": 7.1e-07, "high": 7.2e-07, "low": 7e-07, "close": 7.15e-07}]',
    ],
    'PEPE',
    '0.00000071',
  ],
  [
    'BTC-nanoseconds.csv',
    [
      heads,
      '1735689600000000000,94000.1,94001,93999,94000.5',
      '1735689660000000000,94000,94001,93999,94000.5',
    ],
    'BTC',
    '94000.1',
  ],
  [
    'btcusd_newest_first.csv',
    [
      'Date;Open;High;Low;Close',
      '',
      '2025-01-01 00:01:00;94000;94001;93999;94000.5',
      '2025-01-01 00:00:00;94000.1;94001;93999;94000.5',
      '',
    ],
    'BTC',
    '94000.1',
  ],
]
test.each(odd)(
  'a file as exchanges and data frames write it comes into the history with all digits: %s',
  async (name, lines, asset, open) => {
    const [first] = await imported(name, lines)
    expect(first).toMatchObject({ series: { asset, period: '1m' }, candles: 2, firstSeconds: START })
    const { columns } = await store.read({
      market: asset,
      period: '1m',
      fromSeconds: START,
      toSeconds: START + 120,
    })
    expect(candleAt(columns, 0).open).toBe(parseUnits(open, 30))
  },
)

test.each([
  ['ETH-thousands.csv', [heads, '1735689600,"2,000.5","2,001","1,999","2,000.5"'], '"2,000.5" is no price'],
  ['ETH-hex.csv', [heads, '1735689600,0x7d0,2001,1999,2000'], '"0x7d0" is no price'],
  ['ETH-excel-date.csv', [heads, '45658.5,2000,2001,1999,2000.5'], 'is no time'],
  ['ETH-upside-down.csv', [heads, '1735689600,2000,1999,2001,2000.5'], 'high'],
])('a file that could be read in two ways is refused whole: %s', async (name, lines, said) => {
  await expect(imported(name, lines)).rejects.toThrow(said)
  expect(store.manifest().candles).toEqual([])
})
