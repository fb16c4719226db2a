/** The oracle price service, statement by statement of its document, over real sockets with plain fetch. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Any, ethMarket, startVenue } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, traders: 20 } })
})
afterAll(() => paper.close())
afterEach(async () => {
  await faults({ oracleDatabase: 'available', unknownMarkets: [], closedMarkets: [] })
})

const get = (path: string, host = paper.oracle) => paper.call('GET', host + path)
const faults = (change: Record<string, unknown>) => paper.call('POST', `${paper.control}/faults`, change)

const paths = [
  '/ping',
  '/prices/tickers',
  '/signed_prices/latest',
  '/prices/candles?tokenSymbol=ETH&period=1m&limit=3',
  '/tokens',
  '/markets',
  '/markets/info',
  '/markets/state',
  '/rates?period=7d&averageBy=1d',
  '/apy?period=7d',
  '/performance/annualized?period=90d',
  '/performance/snapshots?period=90d',
  '/tokens/info',
] as const

test.each(paths)(
  'Endpoints: %s answers JSON to a GET without credentials, the same on every host',
  async (path) => {
    const answers = await Promise.all(paper.served.oracle.map((host) => get(path, host)))
    for (const { status, headers } of answers) {
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(headers.has('x-trace-id')).toBe(false)
    }
    const [primary, ...fallbacks] = answers.map(({ body }) => body)
    expect(fallbacks).toEqual([primary, primary])
  },
)

test('What the service does: every endpoint is read-only', async () => {
  for (const path of paths) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, body, headers } = await paper.call(method, paper.oracle + path)
      expect([method, path, status, body]).toEqual([method, path, 404, { message: 'Not Found' }])
      expect(headers.get('x-trace-id')).toBeTruthy()
    }
  }
})

test('Versioning: the paths carry no version segment', async () => {
  expect((await get('/v1/prices/tickers')).status).toBe(404)
})

test('Price encoding: USD is the value over 10^(30 - tokenDecimals - oracleDecimals), as the application API says it', async () => {
  const tickers: Any[] = (await get('/prices/tickers')).body
  const tokens: Any[] = (await paper.get('/tokens/info')).body
  const decimals = new Map<string, number>(
    (await get('/tokens')).body.tokens.map((row: Any) => [row.address, row.decimals]),
  )
  let compared = 0
  for (const row of tickers) {
    const scale = 10n ** BigInt((decimals.get(row.tokenAddress) ?? Number.NaN) + row.oracleDecimals)
    const same = tokens.find(({ address }) => address === row.tokenAddress)
    if (same?.prices === undefined) continue
    expect([row.tokenSymbol, (BigInt(row.minPrice) * scale).toString()]).toEqual([
      row.tokenSymbol,
      same.prices.minPrice,
    ])
    expect((BigInt(row.maxPrice) * scale).toString()).toBe(same.prices.maxPrice)
    compared += 1
  }
  expect(compared).toBeGreaterThan(100)
})

test('Ticker: seven fields of the documented types, one row a token of /tokens', async () => {
  const tickers: Any[] = (await get('/prices/tickers')).body
  for (const row of tickers) {
    for (const name of ['minPrice', 'maxPrice', 'medianPrice']) expect(row[name]).toMatch(/^[1-9]\d*$/)
    expect(row.tokenAddress).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(Number.isInteger(row.oracleDecimals) && Number.isInteger(row.updatedAt)).toBe(true)
    expect(row.updatedAt).toBeLessThan(10 ** 11)
  }
  const { tokens } = (await get('/tokens')).body
  expect(tickers.map(({ tokenAddress, tokenSymbol }) => [tokenAddress, tokenSymbol])).toEqual(
    tokens.map(({ address, symbol }: Any) => [address, symbol]),
  )
})

test('Ticker: a symbol that /tokens shows, or that of the coin it wraps, has candles', async () => {
  for (const { symbol } of (await get('/tokens')).body.tokens) {
    const { status, body } = await get(
      `/prices/candles?tokenSymbol=${encodeURIComponent(symbol)}&period=1h&limit=1`,
    )
    expect([symbol, status, body.candles?.length]).toEqual([symbol, 200, 1])
  }
  const byWrapped = await get('/prices/candles?tokenSymbol=WETH&period=1m&limit=2')
  expect(byWrapped.body).toEqual((await get('/prices/candles?tokenSymbol=ETH&period=1m&limit=2')).body)
})

/** Tickers of tokens that an oracle signs prices of: all but those of vaults. */
const tokenTickers = async (): Promise<Any[]> =>
  (await get('/prices/tickers')).body.filter((row: Any) => !row.tokenSymbol.startsWith('GLV '))

test('Signed price: every field of the table, one row a ticker of a token', async () => {
  const { signedPrices } = (await get('/signed_prices/latest')).body
  const tickers = await tokenTickers()
  expect(signedPrices.map((row: Any) => row.tokenAddress)).toEqual(
    tickers.map((row: Any) => row.tokenAddress),
  )
  for (const row of signedPrices) {
    for (const [name, pattern] of [
      ['signer', /^0x[0-9a-fA-F]{40}$/],
      ['signature', /^0x[0-9a-f]{130}$/],
      ['signatureWithoutBlockHash', /^0x[0-9a-f]{130}$/],
      ['salt', /^0x[0-9a-f]{64}$/],
      ['minBlockHash', /^0x[0-9a-f]{64}$/],
      ['maxBlockHash', /^0x[0-9a-f]{64}$/],
      ['medianPrice', /^\d+$/],
    ] as const) {
      expect(row[name]).toMatch(pattern)
    }
    for (const name of [
      'oracleDecimals',
      'tokenOracleType',
      'minBlockNumber',
      'minBlockTimestamp',
      'maxBlockNumber',
      'maxBlockTimestamp',
    ]) {
      expect(Number.isInteger(row[name])).toBe(true)
    }
    expect(row.minBlockNumber).toBeLessThanOrEqual(row.maxBlockNumber)
    expect(Math.abs(row.createdAt - paper.clock.now() / 1000)).toBeLessThan(5)
  }
})

test('States: a market is open, closed or unknown', async () => {
  const [first, second] = (await get('/markets/state')).body.markets
  expect([first.status, second.status]).toEqual(['open', 'open'])
  await faults({ closedMarkets: [first.marketToken], unknownMarkets: [second.marketToken.toLowerCase()] })
  // Shown when the read's five seconds are over.
  paper.clock.move(5000)
  const after = (await get('/markets/state')).body.markets
  expect([after[0].status, after[1].status, after[2].status]).toEqual(['closed', 'unknown', 'open'])
})

test('Endpoints, /markets/info: liquidity, open interest, funding, borrowing, token amounts and isListed', async () => {
  const { markets } = (await get('/markets/info')).body
  const tickers = (await paper.get('/markets/tickers')).body
  const row = markets.find((one: Any) => one.marketToken === ethMarket)
  const ticker = tickers.find((one: Any) => one.marketTokenAddress === ethMarket)
  expect(row.isListed).toBe(true)
  expect(row.openInterestLong).toBe(ticker.longInterestUsd)
  expect(row.openInterestShort).toBe(ticker.shortInterestUsd)
  for (const name of ['fundingRateLong', 'borrowingRateShort', 'netRateLong', 'poolAmountLong']) {
    expect(row[name]).toMatch(/^-?\d+$/)
  }
})

test('Endpoints, /rates: hourly historical snapshots, none of them in the future', async () => {
  const rows = (await get('/rates?period=1d&averageBy=1d')).body
  for (const { ratesSnapshots } of rows) {
    for (const { timestamp } of ratesSnapshots) {
      expect(timestamp % 3600).toBe(0)
      expect(timestamp).toBeLessThanOrEqual(paper.clock.now() / 1000)
    }
  }
})

test('Endpoints, rule 1: candles come most recent first', async () => {
  const { candles } = (await get('/prices/candles?tokenSymbol=BTC&period=5m&limit=500')).body
  const times: number[] = candles.map(([at]: number[]) => at)
  expect(times).toEqual([...times].sort((a, b) => b - a))
  expect(new Set(times).size).toBe(500)
})

test('Endpoints, rule 2: at most limit candles, 1000 without one, 10000 at most', async () => {
  for (const [query, length] of [
    ['', 1000],
    ['&limit=1', 1],
    ['&limit=10000', 10_000],
  ] as const) {
    const { candles } = (await get(`/prices/candles?tokenSymbol=ETH&period=1m${query}`)).body
    expect([query, candles.length]).toEqual([query, length])
    for (const candle of candles.slice(0, 20)) {
      expect(candle.map((value: unknown) => typeof value)).toEqual(Array(5).fill('number'))
    }
  }
})

test('Endpoints, rule 3, and Errors: /ping is 200 when healthy and 500 without its database', async () => {
  expect(await get('/ping')).toMatchObject({ status: 200, body: { ok: true } })
  await faults({ oracleDatabase: 'unavailable' })
  for (const host of paper.served.oracle) {
    const { status, body, headers } = await get('/ping', host)
    expect([status, body]).toEqual([500, { errors: ['db is unavailable'] }])
    expect(headers.get('x-trace-id')).toBeTruthy()
  }
  await faults({ oracleDatabase: 'available' })
  expect((await get('/ping')).status).toBe(200)
})

test('Endpoints, rule 4: signed prices are the tickers’ prices of the same moment', async () => {
  const tickers = await tokenTickers()
  const { signedPrices } = (await get('/signed_prices/latest')).body
  const prices = (rows: Any[]) => rows.map(({ minPrice, maxPrice }) => [minPrice, maxPrice])
  expect(prices(signedPrices)).toEqual(prices(tickers))
})

test.each([
  'tokenSymbol=&period=1m',
  'period=1m',
  'tokenSymbol=ETH',
  'tokenSymbol=ETH&period=1w',
  'tokenSymbol=ETH&period=1M',
  'tokenSymbol=ETH&period=1m&limit=0',
  'tokenSymbol=ETH&period=1m&limit=-1',
  'tokenSymbol=ETH&period=1m&limit=1.5',
  'tokenSymbol=ETH&period=1m&limit=10001',
  'tokenSymbol=ETH&period=1m&limit=many',
  'tokenSymbol=NOPE&period=1m',
])('Endpoints, rule 5: candles of %j are a 400 with errors', async (query) => {
  const { status, body, headers } = await get(`/prices/candles?${query}`)
  expect([status, Object.keys(body), body.errors.length]).toEqual([400, ['errors'], 1])
  expect(headers.get('x-trace-id')).toBeTruthy()
})

test.each(['/rates?period=2d', '/rates?averageBy=1h', '/apy?period=x', '/performance/annualized?period=1d'])(
  'Endpoints: %s is validated',
  async (path) => {
    const { status, body, headers } = await get(path)
    expect([status, Object.keys(body)]).toEqual([400, ['errors']])
    expect(headers.get('x-trace-id')).toBeTruthy()
  },
)
