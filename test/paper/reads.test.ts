/** Market, token and account reads of the application API over real sockets. */
import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Any, ethMarket, ethSymbol, startVenue, trader } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const decimal = /^-?(0|[1-9]\d*)$/

test('the market catalogue joins with config, values and info by market token', async () => {
  const markets = (await paper.get('/markets')).body
  expect(markets.length).toBeGreaterThan(100)
  const config = (await paper.get('/markets/config')).body
  const values = (await paper.get('/markets/values')).body
  const info = (await paper.get('/markets/info')).body
  const keys = markets.map((row: Any) => row.marketTokenAddress)
  for (const rows of [config, values, info])
    expect(rows.map((row: Any) => row.marketTokenAddress)).toEqual(keys)
  for (const row of info) {
    for (const name of [
      'maxCollateralSumLongTokenLong',
      'maxCollateralSumLongTokenShort',
      'maxCollateralSumShortTokenLong',
      'maxCollateralSumShortTokenShort',
      'minFundingIncreaseRatePerSecond',
      'virtualInventoryForPositions',
      'virtualInventoryForPositionsInTokens',
      'longInterestUsd',
      'poolValueMin',
    ]) {
      expect(row[name]).toMatch(decimal)
    }
    expect(typeof row.useOpenInterestInTokensForBalance).toBe('boolean')
    expect(row.virtualIndexTokenId).toMatch(/^0x[0-9a-f]{64}$/)
    expect(Number.isInteger(row.updatedAt)).toBe(true)
    expect(row.marketTokenAddress).toBe(getAddress(row.marketTokenAddress))
  }
})

test('at least twenty markets carry their own recorded configuration', async () => {
  const config = (await paper.get('/markets/config')).body
  const distinct = new Set(
    config.map((row: Any) => row.positionImpactFactorNegative + row.maxOpenInterestLong),
  )
  expect(distinct.size).toBeGreaterThanOrEqual(20)
})

test('tickers answer exactly the filtered markets and refuse unknown ones', async () => {
  const one = await paper.get(`/markets/tickers?symbols=${encodeURIComponent(ethSymbol)}`)
  expect(one.body.map((row: Any) => row.marketTokenAddress)).toEqual([ethMarket])
  const two = await paper.get(
    `/markets/tickers?addresses=${ethMarket.toLowerCase()}&symbols=${encodeURIComponent('BTC/USD [BTC-USDC]')}`,
  )
  expect(two.body).toHaveLength(2)
  for (const query of ['addresses=0x12', 'symbols=NOPE']) {
    const bad = await paper.get(`/markets/tickers?${query}`)
    expect(bad.status).toBe(400)
    expect(Object.keys(bad.body.message)).toEqual([query.split('=')[0]])
  }
})

test('ticker prices are USD with 30 decimals and capacity is the one of trading-capacity', async () => {
  const [row] = (await paper.get(`/markets/tickers?addresses=${ethMarket}`)).body
  expect(Number(BigInt(row.markPrice) / 10n ** 27n) / 1000).toBeGreaterThan(500)
  expect(BigInt(row.markPrice) * 2n).toBe(BigInt(row.minPrice) + BigInt(row.maxPrice))
  const capacity = await paper.get(
    `/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=long`,
  )
  expect(capacity.body).toEqual(row.capacityLong)
  expect(BigInt(row.capacityLong.availableLiquidity) > 10n ** 36n).toBe(true)
})

test('trading capacity names each bad parameter', async () => {
  const bad = await paper.get('/markets/trading-capacity?direction=up')
  expect([bad.status, bad.body]).toEqual([
    400,
    {
      message: {
        symbol: { message: "'symbol' is required" },
        direction: { message: "'direction' must be long or short", value: 'up' },
      },
    },
  ])
  const unknown = await paper.get('/markets/trading-capacity?symbol=NOPE&direction=long')
  expect([unknown.status, unknown.body]).toEqual([400, { message: 'Market not found' }])
})

test('a symbol resolves by full name, by address in any case, and by alias to the deepest pool', async () => {
  for (const name of [ethSymbol, ethMarket.toLowerCase(), 'ETH/USD']) {
    const answer = await paper.get(`/markets/tickers?symbols=${encodeURIComponent(name)}`)
    expect(answer.body[0].marketTokenAddress).toBe(ethMarket)
  }
})

test('tokens list the native coin at the zero address and prices with 30 decimals', async () => {
  const tokens = (await paper.get('/tokens/info')).body
  const eth = tokens.find((row: Any) => row.symbol === 'ETH')
  expect(eth).toMatchObject({ address: `0x${'0'.repeat(40)}`, isNative: true, decimals: 18 })
  const usdc = tokens.find((row: Any) => row.symbol === 'USDC')
  expect(usdc.isStable).toBe(true)
  expect(Number(usdc.prices.minPrice) / 1e30).toBeCloseTo(1, 2)
})

test('a new address has a paper balance, an open allowance, and no positions or orders', async () => {
  const fresh = '0x000000000000000000000000000000000000bEEF'
  const balances = (await paper.get(`/balances/wallet?address=${fresh}`)).body
  expect(balances.find((row: Any) => row.symbol === 'USDC').balance).toBe('100000000000')
  const allowances = (await paper.get(`/allowances?address=${fresh}&spender=router`)).body
  expect(BigInt(allowances[0].allowance)).toBe(2n ** 256n - 1n)
  expect((await paper.get(`/positions?address=${fresh}`)).body).toEqual([])
  expect((await paper.get(`/orders?address=${fresh}`)).body).toEqual([])
})

test('account reads without a valid address are a 400, unknown keys and routes a 404, with trace ids', async () => {
  for (const path of ['/positions', '/orders', '/orders?address=0x12', '/balances/wallet']) {
    const answer = await paper.get(path)
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.message)).toEqual(['address'])
    expect(answer.headers.get('x-trace-id')).toBeTruthy()
  }
  for (const path of ['/positions/0x12', `/orders/0x${'1'.repeat(64)}`, '/nothing']) {
    const answer = await paper.get(path)
    expect(answer.status).toBe(404)
    expect(typeof answer.body.message).toBe('string')
    expect(answer.headers.get('x-trace-id')).toBeTruthy()
  }
})

test('trade reads validate timestamps, limits and addresses', async () => {
  const bad = await paper.get(`/trades?address=${trader.address}&since=1.5`)
  expect([bad.status, bad.body]).toEqual([
    400,
    { message: 'Invalid since timestamp: whole seconds expected' },
  ])
  const late = await paper.post('/trades/search', { address: trader.address, toTimestamp: 2_147_483_648 })
  expect(late.body).toEqual({ message: 'Invalid toTimestamp timestamp: whole seconds expected' })
  const byGet = await paper.get(`/trades/search?address=${trader.address}&fromTimestamp=0`)
  expect(byGet.body).toEqual({ trades: [], nextCursor: null, hasMore: false })
  expect((await paper.post('/trades/search', {})).status).toBe(400)
  expect((await paper.get(`/trades?address=${trader.address}&limit=0`)).status).toBe(400)
})

test('trade pages follow the cursor, newest first', async () => {
  for (let i = 0; i < 3; i += 1) await paper.trade({})
  const search = { address: trader.address, limit: 2, showDebugValues: true }
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Any = (await paper.post('/trades/search', cursor === null ? search : { ...search, cursor }))
      .body
    seen.push(...page.trades.map((row: Any) => row.eventName))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(seen).toEqual(Array(3).fill(['OrderExecuted', 'OrderCreated']).flat())
  const executed = await paper.post('/trades/search', {
    address: trader.address,
    orderEventCombinations: [{ eventName: 'OrderExecuted', orderType: 2 }],
    marketsDirections: [{ marketAddress: ethMarket, direction: 'long' }],
  })
  expect(executed.body.trades).toHaveLength(3)
})
