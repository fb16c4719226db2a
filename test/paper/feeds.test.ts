/** Pair feeds over real sockets (docs/reference/api-coverage.md A16, A29 and GET /prices/ohlcv). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMultiChainVenue } from '../../src/paper/server/multiChainVenue.ts'
import { serveVenues } from '../../src/paper/server/serve.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, ethMarket, ethSymbol, manualClock, START_MS, startVenue, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const MINUTE = 60_000
const eth = (rows: Any[]): Any => rows.find((row) => row.ticker_id === ethSymbol)

test('Pair feeds, /pairs: one row a perpetual, plain floats, funding at the next full hour', async () => {
  const rows = (await paper.get('/pairs')).body
  const tickers = (await paper.get('/markets/tickers')).body
  expect(rows.length).toBeGreaterThan(100)
  const row = eth(rows)
  const ticker = tickers.find((one: Any) => one.symbol === ethSymbol)
  expect(row).toMatchObject({
    target_currency: 'USD',
    product_type: 'Perpetual',
    pool_id: ethMarket,
    next_funding_rate_timestamp: START_MS / 1000 + 3600,
  })
  expect(row.last_price).toBeCloseTo(Number(BigInt(ticker.markPrice) / 10n ** 22n) / 1e8, 4)
  expect(row.funding_rate).toBeCloseTo(Number(ticker.fundingRateLong) / 1e30, 12)
  expect(row.base_volume * row.last_price).toBeCloseTo(row.target_volume, 0)
  expect(row.high).toBeGreaterThanOrEqual(row.low)
  for (const one of rows) {
    for (const name of ['base_volume', 'target_volume', 'last_price', 'open_interest', 'liquidity_in_usd']) {
      expect(Number.isFinite(one[name])).toBe(true)
    }
  }
})

test('Pair feeds, /pairs: the volume of 24 hours grows by the size of a trade', async () => {
  const other = await startVenue()
  const before = eth((await other.get('/pairs')).body)
  await other.trade({ size: usd(30_000), collateralToPay: { amount: '6000000000', token: 'USDC' } })
  other.clock.move(MINUTE)
  const after = eth((await other.get('/pairs')).body)
  expect(after.volume_usd - before.volume_usd).toBeCloseTo(30_000, 2)
  expect(after.long_open_interest).toBeGreaterThan(before.long_open_interest)
  await other.close()
})

test('Pair feeds, /pairs/solana: the same format, also on its own host, which serves no other path', async () => {
  const rows = (await paper.get('/pairs/solana')).body
  expect(Object.keys(rows[0])).toEqual(
    Object.keys(eth((await paper.get('/pairs')).body)).filter((name) => name !== 'pool_id'),
  )
  const [solana] = paper.served.solana
  expect((await paper.call('GET', `${solana}/v1/pairs`)).body).toEqual(rows)
  for (const path of ['/v1/markets', '/v1/pairs/solana', '/pairs', '/']) {
    const other = await paper.call('GET', solana + path)
    expect(other.status).toBe(404)
    expect(other.headers.get('x-trace-id')).toBeTruthy()
  }
})

test('Pair feeds, /pairs/solana: the snapshot is rebuilt every 60 s', async () => {
  const other = await startVenue()
  const read = async () => (await other.get('/pairs/solana')).body
  const first = await read()
  other.clock.move(59_000)
  expect(await read()).toEqual(first)
  other.clock.move(1000)
  expect(await read()).not.toEqual(first)
  await other.close()
})

test('Pair feeds, /pairs/solana: 503 instead of a snapshot older than 15 minutes, an empty list, or none yet', async () => {
  const other = await startVenue()
  expect((await other.get('/pairs/solana')).status).toBe(200)
  await other.call('POST', `${other.control}/faults`, { solanaPairs: 'frozen' })
  other.clock.move(15 * MINUTE)
  expect((await other.get('/pairs/solana')).status).toBe(200)
  other.clock.move(1)
  const old = await other.get('/pairs/solana')
  expect(old.status).toBe(503)
  expect(old.body).toEqual({ message: 'Internal Server Error' })
  expect((await other.call('GET', `${other.served.solana[0]}/v1/pairs`)).status).toBe(503)
  await other.call('POST', `${other.control}/faults`, { solanaPairs: 'empty' })
  expect((await other.get('/pairs/solana')).status).toBe(503)
  await other.call('POST', `${other.control}/faults`, { solanaPairs: 'none' })
  other.clock.move(MINUTE)
  expect((await other.get('/pairs/solana')).status).toBe(200)
  await other.close()
  const building = await startVenue({ faults: { solanaPairs: 'frozen' } })
  expect((await building.get('/pairs/solana')).status).toBe(503)
  await building.close()
})

test('Pair feeds, /pairs/solana: computed only by the Arbitrum deployment', async () => {
  const avalanche = await startVenue({ chain: chains.avalanche })
  expect(avalanche.served.solana).toEqual([])
  const answer = await avalanche.get('/pairs/solana')
  expect(answer.status).toBe(503)
  expect(answer.body).toEqual({ message: 'Internal Server Error' })
  expect((await avalanche.get('/pairs')).body.length).toBeGreaterThan(5)
  const own = await avalanche.call('GET', `${avalanche.served.pairs[0]}/api/avalanche/pairs`)
  expect(own.body).toEqual((await avalanche.get('/pairs')).body)
  await avalanche.close()
})

test('Pair feeds, {pair_feed_url}: public summaries per chain', async () => {
  const { body } = await paper.call('GET', `${paper.served.pairs[0]}/api/arbitrum/pairs`)
  expect(eth(body).pool_id).toBe(ethMarket)
  expect((await paper.call('GET', `${paper.served.pairs[0]}/api/solana/pairs`)).status).toBe(404)
})

test('Pair feeds, {pair_feed_url}: one host has the summaries of Arbitrum and Avalanche, and of no other chain', async () => {
  const fleet = createMultiChainVenue({
    clock: manualClock(),
    chains: [chains.arbitrum, chains.avalanche, chains.megaeth],
    seed: 7,
  })
  const served = await serveVenues(fleet, { hostname: '127.0.0.1', port: 0 })
  const [arbitrum, avalanche, megaeth] = served
  const read = async (chain: string): Promise<Response> => fetch(`${arbitrum?.pairs[0]}/api/${chain}/pairs`)
  expect(await (await read('avalanche')).json()).toEqual(
    await (await fetch(`${avalanche?.api[0]}/pairs`)).json(),
  )
  expect((await read('arbitrum')).status).toBe(200)
  expect((await read('megaeth')).status).toBe(404)
  expect(megaeth?.pairs).toEqual([])
  await arbitrum?.close()
})
