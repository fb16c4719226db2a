/** Prices from a candle file: followed at the speed asked for, and refused row by row when they make no sense. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadReplay } from '../../src/paper/catalog/replayFile.ts'
import { clientsOf } from './chainSupport.ts'
import { type Any, ethMarket, startVenue } from './support.ts'

function fileOf(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'perpd-')), name)
  writeFileSync(path, text)
  return path
}

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
    const paper = await startVenue({ settings: { replay: loadReplay(fileOf('eth-usd.csv', csv), speed) } })
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
  const paper = await startVenue({ settings: { replay: loadReplay(fileOf('eth-usd.csv', csv), 100) } })
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
  const replay = loadReplay(
    fileOf(
      'any.json',
      '[{"time":1640991600000,"symbol":"ETH","open":3000,"high":3000,"low":3000,"close":3000}]',
    ),
    1,
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

test('every bad row is named', () => {
  const bad = [
    'timestamp,open,high,low,close',
    'yesterday,1,1,1,1',
    '100,1,1,1,x',
    '100,2,1,1,1',
    '100,1,2,1,1',
    '90,1,2,1,1',
    '110,2,4,3,4',
    '120,1,2',
  ].join('\n')
  expect(() => loadReplay(fileOf('eth.csv', bad), 1)).toThrow(
    [
      'The candle file cannot be replayed:',
      '  row 2: timestamp "yesterday" is not a whole Unix time',
      '  row 3: close "x" is not a positive decimal price',
      '  row 4: high is below another price',
      '  row 6: timestamp 90 is not after 100 of ETH',
      '  row 7: low is above another price',
      '  row 8: low (missing) is not a positive decimal price',
    ].join('\n'),
  )
  expect(() => loadReplay(fileOf('eth.csv', 'a,b\n1,2'), 1)).toThrow(
    'row 1: the head has no column timestamp, open, high, low, close',
  )
  expect(() => loadReplay(fileOf('eth.csv', 'timestamp,open,high,low,close\n'), 1)).toThrow(
    'it holds no candle',
  )
  expect(() => loadReplay('/nowhere.csv', 1)).toThrow('The candle file cannot be replayed')
})
