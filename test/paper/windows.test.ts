/**
 * Cache windows over real sockets (application document, "Endpoints"; oracle document, "Limits"): a value does not change within
 * its window and does at its end, to the millisecond.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Any, ethMarket, ethSymbol, startVenue, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, traders: 36 } })
})
afterEach(() => paper.close())

const read = async (url: string): Promise<string> => {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  return response.text()
}
const market = new URLSearchParams({ symbol: ethSymbol, direction: 'long' })
const candles = (period: string) => `/prices/candles?tokenSymbol=ETH&period=${period}&limit=5`

const application: readonly (readonly [string, number])[] = [
  ['/markets/info', 1000],
  ['/markets/config', 30_000],
  ['/markets/values', 1000],
  [`/markets/trading-capacity?${market}`, 1000],
  ['/markets/tickers', 1000],
  ['/pairs', 60_000],
  ['/stats/summary', 30_000],
  ['/stats/sources', 30_000],
  ['/yield/gm-pools?period=1d', 1_800_000],
  ['/incentives/usdg/boost-apr', 1_800_000],
]
const oracle: readonly (readonly [string, number])[] = [
  ['/prices/tickers', 300],
  ['/signed_prices/latest', 1000],
  [candles('1m'), 15_000],
  [candles('5m'), 15_000],
  [candles('15m'), 60_000],
  [candles('1d'), 60_000],
  ['/markets/info', 10_000],
]

for (const [service, routes] of [
  ['Application', application],
  ['Oracle', oracle],
] as const) {
  for (const [path, windowMs] of routes) {
    test(`${service} ${path.replace(/\?.*period=(\w+).*/, ' of $1').replace(/\?.*/, '')}: a value holds for ${windowMs} ms and not longer`, async () => {
      const url = (service === 'Application' ? paper.api : paper.oracle) + path
      // Prices move at full seconds, market values every five: a window that begins before shows what it hides.
      paper.clock.move(4900)
      const first = await read(url)
      // Configuration stands still by itself.
      if (path === '/markets/config') {
        await paper.call('POST', `${paper.control}/faults`, { disabledMarkets: [ethMarket] })
      }
      paper.clock.move(windowMs - 1)
      expect(await read(url)).toBe(first)
      // Yields move by the hour, which is two windows long.
      paper.clock.move(path === '/yield/gm-pools?period=1d' ? 1_800_001 : 1)
      expect(await read(url)).not.toBe(first)
    })
  }
}

test('Market reads, /markets: a delisting shows when the window of 60 s is over, and not before', async () => {
  const listed = async (): Promise<boolean> =>
    (await paper.get('/markets')).body.find((row: Any) => row.marketTokenAddress === ethMarket).isListed
  const expected = async (): Promise<boolean> =>
    (await paper.get('/risk-oracle/markets')).body.some((row: Any) => row.marketTokenAddress === ethMarket)
  const onOracle = async (): Promise<boolean> =>
    (await paper.call('GET', `${paper.oracle}/markets`)).body.markets.find(
      (row: Any) => row.marketToken === ethMarket,
    ).isListed
  expect([await listed(), await expected(), await onOracle()]).toEqual([true, true, true])
  await paper.call('POST', `${paper.control}/faults`, { unlistedMarkets: [ethMarket.toLowerCase()] })
  paper.clock.move(9999)
  expect([await listed(), await expected(), await onOracle()]).toEqual([true, true, true])
  paper.clock.move(1)
  expect([await listed(), await expected(), await onOracle()]).toEqual([true, true, false])
  paper.clock.move(49_999)
  expect([await listed(), await expected()]).toEqual([true, true])
  paper.clock.move(1)
  expect([await listed(), await expected()]).toEqual([false, false])
})

test('Market reads: a disabled market shows in /markets/info after 1 s and in /markets/config after 30 s', async () => {
  const disabled = async (path: string): Promise<boolean> =>
    (await paper.get(path)).body.find((row: Any) => row.marketTokenAddress === ethMarket).isDisabled
  const both = async () => [await disabled('/markets/info'), await disabled('/markets/config')]
  expect(await both()).toEqual([false, false])
  await paper.call('POST', `${paper.control}/faults`, { disabledMarkets: [ethMarket] })
  expect(await both()).toEqual([false, false])
  paper.clock.move(1000)
  expect(await both()).toEqual([true, false])
  paper.clock.move(28_999)
  expect(await both()).toEqual([true, false])
  paper.clock.move(1)
  expect(await both()).toEqual([true, true])
})

test('a fault of the data shows at once, and so does its end', async () => {
  const status = async (): Promise<string> =>
    (await paper.get(`/markets/trading-capacity?${market}`)).body.marketDataStatus
  expect(await status()).toBe('fresh')
  await paper.call('POST', `${paper.control}/faults`, { marketData: 'stale' })
  expect(await status()).toBe('stale')
  await paper.call('POST', `${paper.control}/faults`, { marketData: 'fresh' })
  expect(await status()).toBe('fresh')
})

test('both peers and all oracle hosts answer with the same value within a window', async () => {
  const first = await read(`${paper.api}/markets/tickers`)
  paper.clock.move(900)
  expect(await read(`${paper.peer}/markets/tickers`)).toBe(first)
  const price = await read(`${paper.oracle}/prices/tickers`)
  expect(await read(`${paper.served.oracle[2]}/prices/tickers`)).toBe(price)
})

test('an answer from kept bytes has the headers of one that was made, and a refusal is never kept', async () => {
  const ask = async (path: string) => {
    const response = await fetch(paper.api + path)
    const { headers } = response
    await response.text()
    return {
      status: response.status,
      type: headers.get('content-type'),
      origin: headers.get('access-control-allow-origin'),
      exposed: headers.get('access-control-expose-headers'),
      date: headers.get('date'),
      trace: headers.get('x-trace-id'),
    }
  }
  const made = await ask('/markets')
  paper.clock.move(5000)
  const kept = await ask('/markets')
  expect(kept).toEqual({ ...made, date: kept.date })
  expect(Date.parse(kept.date ?? '') - Date.parse(made.date ?? '')).toBe(5000)
  const refused = await ask('/rates?period=never')
  const again = await ask('/rates?period=never')
  expect([refused.status, again.status]).toEqual([400, 400])
  expect(again.trace).not.toBe(refused.trace)
})

test('Positions: rows hold for 1 s of other prices, on the list and in detail, and a new trade shows at once', async () => {
  await paper.trade({})
  paper.clock.move(900)
  const [first] = await paper.positions()
  paper.clock.move(999)
  expect(await paper.positions()).toEqual([first])
  expect((await paper.get(`/positions/${encodeURIComponent(first.key)}`)).body).toEqual(first)
  expect((await paper.get(`/positions/${first.contractKey}`)).body).toEqual(first)
  paper.clock.move(1)
  const [next] = await paper.positions()
  expect(next.markPrice).not.toBe(first.markPrice)
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(1600)
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(2000))
  expect((await paper.status(prepared.requestId)).body.status).toBe('executed')
})

test('Positions: an execution within the window of a list shows in the next one', async () => {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(1490)
  expect(await paper.positions()).toEqual([])
  paper.clock.move(20)
  expect(await paper.positions()).toHaveLength(1)
  const more = (await paper.prepare({})).body
  await paper.submit(more)
  paper.clock.move(1490)
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
  paper.clock.move(20)
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(2000))
  expect((await paper.get(`/positions?address=${trader.address}&includeRelatedOrders=true`)).body).toEqual([
    { ...(await paper.positions())[0], relatedOrders: [] },
  ])
})
