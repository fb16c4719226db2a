/** Prices from a candle file: followed at the speed asked for, and refused row by row when they make no sense. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readCandleFile } from '../../src/base/candles/candleFile.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { venueFileProblems } from '../../src/daemon/ownFiles/venueFiles.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { loadReplay } from '../../src/paper/catalog/replayFile.ts'
import { usd } from '../../src/protocol/units.ts'
import { clientsOf } from './chainSupport.ts'
import { type Any, ethMarket, startVenue } from './support.ts'

function fileOf(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'perpd-')), name)
  writeFileSync(path, text)
  return path
}

const { tokens } = loadCatalog('arbitrum')
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/typed/${name}`, import.meta.url))

const csv = [
  'timestamp,open,high,low,close',
  '1640991600,3000,3100,2900,3050',
  '1640991660,3050,3060,2500,2600.5',
  '1640991720,2600.5,2700,2600,2700',
].join('\n')

async function markOf(replayed: Awaited<ReturnType<typeof startVenue>>): Promise<number> {
  const rows = (await replayed.get('/markets/tickers')).body
  const row = rows.find((one: Any) => one.marketTokenAddress === ethMarket)
  return Number(BigInt(row.markPrice) / 10n ** 26n) / 10_000
}

test('the prices of a file are met at their times, at the speed asked for', async () => {
  for (const speed of [1, 10]) {
    const paper = await startVenue({
      settings: { replay: await loadReplay(fileOf('eth-usd.csv', csv), speed, tokens) },
    })
    expect(await markOf(paper)).toBe(3000)
    paper.clock.move(20_000 / speed)
    expect(await markOf(paper)).toBe(2900)
    paper.clock.move(40_000 / speed)
    expect(await markOf(paper)).toBe(3050)
    paper.clock.move(60_000 / speed)
    expect(await markOf(paper)).toBe(2600.5)
    paper.clock.move(3_600_000)
    expect(await markOf(paper)).toBe(2700)
    await paper.close()
  }
})

test('a fast replay moves prices alone: blocks, deadlines and funding keep to the clock', async () => {
  const paper = await startVenue({
    settings: { replay: await loadReplay(fileOf('eth-usd.csv', csv), 100, tokens) },
  })
  const { client } = clientsOf(paper)
  paper.clock.move(10_000)
  const before = await client.getBlock()
  const prepared = (await paper.prepare({})).body
  expect(prepared.expiresAt).toBe(Math.floor(paper.clock.now() / 1000) + 300)
  paper.clock.move(10_000)
  const after = await client.getBlock()
  expect(after.timestamp - before.timestamp).toBe(10n)
  expect(after.number - before.number).toBe(40n)
  expect(paper.venue.venueState.advancedToSeconds * 1000).toBe(paper.clock.now())
  await paper.close()
})

test('the past joins the first candle, and assets outside the file keep their seeded paths', async () => {
  const replay = await loadReplay(
    fileOf(
      'any.json',
      '[{"time":1640991600000,"symbol":"ETH","open":3000,"high":3000,"low":3000,"close":3000}]',
    ),
    1,
    tokens,
  )
  const one = await startVenue({ settings: { replay } })
  const two = await startVenue()
  const candles = (await one.call('GET', `${one.oracle}/prices/candles?tokenSymbol=ETH&period=1h&limit=3`))
    .body
  expect(Math.abs(Number(candles.candles[0][4]) - 3000)).toBeLessThan(1)
  const btc = async (paper: typeof one) =>
    (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body.find(
      (row: Any) => row.tokenSymbol === 'BTC',
    )
  expect(await btc(one)).toEqual(await btc(two))
  await one.close()
  await two.close()
})

test('every bad row is named, with its column and the form that is wanted', async () => {
  const bad = [
    'timestamp,open,high,low,close',
    'yesterday,1,1,1,1',
    '1640991600,1,1,1,"2,000.5"',
    '1640991600,2,1,1,1',
    '1640991600,1,2,1,1',
    '1640991590,1,2,1,1',
    '1640991610,2,4,3,4',
    '1640991620,1,2',
  ].join('\n')
  await expect(loadReplay(fileOf('eth.csv', bad), 1, tokens)).rejects.toThrow(
    [
      'The candle file cannot be read:',
      '  row 2, column timestamp: "yesterday" is no time; expected Unix seconds, milli-, micro- or nanoseconds, or UTC as 2025-01-01 00:00:00',
      '  row 3, column close: "2,000.5" is no price; expected digits above zero with a point, as 2000.5 or 7.1e-7',
      '  row 4, column high: it is below another price',
      '  row 6, column timestamp: 1640991590 is not after 1640991600; times ascend, or all descend',
      '  row 7, column low: it is above another price',
      '  row 8, column low: (missing) is no price; expected digits above zero with a point, as 2000.5 or 7.1e-7',
    ].join('\n'),
  )
  await expect(loadReplay(fileOf('eth.csv', 'a,b\n1,2'), 1, tokens)).rejects.toThrow(
    'row 1: the head has no column timestamp, open, high, low, close',
  )
  await expect(loadReplay(fileOf('eth.csv', 'timestamp,open,high,low,close\n'), 1, tokens)).rejects.toThrow(
    'it has no candle',
  )
  await expect(loadReplay('/nowhere.csv', 1, tokens)).rejects.toThrow('The candle file cannot be read')
  const utf16 = fileOf('eth.csv', '')
  writeFileSync(utf16, Buffer.from(`\ufeff${csv}`, 'utf16le'))
  await expect(loadReplay(utf16, 1, tokens)).rejects.toThrow('it is in UTF-16')
})

const whole = {
  startSeconds: 1_735_689_600,
  open: usd(2000),
  high: usd(2001),
  low: usd(1999),
  close: usd('2000.5'),
}

test.each([
  ['headless, by exchanges', 'ETHUSDT-1m-2025-01-01.csv'],
  ['16-digit times', 'ETH-microseconds.csv'],
  ['quoted cells', 'ETH-quoted.csv'],
  ['a mark before JSON', 'ETH-bom.json.txt'],
  ['a pair for its name', 'WETH-1m.csv'],
])('candles are read as they are written: %s', async (_what, name) => {
  const [candles] = [...(await readCandleFile(fixture(name))).series.values()]
  expect(candles?.[0]).toEqual(whole)
  expect((candles?.[1]?.startSeconds ?? 0) - whole.startSeconds).toBe(60)
})

test.each([
  ['semicolons', 'time;open;high;low;close\n2025-01-01 00:00:00;2000;2001;1999;2000.5\n'],
  [
    'an index of a data frame',
    ',timestamp,open,high,low,close\n0,2025-01-01 00:00:00+00:00,2000.0,2001.0,1999.0,2000.5\n',
  ],
  ['a time as index', ',open,high,low,close,volume\r\n2025-01-01,2000,2001,1999,2000.5,1\r\n'],
  [
    'a title, and the newest first',
    'https://example.org\nunix,date,symbol,open,high,low,close\n1735689660000,x,ETH/USD,1,1,1,1\n1735689600000,x,ETH/USD,2000,2001,1999,2000.5\n',
  ],
  ['nanoseconds', 'Open time,Open,High,Low,Close\n1735689600000000000,2000,2001,1999,2000.5\n'],
  [
    'lists in an answer',
    '{"retCode":0,"result":{"list":[["1735689600000","2000","2001","1999","2000.5","1"]]}}',
  ],
  [
    'columns and data',
    '{"columns":["date","open","high","low","close"],"index":[0],"data":[[1735689600000,2000.0,2001.0,1999.0,2000.5]]}',
  ],
  [
    'a line each',
    '{"t":1735689600,"o":2000,"h":2001,"l":1999,"c":2000.5}\n{"t":1735689660,"o":1,"h":1,"l":1,"c":1}\n',
  ],
])('other programs write candles too: %s', async (_what, text) => {
  const [candles] = [...(await readCandleFile(fileOf('eth.txt', text))).series.values()]
  expect(candles?.[0]).toEqual(whole)
})

test('a price with an exponent is its digits, and none is rounded', async () => {
  const [candles] = [...(await readCandleFile(fixture('PEPE-tiny.json.txt'))).series.values()]
  expect(candles?.[0]).toMatchObject({ open: usd('0.00000071'), close: usd('0.000000715') })
  const row = (price: string) => `1735689600,${price},${price},${price},${price}`
  expect([...(await readCandleFile(fileOf('a.csv', row('2.5E+3')))).series.values()][0]?.[0]?.open).toBe(
    usd(2500),
  )
  await expect(readCandleFile(fileOf('a.csv', row(`0.${'0'.repeat(30)}1`)))).rejects.toThrow('is no price')
})

test.each([
  ['ETHUSDT-1m-2025-01-01.csv', 'ETHUSDT; did you mean ETH?'],
  ['WETH-1m.csv', 'WETH; did you mean ETH?'],
])('candles of an asset that nothing prices are refused by name: %s', async (name, told) => {
  await expect(loadReplay(fixture(name), 1, tokens)).rejects.toThrow(told)
  await expect(loadReplay(fixture(name), 1, tokens)).rejects.toThrow(/assets: .*BTC.*ETH.*SOL/)
})

test('perpd check and perpd doctor refuse the file that a run would refuse', async () => {
  const config = (replayFile: string, faults?: string) =>
    ({
      embedsVenue: true,
      paper: { chains: [{ name: 'arbitrum' }], replayFile, speed: 1, faults },
    }) as unknown as Config
  expect(await venueFileProblems(config(fixture('ETH-quoted.csv')))).toEqual([])
  expect(await venueFileProblems(config(fixture('WETH-1m.csv'), 'rain'))).toEqual([
    expect.stringContaining('paper.faults cannot be used'),
    expect.stringContaining('did you mean ETH?'),
  ])
})
