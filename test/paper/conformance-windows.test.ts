/**
 * Cache windows of both documents: within its window a read is answered byte for byte as before, at its end with what is new.
 * Every read here moves with time, so that a window that is too long shows as well as one that is too short.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readScenario, type ScenarioStep } from '../../src/paper/server/scenario.ts'
import { type Any, ethMarket, ethSymbol, START_MS, startVenue, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let holder: string
beforeAll(async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, traders: 30 } })
  const providers = (await paper.call('GET', `${paper.control}/liquidity-providers`)).body
  holder = providers.find((one: { pools: { isHeld: boolean }[] }) =>
    one.pools.some(({ isHeld }) => isHeld),
  ).address
})
afterAll(() => paper.close())

const textOf = async (url: string): Promise<string> => {
  const response = await fetch(url)
  expect([url, response.status]).toEqual([url, 200])
  return response.text()
}

/** Steps as a scenario file has them. */
function stepsOf(steps: unknown): ScenarioStep[] {
  const read = readScenario(steps)
  if (typeof read === 'string') throw new Error(read)
  return read
}

/** Goes to `phaseMs` into the next hour: no window that an earlier test opened on another read matters. */
function goOn(phaseMs: number): void {
  const now = paper.clock.now() - START_MS
  paper.clock.move(3_600_000 - (now % 3_600_000) + phaseMs)
}

async function expectWindow(url: string, windowMs: number, phaseMs = 0): Promise<void> {
  goOn(phaseMs)
  const first = await textOf(url)
  paper.clock.move(windowMs - 1)
  expect((await textOf(url)) === first, `${url} holds for ${windowMs} ms`).toBe(true)
  paper.clock.move(1)
  expect((await textOf(url)) === first, `${url} is new after ${windowMs} ms`).toBe(false)
}

test.each([
  // Prices move at full seconds: the window begins 900 ms into one, so that a new price falls into it.
  ['/prices/tickers', 300, 900],
  ['/signed_prices/latest', 1000, 0],
  ['/prices/candles?tokenSymbol=ETH&period=1m&limit=5', 15_000, 0],
  ['/prices/candles?tokenSymbol=ETH&period=5m&limit=5', 15_000, 0],
  ['/prices/candles?tokenSymbol=ETH&period=15m&limit=5', 60_000, 0],
  ['/prices/candles?tokenSymbol=ETH&period=1h&limit=5', 60_000, 0],
  ['/prices/candles?tokenSymbol=ETH&period=4h&limit=5', 60_000, 0],
  ['/prices/candles?tokenSymbol=ETH&period=1d&limit=5', 60_000, 0],
  ['/markets/info', 10_000, 0],
] as const)('Oracle, Limits: %s is cached for %i ms', async (path, windowMs, phaseMs) => {
  await expectWindow(paper.oracle + path, windowMs, phaseMs)
})

test.each([
  // Values are pulled every five seconds: the window begins shortly before a pull.
  ['Market reads', '/markets/info', 1000, 4500],
  ['Market reads', '/markets/values', 1000, 4500],
  ['Market reads', '/markets/tickers', 1000, 4500],
  // Yields move at full hours: the window begins in the second half of one.
  ['Rates, yield, earnings', '/yield/gm-pools?period=7d', 1_800_000, 1_800_500],
  ['Stats', '/stats/summary', 30_000, 0],
  ['Stats', '/stats/timeseries?metric=volume.perps&from=1795000000', 30_000, 0],
  ['Stats', '/stats/sources', 30_000, 0],
  ['Pair feeds', '/pairs', 60_000, 0],
  ['Other reads', '/incentives/usdg/boost-apr', 1_800_000, 0],
  ['Pair feeds', '/pairs/solana', 60_000, 0],
] as const)('Application, %s: %s is cached for %i ms', async (_section, path, windowMs, phaseMs) => {
  await expectWindow(paper.api + path, windowMs, phaseMs)
})

test('Application, Market reads: /markets/trading-capacity is cached for 1 s', async () => {
  await expectWindow(
    `${paper.api}/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=long`,
    1000,
  )
})

test('Application, earnings: /yield/gm-user-earnings is cached for 2 s, per account', async () => {
  await expectWindow(`${paper.api}/yield/gm-user-earnings?account=${holder}`, 2000)
})

test('Application, Positions: list and detail are cached for 1 s, and a trade of ones own is not hidden longer', async () => {
  await paper.trade({})
  const [row] = await paper.positions()
  await expectWindow(`${paper.api}/positions?address=${row.account}`, 1000)
  await expectWindow(`${paper.api}/positions/${encodeURIComponent(row.key)}`, 1000)
})

test('Application, Market reads: /markets/config shows a change of the configuration when its 30 s are over', async () => {
  const other = await startVenue({
    scenario: stepsOf([{ atMs: 10_000, set: { disabledMarkets: [ethMarket] } }]),
  })
  const isDisabled = async (): Promise<boolean> =>
    (await other.get('/markets/config')).body.find(
      (row: { marketTokenAddress: string }) => row.marketTokenAddress === ethMarket,
    ).isDisabled
  expect(await isDisabled()).toBe(false)
  other.clock.move(29_999)
  expect(await isDisabled()).toBe(false)
  other.clock.move(1)
  expect(await isDisabled()).toBe(true)
  await other.close()
})

test('Oracle, Limits: /markets/state shows a market that closes when its 5 s are over', async () => {
  const other = await startVenue({
    scenario: stepsOf([{ atMs: 1000, set: { closedMarkets: [ethMarket] } }]),
  })
  const status = async (): Promise<string> =>
    (await other.call('GET', `${other.oracle}/markets/state`)).body.markets.find(
      (row: { marketToken: string }) => row.marketToken === ethMarket,
    ).status
  expect(await status()).toBe('open')
  other.clock.move(4999)
  expect(await status()).toBe('open')
  other.clock.move(1)
  expect(await status()).toBe('closed')
  await other.close()
})

test('a window is of one question: other parameters are answered at once, and a failure is never kept', async () => {
  goOn(0)
  const eth = await textOf(`${paper.api}/markets/tickers?addresses=${ethMarket}`)
  const all = await textOf(`${paper.api}/markets/tickers`)
  expect(all.length).toBeGreaterThan(eth.length * 10)
  const ids = new Set<string | null>()
  for (let i = 0; i < 3; i += 1) {
    const response = await fetch(`${paper.api}/markets/tickers?addresses=0x12`)
    expect(response.status).toBe(400)
    ids.add(response.headers.get('x-trace-id'))
    await response.text()
  }
  expect(ids.size).toBe(3)
})

test('Market reads, /markets: a delisting shows when the window of 60 s is over, and not before', async () => {
  const own = await startVenue({ settings: { keeperJitterMs: 0, traders: 36 } })
  const listed = async (): Promise<boolean> =>
    (await own.get('/markets')).body.some((row: Any) => row.marketTokenAddress === ethMarket)
  const expected = async (): Promise<boolean> =>
    (await own.get('/risk-oracle/markets')).body.some((row: Any) => row.marketTokenAddress === ethMarket)
  const onOracle = async (): Promise<boolean> =>
    (await own.call('GET', `${own.oracle}/markets`)).body.markets.find(
      (row: Any) => row.marketToken === ethMarket,
    ).isListed
  expect([await listed(), await expected(), await onOracle()]).toEqual([true, true, true])
  await own.call('POST', `${own.control}/faults`, { unlistedMarkets: [ethMarket.toLowerCase()] })
  own.clock.move(9999)
  expect([await listed(), await expected(), await onOracle()]).toEqual([true, true, true])
  own.clock.move(1)
  expect([await listed(), await expected(), await onOracle()]).toEqual([true, true, false])
  own.clock.move(49_999)
  expect([await listed(), await expected()]).toEqual([true, true])
  own.clock.move(1)
  expect([await listed(), await expected()]).toEqual([false, false])
  await own.close()
})

test('a fault of the data shows at once, and so does its end', async () => {
  const own = await startVenue({ settings: { keeperJitterMs: 0, traders: 36 } })
  const status = async (): Promise<string> =>
    (await own.get(`/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=long`)).body
      .marketDataStatus
  expect(await status()).toBe('fresh')
  await own.call('POST', `${own.control}/faults`, { marketData: 'stale' })
  expect(await status()).toBe('stale')
  await own.call('POST', `${own.control}/faults`, { marketData: 'fresh' })
  expect(await status()).toBe('fresh')
  await own.close()
})

test('both peers and all oracle hosts answer with the same value within a window', async () => {
  const first = await textOf(`${paper.api}/markets/tickers`)
  paper.clock.move(900)
  expect(await textOf(`${paper.peer}/markets/tickers`)).toBe(first)
  const price = await textOf(`${paper.oracle}/prices/tickers`)
  expect(await textOf(`${paper.served.oracle[2]}/prices/tickers`)).toBe(price)
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
  const own = await startVenue({ settings: { keeperJitterMs: 0, traders: 36 } })
  await own.trade({})
  own.clock.move(900)
  const [first] = await own.positions()
  own.clock.move(999)
  expect(await own.positions()).toEqual([first])
  expect((await own.get(`/positions/${encodeURIComponent(first.key)}`)).body).toEqual(first)
  expect((await own.get(`/positions/${first.contractKey}`)).body).toEqual(first)
  own.clock.move(1)
  const [next] = await own.positions()
  expect(next.markPrice).not.toBe(first.markPrice)
  const prepared = (await own.prepare({})).body
  await own.submit(prepared)
  own.clock.move(1600)
  expect((await own.positions())[0].sizeInUsd).toBe(usd(2000))
  expect((await own.status(prepared.requestId)).body.status).toBe('executed')
  await own.close()
})

test('Positions: an execution within the window of a list shows in the next one', async () => {
  const own = await startVenue({ settings: { keeperJitterMs: 0, traders: 36 } })
  const prepared = (await own.prepare({})).body
  await own.submit(prepared)
  own.clock.move(1490)
  expect(await own.positions()).toEqual([])
  own.clock.move(20)
  expect(await own.positions()).toHaveLength(1)
  const more = (await own.prepare({})).body
  await own.submit(more)
  own.clock.move(1490)
  expect((await own.positions())[0].sizeInUsd).toBe(usd(1000))
  own.clock.move(20)
  expect((await own.positions())[0].sizeInUsd).toBe(usd(2000))
  expect((await own.get(`/positions?address=${trader.address}&includeRelatedOrders=true`)).body).toEqual([
    { ...(await own.positions())[0], relatedOrders: [] },
  ])
  await own.close()
})
