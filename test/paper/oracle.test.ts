/** The oracle price service over real sockets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Any, startVenue } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const candles = async (symbol: string, period: string, limit?: number): Promise<number[][]> => {
  const query = `tokenSymbol=${symbol}&period=${period}${limit === undefined ? '' : `&limit=${limit}`}`
  const answer = await paper.call('GET', `${paper.oracle}/prices/candles?${query}`)
  expect(answer.status).toBe(200)
  expect(answer.body.period).toBe(period)
  return answer.body.candles
}

test('every oracle host answers ping, with the date of the venue clock and CORS', async () => {
  expect(paper.served.oracle).toHaveLength(3)
  for (const host of paper.served.oracle) {
    const answer = await paper.call('GET', `${host}/ping`)
    expect([answer.status, answer.body]).toEqual([200, { ok: true }])
    expect(answer.headers.get('date')).toBe(new Date(paper.clock.now()).toUTCString())
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  }
})

test('tickers carry ordered contract prices, in seconds, for every priced token', async () => {
  const { body } = await paper.call('GET', `${paper.oracle}/prices/tickers`)
  expect(body.length).toBeGreaterThan(100)
  for (const row of body) {
    expect(row.oracleDecimals).toBe(0)
    expect(row.updatedAt).toBe(Math.floor(paper.clock.now() / 1000))
    expect(BigInt(row.minPrice) <= BigInt(row.medianPrice)).toBe(true)
    expect(BigInt(row.medianPrice) <= BigInt(row.maxPrice)).toBe(true)
  }
  const usdc = body.find((row: Any) => row.tokenSymbol === 'USDC')
  expect(Number(usdc.medianPrice) / 1e24).toBeCloseTo(1, 2)
})

test('candles of every period exist at once, newest first, without gaps', async () => {
  const lengths = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '4h': 14_400, '1d': 86_400 }
  for (const [period, seconds] of Object.entries(lengths)) {
    const rows = await candles('ETH', period, 200)
    expect(rows).toHaveLength(200)
    rows.forEach(([at = 0, open = 0, high = 0, low = 0, close = 0], i) => {
      expect(at % seconds).toBe(0)
      expect(at).toBe((rows[0]?.[0] ?? 0) - i * seconds)
      expect(high).toBeGreaterThanOrEqual(Math.max(open, close))
      expect(low).toBeLessThanOrEqual(Math.min(open, close))
      expect(low).toBeGreaterThan(0)
    })
  }
})

test('the running candle closes at the ticker price and a coarse candle is the union of the finer ones', async () => {
  paper.clock.move(83_000)
  const tickers = (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body
  const eth = tickers.find((row: Any) => row.tokenSymbol === 'ETH')
  const minutes = await candles('ETH', '1m', 300)
  expect(minutes[0]?.[4]).toBeCloseTo(Number(eth.medianPrice) / 1e12, 6)
  const hours = await candles('ETH', '1h', 4)
  for (const [at = 0, open, high, low, close] of hours.slice(1)) {
    const parts = minutes.filter(([minute = 0]) => minute >= at && minute < at + 3600)
    expect(parts).toHaveLength(60)
    expect(high).toBe(Math.max(...parts.map((row) => row[2] ?? 0)))
    expect(low).toBe(Math.min(...parts.map((row) => row[3] ?? 0)))
    expect(open).toBe(parts.at(-1)?.[1])
    expect(close).toBe(parts[0]?.[4])
  }
})

test('a bad candle request is a 400 with errors and a trace id', async () => {
  const bad = [
    ['', 'tokenSymbol is required'],
    ['tokenSymbol=ETH&period=2m', 'period must be one of 1m, 5m, 15m, 1h, 4h, 1d'],
    ['tokenSymbol=ETH&period=1m&limit=0', 'limit must be an integer from 1 to 10000'],
    ['tokenSymbol=ETH&period=1m&limit=10001', 'limit must be an integer from 1 to 10000'],
    ['tokenSymbol=NOPE&period=1m', 'unknown tokenSymbol NOPE'],
  ]
  for (const [query, message] of bad) {
    const answer = await paper.call('GET', `${paper.oracle}/prices/candles?${query}`)
    expect([answer.status, answer.body]).toEqual([400, { errors: [message] }])
    expect(answer.headers.get('x-trace-id')).toBeTruthy()
  }
})

test('market states follow the closed markets of the faults at the end of their window of 5 s', async () => {
  const state = async () => (await paper.call('GET', `${paper.oracle}/markets/state`)).body.markets
  expect(new Set((await state()).map((row: Any) => row.status))).toEqual(new Set(['open']))
  const [first] = await state()
  await paper.call('POST', `${paper.control}/faults`, { closedMarkets: [first.marketToken] })
  paper.clock.move(4999)
  expect((await state())[0].status).toBe('open')
  paper.clock.move(1)
  expect((await state())[0].status).toBe('closed')
  await paper.call('POST', `${paper.control}/faults`, { closedMarkets: [] })
})
