/** The store of history: candles in, the same candles out, and nothing that is not known. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { candlesOf } from '../../src/history/columns.ts'
import type { SeriesName } from '../../src/history/manifest.ts'
import { type HistoryStore, openStore } from '../../src/history/store.ts'
import { usd } from '../../src/protocol/units.ts'

const START = 1_735_689_600
const ethMinutes: SeriesName = { asset: 'ETH', period: '1m', source: 'oracle' }

let folder: string
let store: HistoryStore
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-history-'))
  store = openStore(folder)
  return () => rmSync(folder, { recursive: true, force: true })
})

function candle(minute: number, price = '2000.5'): FileCandle {
  const each = usd(price)
  return { startSeconds: START + minute * 60, open: each, high: each, low: each, close: each }
}

const minutes = (...which: readonly number[]): FileCandle[] => which.map((minute) => candle(minute))
const ask = (from: number, to: number) =>
  ({
    market: 'ETH/USD [WETH-USDC]',
    period: '1m',
    fromSeconds: START + from * 60,
    toSeconds: START + to * 60,
  }) as const

test('candles come back as they were written, to the last digit, from Parquet and from the column cache', async () => {
  const price = fc.bigInt({ min: 1n, max: 10n ** 15n - 1n })
  const places = fc.integer({ min: 15, max: 30 })
  await fc.assert(
    fc.asyncProperty(fc.array(price, { minLength: 1, maxLength: 40 }), places, async (prices, unit) => {
      const own = openStore(mkdtempSync(join(folder, 'own-')))
      const candles = prices.map((ticks, minute) => {
        const open = ticks * 10n ** BigInt(unit)
        return { startSeconds: START + minute * 60, open, high: open, low: open, close: open }
      })
      const { rounded } = await own.write(ethMinutes, candles, 'test')
      const cold = await own.read(ask(0, 40))
      const hot = await own.read(ask(0, 40))
      // A price of more digits than 64 bits hold says so.
      if (rounded === 0) expect(candlesOf(cold.columns)).toEqual(candles)
      expect(candlesOf(hot.columns)).toEqual(candlesOf(cold.columns))
    }),
    { numRuns: 20, seed: 38 },
  )
})

test('a range names its gaps and the hashes of its files, over the end of a month too', async () => {
  const monthEnd = 31 * 1440
  await store.write(ethMinutes, minutes(0, 1, 4, monthEnd - 1, monthEnd), 'test')
  const { columns, gaps, files, series } = await store.read(ask(0, 6))
  expect([columns.length, series.source]).toEqual([3, 'oracle'])
  expect(gaps).toEqual([
    { fromSeconds: START + 120, toSeconds: START + 240 },
    { fromSeconds: START + 300, toSeconds: START + 360 },
  ])
  expect(files.map(({ sha256 }) => sha256)).toEqual([store.manifest().candles[0]?.sha256])
  const over = await store.read(ask(monthEnd - 1, monthEnd + 1))
  expect([over.columns.length, over.gaps, over.files.length]).toEqual([2, [], 2])
})

test('the same candles again change nothing; others of the same time replace them and are counted', async () => {
  await store.write(ethMinutes, minutes(0, 1, 2), 'test')
  const before = store.manifest()
  expect(await store.write(ethMinutes, minutes(1, 2), 'test')).toMatchObject({
    added: 0,
    replaced: 0,
    same: 2,
  })
  expect(store.manifest()).toEqual(before)
  const written = await store.write(ethMinutes, [candle(1, '7'), candle(3)], 'other')
  expect(written).toEqual({ added: 1, replaced: 1, same: 0, rounded: 0 })
  const { columns } = await store.read(ask(0, 4))
  expect(candlesOf(columns)).toEqual([candle(0), candle(1, '7'), candle(2), candle(3)])
  expect(store.manifest().candles).toMatchObject([{ rows: 4, origins: ['test', 'other'] }])
  const left = readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.parquet'))
  expect(left).toHaveLength(1)
})

test('the same candles are the same bytes, however they came', async () => {
  await store.write(ethMinutes, minutes(0, 1, 2, 3), 'test')
  const other = openStore(join(folder, 'other'))
  await other.write(ethMinutes, minutes(2, 3), 'a')
  await other.write(ethMinutes, minutes(0, 1), 'b')
  const hashes = [store, other].map((each) => each.manifest().candles.map(({ sha256 }) => sha256))
  expect(hashes[0]).toEqual(hashes[1])
})

test('all files of a series have one tick: a finer price gives it to the others too, and none changes', async () => {
  const february = 31 * 1440
  await store.write(ethMinutes, minutes(0, 1), 'test')
  const before = candlesOf((await store.read(ask(0, 2))).columns)
  await store.write(ethMinutes, [candle(february, '0.000000712')], 'test')
  expect(store.manifest().candles.map(({ decimals }) => decimals)).toEqual([9, 9])
  expect(candlesOf((await store.read(ask(0, 2))).columns)).toEqual(before)
  await store.write(ethMinutes, [candle(february + 1, '98000')], 'test')
  expect(store.manifest().candles.map(({ decimals }) => decimals)).toEqual([9, 9])
})

test('two sources of one range are not mixed: one has to be named', async () => {
  await store.write(ethMinutes, minutes(0, 1), 'test')
  await store.write({ ...ethMinutes, source: 'exchange' }, minutes(1, 2), 'test')
  await expect(store.read(ask(0, 3))).rejects.toMatchObject({ code: 'HISTORY_SOURCES' })
  expect((await store.read({ ...ask(0, 3), source: 'exchange' })).columns.length).toBe(2)
  expect((await store.read(ask(2, 3))).series.source).toBe('exchange')
})

test('a file that was changed or removed is not read as if nothing had happened', async () => {
  await store.write(ethMinutes, minutes(0, 1), 'test')
  const [entry] = store.manifest().candles
  if (entry === undefined) throw new Error('nothing was written')
  const path = join(folder, entry.file)
  const bytes = readFileSync(path)
  bytes[10] = (bytes[10] ?? 0) ^ 1
  writeFileSync(path, bytes)
  await expect(store.read(ask(0, 2))).rejects.toMatchObject({ code: 'HISTORY_FILE_CHANGED' })
  rmSync(path)
  await expect(store.readFile(entry, true)).rejects.toMatchObject({ code: 'HISTORY_FILE_CHANGED' })
})

test('a column cache that is cut short or gone is made again from the Parquet file', async () => {
  await store.write(ethMinutes, minutes(0, 1, 2), 'test')
  const first = await store.read(ask(0, 3))
  const cached = readdirSync(join(folder, 'columns'))
  expect(cached).toHaveLength(5)
  writeFileSync(join(folder, 'columns', cached[0] ?? ''), 'cut')
  rmSync(join(folder, 'columns', cached[1] ?? ''))
  expect(candlesOf((await store.read(ask(0, 3))).columns)).toEqual(candlesOf(first.columns))
})

test('a range without candles says what there is; a manifest that nobody wrote is refused', async () => {
  await store.write(ethMinutes, minutes(0, 1), 'test')
  await expect(store.read(ask(5, 9))).rejects.toMatchObject({
    code: 'HISTORY_MISSING',
    facts: { there: '2025-01-01 00:00 to 2025-01-01 00:01' },
  })
  writeFileSync(
    join(folder, 'manifest.json'),
    '{"version":1,"candles":[{"file":"../../etc/passwd"}],"asked":[]}',
  )
  expect(() => store.manifest()).toThrow(expect.objectContaining({ code: 'HISTORY_UNREADABLE' }))
})

test('one process writes at a time; one that died leaves the folder to the next', async () => {
  writeFileSync(join(folder, 'writer.pid'), '1')
  await expect(store.write(ethMinutes, minutes(0), 'test')).rejects.toMatchObject({ code: 'HISTORY_IN_USE' })
  // No process has an id beyond the kernel's largest.
  writeFileSync(join(folder, 'writer.pid'), '99999999')
  await store.write(ethMinutes, minutes(0), 'test')
  expect(readdirSync(folder)).not.toContain('writer.pid')
})

test('asked ranges are kept joined', async () => {
  for (const fromSeconds of [0, 120, 60])
    await store.write(ethMinutes, [], 'test', { fromSeconds, toSeconds: fromSeconds + 60 })
  expect(store.askedRanges(ethMinutes)).toEqual([{ ...ethMinutes, fromSeconds: 0, toSeconds: 180 }])
})
