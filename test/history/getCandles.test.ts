/** Candles from the venue's own routes: all of a range, nothing twice, and no page that shows something else. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { Api } from '../../src/api/client.ts'
import type { OhlcvCandle } from '../../src/api/feeds/ohlcv.ts'
import { type GetRequest, getCandles } from '../../src/history/getCandles.ts'
import type { SeriesName } from '../../src/history/manifest.ts'
import { type HistoryStore, openStore } from '../../src/history/store.ts'
import { venueBench } from '../support/venue.ts'

const NOW = Date.UTC(2026, 10, 20, 12, 0, 30) / 1_000
const MINUTE = 60
const series: SeriesName = { asset: 'ETH', period: '1m', source: 'oracle' }

let folder: string
let store: HistoryStore
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-get-'))
  store = openStore(folder)
  return () => rmSync(folder, { recursive: true, force: true })
})

/** A venue whose requests are counted; `dieAt`: the process ends before that one is answered. */
function venue(change: (rows: readonly OhlcvCandle[]) => readonly OhlcvCandle[] = (rows) => rows) {
  const { api } = venueBench({ startMs: NOW * 1_000 })
  const asked: string[] = []
  let dieAt = Number.POSITIVE_INFINITY
  const note = (text: string): void => {
    if (asked.length >= dieAt) throw new Error('killed')
    asked.push(text)
  }
  const counted: Pick<Api, 'getCandles' | 'getOhlcv'> = {
    getCandles: async (query) => {
      note(`candles ${query.limit}`)
      return await api.getCandles(query)
    },
    getOhlcv: async (query) => {
      note(`ohlcv ${query.sinceMs}`)
      const read = await api.getOhlcv(query)
      return { ...read, value: change(read.value) }
    },
  }
  return {
    api: counted,
    asked,
    die: (at: number) => {
      dieAt = at
    },
  }
}

const request = (days: number, more: Partial<GetRequest> = {}): GetRequest => ({
  series,
  tokenSymbol: 'ETH',
  marketSymbol: 'ETH/USD [WETH-USDC]',
  nowSeconds: NOW,
  fromSeconds: NOW - days * 86_400,
  toSeconds: NOW,
  ...more,
})
const hashes = (of: HistoryStore) => of.manifest().candles.map(({ sha256 }) => sha256)

test('a range beyond the newest candles comes in pages, without a gap, and without the candle that is not over', async () => {
  const { api, asked } = venue()
  const outcome = await getCandles(api, store, request(9))
  const { columns, gaps } = await store.read({
    market: 'ETH',
    period: '1m',
    fromSeconds: NOW - 9 * 86_400,
    toSeconds: NOW - 30,
  })
  expect(gaps).toEqual([])
  expect(columns.startSeconds.at(-1)).toBe(Math.floor(NOW / MINUTE) * MINUTE - MINUTE)
  expect(outcome).toMatchObject({ requests: asked.length, added: columns.length })
  expect(asked.filter((each) => each.startsWith('candles'))).toHaveLength(1)
})

test('a process that is killed anywhere gets the same history at the next try, and asks for nothing twice', async () => {
  const whole = openStore(join(folder, 'whole'))
  const once = venue()
  await getCandles(once.api, whole, request(9))
  for (const at of [1, 3]) {
    const own = openStore(join(folder, String(at)))
    const { api, asked, die } = venue()
    die(at)
    await expect(getCandles(api, own, request(9))).rejects.toThrow('killed')
    die(Number.POSITIVE_INFINITY)
    await getCandles(api, own, request(9))
    expect(asked).toEqual(once.asked)
    expect(hashes(own)).toEqual(hashes(whole))
    await getCandles(api, own, request(9))
    expect(asked).toEqual(once.asked)
  }
})

test('of what is there already only the rest is asked for', async () => {
  const { api, asked } = venue()
  await getCandles(api, store, request(2))
  expect(asked).toEqual(['candles 10000'])
  await getCandles(api, store, request(3))
  expect(asked).toHaveLength(1)
  await getCandles(api, store, request(8))
  expect(asked.slice(1).every((each) => each.startsWith('ohlcv'))).toBe(true)
})

test('pages of another unit are refused, also for a range that no oracle candle touches; those of the oracle stay', async () => {
  const cents = (rows: readonly OhlcvCandle[]) =>
    rows.map((row) => ({
      ...row,
      open: row.open * 100n,
      high: row.high * 100n,
      low: row.low * 100n,
      close: row.close * 100n,
    }))
  const { api } = venue(cents)
  await expect(getCandles(api, store, request(9))).rejects.toMatchObject({ code: 'HISTORY_BASIS' })
  expect(store.manifest().candles.every(({ origins }) => origins.join() === 'GET /prices/candles')).toBe(true)
  const far = { fromSeconds: NOW - 40 * 86_400, toSeconds: NOW - 39 * 86_400 }
  const other = openStore(join(folder, 'other'))
  await expect(getCandles(api, other, request(0, far))).rejects.toMatchObject({ code: 'HISTORY_BASIS' })
  expect((await getCandles(venue().api, other, request(0, far))).added).toBe(1439)
})

test('a route that has nothing older says so, and what it has is kept', async () => {
  const begin = NOW - 7.5 * 86_400
  const { api } = venue((rows) => rows.filter(({ timestampMs }) => timestampMs >= begin * 1_000))
  const { stopped, firstSeconds } = await getCandles(api, store, request(20))
  expect(stopped).toContain('has nothing')
  expect(firstSeconds).toBe(Math.ceil(begin / MINUTE) * MINUTE)
})

test('a route that answers of other times, or gives nothing, changes nothing', async () => {
  const later = venue((rows) =>
    rows.map((row) => ({ ...row, timestampMs: row.timestampMs + 30 * 86_400_000 })),
  )
  expect((await getCandles(later.api, store, request(9))).stopped).toContain('other times')
  const silent = venue(() => [])
  expect((await getCandles(silent.api, openStore(join(folder, 'b')), request(9))).stopped).toContain(
    'nothing',
  )
})
