/** The application API, row by row and rule by rule of its document, over real sockets with plain fetch. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createMultiChainVenue } from '../../src/paper/server/multiChainVenue.ts'
import { type ServedVenue, serveVenues } from '../../src/paper/server/serve.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import {
  type Answer,
  type Any,
  ethMarket,
  ethSymbol,
  manualClock,
  startVenue,
  trader,
  usd,
} from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let fleet: readonly ServedVenue[]
beforeAll(async () => {
  paper = await startVenue()
  fleet = await serveVenues(
    createMultiChainVenue({
      clock: manualClock(),
      chains: [chains.arbitrum, chains.avalanche, chains.megaeth],
      seed: 7,
    }),
    { hostname: '127.0.0.1', port: 0 },
  )
})
afterAll(async () => {
  await paper.close()
  await fleet[0]?.close()
})
afterEach(async () => {
  await faults({ status: 'none', prepare: 'none', earnings: 'none', jitData: 'available', jitRefreshMs: 0 })
  await paper.call('DELETE', `${paper.control}/wire`)
})

const faults = (change: Record<string, unknown>) => paper.call('POST', `${paper.control}/faults`, change)
const wire = (rule: Record<string, unknown>) => paper.call('POST', `${paper.control}/wire`, rule)
const capacityPath = (direction = 'long'): string =>
  `/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=${direction}`
const codesOf = (answer: Answer): string[] => answer.body.validationWarnings.map(({ code }: Any) => code)
const lots = { collateralToPay: { amount: '90000000000000', token: 'USDC' } }

/** The documented form of a failure: a status, a trace id that browsers may read, and a message. */
function expectFailing(answer: Answer, status: number): void {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('x-trace-id')).toBeTruthy()
  expect(answer.headers.get('access-control-expose-headers')).toContain('X-Trace-Id')
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(['string', 'object']).toContain(typeof answer.body.message)
}

// --- Endpoints ---

const account = trader.address
const reads = [
  '/markets',
  '/markets/info',
  '/markets/config',
  '/markets/values',
  capacityPath(),
  '/markets/tickers',
  '/risk-oracle/markets',
  '/rates?period=7d&averageBy=1d',
  '/apy?period=7d',
  '/performance/annualized?period=90d',
  '/performance/snapshots?period=90d',
  '/yield/gm-pools?period=7d',
  `/yield/gm-user-earnings?account=${account}`,
  '/stats/summary',
  '/stats/timeseries?metric=volume.perps',
  '/stats/sources',
  `/positions?address=${account}`,
  `/orders?address=${account}`,
  `/trades?address=${account}`,
  `/trades/search?address=${account}`,
  '/pairs',
  '/pairs/solana',
  '/incentives/usdg/boost-apr',
  `/whitelists?address=${account}`,
  '/tokens',
  '/tokens/info',
  `/balances/wallet?address=${account}`,
  `/allowances?address=${account}&spender=router`,
  '/buyback/weekly-stats',
  '/jit/liquidity_info',
  '/jit/liquidity_history?period=1d',
  `/staking/power?address=${account}`,
  '/prices/ohlcv?symbol=ETH%2FUSD&timeframe=1h&limit=5',
]

test.each(reads)('Endpoints: %s is the same at both peers, and at no other version', async (path) => {
  const [one, two] = await Promise.all([paper.get(path), paper.call('GET', paper.peer + path)])
  expect([one.status, two.status]).toEqual([200, 200])
  expect(one.headers.get('content-type')).toBe('application/json')
  expect(one.headers.get('access-control-allow-origin')).toBe('*')
  expect(one.headers.has('x-trace-id')).toBe(false)
  expect(two.body).toEqual(one.body)
  expectFailing(await paper.call('GET', paper.api.replace(/v1$/, 'v3') + path), 404)
})

test.each(reads)('Endpoints: %s ignores parameters it does not know', async (path) => {
  const answer = await paper.get(`${path}${path.includes('?') ? '&' : '?'}somethingNew=1`)
  expect(answer.status).toBe(200)
})

test('Endpoints, rule 1: an order chain stays on its host; the peer says Transaction not found', async () => {
  const prepared = await paper.prepare({})
  const { requestId } = prepared.body
  const at = (host: string, path: string, body: unknown) => paper.call('POST', host + path, body)
  for (const [path, body] of [
    ['/orders/txns/status', { requestId }],
    ['/orders/txns/submit', await paper.submitBody(prepared.body)],
  ] as const) {
    const answer = await at(paper.peer, path, body)
    expectFailing(answer, 404)
    expect(answer.body).toEqual({ message: 'Transaction not found' })
  }
  expect((await at(paper.api, '/orders/txns/status', { requestId })).body.status).toBe('prepared')
})

test('Endpoints, rule 2: prepared again after a lost host, the peer executes once and the first record never', async () => {
  const own = await startVenue()
  const lost = await own.prepare({})
  await own.call('POST', `${own.control}/faults`, { down: ['api/0'] })
  await expect(own.status(lost.body.requestId)).rejects.toThrow()
  const again = await own.call('POST', `${own.peer}/orders/txns/prepare`, {
    kind: 'increase',
    orderType: 'market',
    mode: 'express',
    from: account,
    symbol: ethSymbol,
    direction: 'long',
    size: usd(1000),
    collateralToken: 'USDC',
    collateralToPay: { amount: '200000000', token: 'USDC' },
  })
  const body = await own.submitBody(again.body)
  expect((await own.call('POST', `${own.peer}/orders/txns/submit`, body)).status).toBe(200)
  own.clock.move(2500)
  await own.call('POST', `${own.control}/faults`, { down: [] })
  expect((await own.status(lost.body.requestId)).body.status).toBe('prepared')
  const [position, ...others] = await own.positions()
  expect([position.sizeInUsd, others]).toEqual([usd(1000), []])
  await own.close()
})

test('Endpoints, rule 3: any host may be asked for a relay operation', async () => {
  const submitted = await paper.submit((await paper.prepare({})).body)
  const { taskId } = submitted.body
  paper.clock.move(2500)
  for (const host of [paper.api, paper.peer]) {
    const { status, body } = await paper.call('POST', `${host}/relay/status`, { taskId })
    expect([status, body.taskId, body.status]).toEqual([200, taskId, 'executed'])
  }
})

test('Endpoints, rule 4: a 404 right after an accepted submission is transient, a repeated submit executes nothing', async () => {
  const own = await startVenue()
  const prepared = (await own.prepare({})).body
  const body = await own.submitBody(prepared)
  await own.post('/orders/txns/submit', body)
  await own.call('POST', `${own.control}/faults`, { status: 'not-found', times: 2 })
  const seen: number[] = []
  for (let i = 0; i < 3; i += 1) seen.push((await own.status(prepared.requestId)).status)
  expect(seen).toEqual([404, 404, 200])
  expect((await own.post('/orders/txns/submit', body)).status).toBe(200)
  own.clock.move(2500)
  expect((await own.positions()).map(({ sizeInUsd }) => sizeInUsd)).toEqual([usd(1000)])
  await own.close()
})

test('Endpoints, rule 5: a blocking 400 of prepare is the same when repeated unchanged', async () => {
  const refused = await paper.prepare({ symbol: 'NONE/USD' })
  expectFailing(refused, 400)
  const again = await paper.prepare({ symbol: 'NONE/USD' })
  expect([again.status, again.body]).toEqual([refused.status, refused.body])
})

test('Endpoints, rule 6: a market increase above availableLiquidity fails, a resting one is warned', async () => {
  const { availableLiquidity } = (await paper.get(capacityPath())).body
  const size = (BigInt(availableLiquidity) + 1n).toString()
  const market = await paper.prepare({ ...lots, size })
  expectFailing(market, 400)
  expect([market.body.code, market.body.details.requestedSizeUsd]).toEqual(['INSUFFICIENT_LIQUIDITY', size])
  for (const orderType of ['limit', 'stop-market']) {
    const resting = await paper.prepare({ ...lots, size, orderType, triggerPrice: usd(1500) })
    expect([orderType, resting.status, codesOf(resting)]).toEqual([
      orderType,
      200,
      ['INSUFFICIENT_LIQUIDITY'],
    ])
  }
  expect((await paper.prepare({ ...lots, size: availableLiquidity })).status).toBe(200)
})

test.each([
  ['STALE_MARKET_DATA', { marketData: 'stale' }, {}],
  ['JIT_DATA_UNAVAILABLE', { jitData: 'unavailable' }, { isAboveBase: true }],
  ['JIT_ACCOUNT_ELIGIBILITY_UNKNOWN', { jitEligibility: 'unknown' }, { isAboveBase: true }],
  ['COLLATERAL_SWAP', {}, { collateralToken: 'WETH' }],
] as const)(
  'Endpoints, rule 7: %s is a warning of TRADING_CAPACITY_UNAVAILABLE',
  async (reason, fault, order) => {
    const { baseAvailableLiquidity } = (await paper.get(capacityPath())).body
    await faults(fault)
    const answer = await paper.prepare(
      'isAboveBase' in order ? { ...lots, size: (BigInt(baseAvailableLiquidity) + 1n).toString() } : order,
    )
    await faults({ marketData: 'fresh', jitData: 'available', jitEligibility: 'known' })
    expect(answer.status).toBe(200)
    const [warning] = answer.body.validationWarnings
    expect([warning.code, warning.details.reason]).toEqual(['TRADING_CAPACITY_UNAVAILABLE', reason])
    expect(warning.message).not.toBe('')
  },
)

test('Endpoints, rule 8, and Limits: prepare waits 500 ms at most, then counts without JIT', async () => {
  const own = await startVenue()
  const slept: number[] = []
  own.clock.sleep = async (ms) => {
    slept.push(ms)
  }
  const capacity = (await own.get(capacityPath())).body
  const size = (BigInt(capacity.baseAvailableLiquidity) + 1n).toString()
  await own.call('POST', `${own.control}/faults`, { jitData: 'stale', jitRefreshMs: 30_000 })
  const answer = await own.prepare({ ...lots, size })
  expect(answer.body.validationWarnings.map((one: Any) => one.details.reason)).toEqual([
    'JIT_DATA_UNAVAILABLE',
  ])
  expect(slept).toEqual([500])
  expect(
    (await own.prepare({ ...lots, size: capacity.baseAvailableLiquidity })).body.validationWarnings,
  ).toEqual([])
  expect((await own.prepare({ ...lots, size: usd(9e11) })).body.code).toBe('INSUFFICIENT_LIQUIDITY')
  await own.close()
})

test('Endpoints, rule 9: collateral left after fees below the minimum fails, each twap part on its own', async () => {
  // A short of which the account holds nothing yet.
  const order = {
    direction: 'short',
    size: usd(100),
    collateralToPay: { amount: '8000000', token: 'USDC' },
  }
  const twap = { ...order, orderType: 'twap', twapConfig: { duration: 600, parts: 10 } }
  expect((await paper.prepare(order)).status).toBe(200)
  const parts = await paper.prepare(twap)
  expectFailing(parts, 400)
  expect(parts.body.code).toBe('INSUFFICIENT_COLLATERAL')
  expect((await paper.prepare({ ...twap, twapConfig: { duration: 600, parts: 2 } })).status).toBe(200)
  const poor = await paper.prepare({ ...order, collateralToPay: { amount: '900000', token: 'USDC' } })
  expect([poor.status, poor.body.code]).toEqual([400, 'INSUFFICIENT_COLLATERAL'])
})

// --- Errors ---

/** Rows of the Errors table with status 400: path and the parameter named, or the whole message. */
test.each([
  ['/positions', 'address'],
  ['/positions?address=0x12', 'address'],
  ['/orders', 'address'],
  ['/orders?address=me', 'address'],
  ['/markets/tickers?addresses=0x12', 'addresses'],
  [`/markets/tickers?addresses=${account}`, 'addresses'],
  ['/markets/tickers?symbols=NOPE', 'symbols'],
  ['/markets/trading-capacity?direction=long', 'symbol'],
  ['/markets/trading-capacity?symbol=ETH%2FUSD', 'direction'],
  ['/markets/trading-capacity?symbol=ETH%2FUSD&direction=LONG', 'direction'],
  ['/rates?period=2d', 'period'],
  ['/rates?period=7d&averageBy=1h', 'averageBy'],
  ['/apy?period=0', 'period'],
  ['/yield/gm-pools?period=3d', 'period'],
  ['/yield/gm-pools?includeComponents=maybe', 'includeComponents'],
  ['/yield/gm-pools?pools=0x12', 'pools'],
  ['/performance/annualized?period=1d', 'period'],
  ['/performance/snapshots?address=0x12', 'address'],
  ['/yield/gm-user-earnings', 'account'],
  ['/yield/gm-user-earnings?account=0x12', 'account'],
  ['/stats/summary?networks=base', 'networks'],
  ['/stats/summary?versions=v3', 'versions'],
  ['/stats/timeseries', 'metric'],
  ['/stats/timeseries?metric=volume', 'metric'],
  ['/stats/timeseries?metric=users.active&groupBy=day', 'groupBy'],
  ['/stats/summary?networks=arbitrum,avalanche', 'networks'],
  ['/stats/summary?versions=v1,v2', 'versions'],
] as const)('Errors, 400 by parameter: %s names %s', async (path, name) => {
  const answer = await paper.get(path)
  expectFailing(answer, 400)
  expect(Object.keys(answer.body)).toEqual(['message'])
  expect(Object.keys(answer.body.message)).toEqual([name])
  expect(typeof answer.body.message[name].message).toBe('string')
})

test.each([
  { name: 'since', value: '1.5' },
  { name: 'since', value: '-1' },
  { name: 'since', value: '2147483648' },
  { name: 'since', value: '1795219200000' },
  { name: 'since', value: 'now' },
  { name: 'since', value: '1e3' },
  { name: 'since', value: '0x10' },
  { name: 'since', value: ' 1' },
  { name: 'until', value: '2147483648' },
  { name: 'until', value: '' },
])('Errors, 400 /trades: $name=$value is no whole seconds', async ({ name, value }) => {
  const answer = await paper.get(`/trades?address=${account}&${name}=${encodeURIComponent(value)}`)
  expectFailing(answer, 400)
  expect(answer.body).toEqual({ message: `Invalid ${name} timestamp: whole seconds expected` })
})

test.each(['fromTimestamp', 'toTimestamp'])(
  'Errors, 400 /trades/search: %s by GET and by POST',
  async (name) => {
    const message = `Invalid ${name} timestamp: whole seconds expected`
    expect((await paper.get(`/trades/search?address=${account}&${name}=1.5`)).body).toEqual({ message })
    for (const value of [1.5, -1, 2_147_483_648, '12a', true, {}]) {
      const answer = await paper.post('/trades/search', { address: account, [name]: value })
      expectFailing(answer, 400)
      expect(answer.body).toEqual({ message })
    }
    for (const value of [0, 2_147_483_647]) {
      expect((await paper.post('/trades/search', { address: account, [name]: value })).status).toBe(200)
    }
  },
)

test.each(['from', 'to'])('Errors, 400 /stats/timeseries: %s is whole Unix seconds', async (name) => {
  for (const value of ['1.5', '-1', 'today']) {
    expectFailing(await paper.get(`/stats/timeseries?metric=volume.total&${name}=${value}`), 400)
  }
  // The bound of the times of trades, 2147483647, is none of these.
  expect((await paper.get(`/stats/timeseries?metric=volume.total&${name}=4102444800`)).status).toBe(200)
})

test('Errors, 400 /stats: a filter that matches no configured source', async () => {
  const answer = await paper.get('/stats/summary?networks=solana&versions=v1')
  expectFailing(answer, 400)
  expect(answer.body).toEqual({
    message: 'No configured source matches the requested networks and versions.',
  })
})

test('Errors, 404: position detail for a closed position', async () => {
  const own = await startVenue()
  await own.trade({})
  const [{ key }] = (await own.positions()) as [Any]
  const detail = `/positions/${encodeURIComponent(key)}`
  expect((await own.get(detail)).body.key).toBe(key)
  await own.trade({ kind: 'decrease', collateralToPay: undefined })
  own.clock.move(1000)
  const closed = await own.get(detail)
  expectFailing(closed, 404)
  expect(await own.positions()).toEqual([])
  await own.close()
})

test('Errors, 308: the second family redirects stats to its Arbitrum host, without CORS headers; the first forwards', async () => {
  const [arbitrum, ...others] = fleet
  for (const other of others) {
    const path = '/stats/timeseries?metric=volume.perps&networks=arbitrum&networks=solana'
    const redirect = await fetch(`${other.api[1]}${path}`, { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, `${arbitrum?.api[1]}${path}`])
    expect([...redirect.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    const home = await (await fetch(`${arbitrum?.api[0]}${path}`)).json()
    expect(await (await fetch(`${other.api[1]}${path}`)).json()).toEqual(home)
    expect(await (await fetch(`${other.api[0]}${path}`)).json()).toEqual(home)
  }
})

test('Errors, 503: earnings while data warms up', async () => {
  await faults({ earnings: 'warming-up' })
  const answer = await paper.get(`/yield/gm-user-earnings?account=${account}`)
  expectFailing(answer, 503)
  expect(answer.body).toEqual({ message: 'Internal Server Error' })
  const start = await startVenue({ settings: { earningsWarmUpSeconds: 60 } })
  expect((await start.get(`/yield/gm-user-earnings?account=${account}`)).status).toBe(503)
  start.clock.move(61_000)
  expect((await start.get(`/yield/gm-user-earnings?account=${account}`)).status).toBe(200)
  await start.close()
})

test('Errors, 503: stats on a deployment that does not serve them', async () => {
  const alone = await startVenue({ chain: chains.avalanche })
  for (const host of [alone.api, alone.peer]) {
    for (const path of ['/stats/summary', '/stats/sources', '/stats/timeseries?metric=volume.total']) {
      const answer = await alone.call('GET', host + path)
      expectFailing(answer, 503)
      expect(answer.body).toEqual({ message: 'Internal Server Error' })
    }
  }
  await alone.close()
})

test('Errors, 503: /pairs/solana on a deployment that does not compute it', async () => {
  for (const other of fleet.slice(1)) {
    const response = await fetch(`${other.api[0]}/pairs/solana`)
    expect([response.status, await response.json()]).toEqual([503, { message: 'Internal Server Error' }])
    expect(response.headers.get('x-trace-id')).toBeTruthy()
  }
})

test('Errors, 503, and Limits: a request that exceeds the server timeout of 60 s, and it does nothing', async () => {
  const own = await startVenue()
  const slept: number[] = []
  own.clock.sleep = async (ms) => {
    slept.push(ms)
    own.clock.move(ms)
  }
  await own.call('POST', `${own.control}/wire`, {
    kind: 'latency',
    latencyMs: 90_000,
    route: '/orders/txns/prepare',
    times: 1,
  })
  expectFailing(await own.prepare({}), 503)
  expect(slept).toEqual([60_000])
  expect((await own.prepare({})).status).toBe(200)
  await own.close()
})

test('Errors, 503: BACKEND_UNAVAILABLE of a pool that does not serve the route', async () => {
  await wire({ kind: 'backend-unavailable', host: 'api/0', route: '/tokens', times: 1 })
  const answer = await paper.get('/tokens')
  expectFailing(answer, 503)
  expect(answer.body.code).toBe('BACKEND_UNAVAILABLE')
  expect((await paper.call('GET', `${paper.peer}/tokens`)).status).toBe(200)
  expect((await paper.get('/tokens')).status).toBe(200)
})

test('Errors: an unknown route is a 404 with a message', async () => {
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['GET', '/performance'],
    ['GET', '/conversion/quotes'],
    ['GET', '/orders/txns/prepare'],
    ['POST', '/markets'],
    ['DELETE', `/orders?address=${account}`],
  ] as const) {
    expectFailing(await paper.call(method, paper.api + path), 404)
  }
})

// --- Limits ---

test('Limits: market values are pulled every 5 s, and stand between two pulls', async () => {
  const own = await startVenue({ settings: { keeperJitterMs: 0, traders: 40 } })
  const values = async (): Promise<Any[]> => (await own.get('/markets/values')).body
  const first = await values()
  own.clock.move(4000)
  expect(await values()).toEqual(first)
  own.clock.move(1000)
  const second = await values()
  expect(second[0].updatedAt).toBe(first[0].updatedAt + 5000)
  expect(second.map(({ poolValueMin }) => poolValueMin)).not.toEqual(
    first.map(({ poolValueMin }) => poolValueMin),
  )
  await own.close()
})

test('Limits: values of a pull that fails are kept as they were, and marked stale after 15 s for monitoring only', async () => {
  const own = await startVenue()
  const values = async (): Promise<Any[]> => (await own.get('/markets/values')).body
  const stale = async (): Promise<number> =>
    (await own.call('GET', `${own.control}/staleness`)).body.stale.length
  // Nobody has read before the fault: what stands is of the moment it began.
  own.clock.move(60_000)
  const failedAtMs = own.clock.now()
  await own.call('POST', `${own.control}/faults`, { marketData: 'stale' })
  own.clock.move(15_000)
  expect(await stale()).toBe(0)
  const kept = await values()
  expect(new Set(kept.map(({ updatedAt }) => updatedAt))).toEqual(new Set([failedAtMs]))
  own.clock.move(1)
  expect(await stale()).toBe(kept.length)
  own.clock.move(600_000)
  expect(await values()).toEqual(kept)
  await own.call('POST', `${own.control}/faults`, { marketData: 'fresh' })
  const fresh = await values()
  expect(fresh[0].updatedAt).toBe(own.clock.now() - (own.clock.now() % 5000))
  expect(fresh[0].poolValueMin).not.toBe(kept[0].poolValueMin)
  await own.close()
})

test('Limits: a failed refresh of one market keeps its prior values, with updatedAt null', async () => {
  const own = await startVenue()
  const eth = async (): Promise<Any> =>
    (await own.get('/markets/values')).body.find((row: Any) => row.marketTokenAddress === ethMarket)
  const before = await eth()
  await own.call('POST', `${own.control}/faults`, { staleValues: [ethMarket] })
  own.clock.move(120_000)
  expect(await eth()).toEqual({ ...before, updatedAt: null })
  await own.call('POST', `${own.control}/faults`, { staleValues: [] })
  const after = await eth()
  expect(after.updatedAt).toBe(before.updatedAt + 120_000)
  expect(after.poolValueMin).not.toBe(before.poolValueMin)
  await own.close()
})

test('Limits: stats sources are pulled every 60 s, and stale above a lag of 900 s', async () => {
  const own = await startVenue()
  const lags: number[] = []
  for (let i = 0; i < 6; i += 1) {
    lags.push((await own.get('/stats/sources')).body.sources[0].lagSeconds)
    own.clock.move(30_000)
  }
  expect(Math.max(...lags)).toBeLessThanOrEqual(60)
  expect(new Set(lags).size).toBeGreaterThan(1)
  const health = async (statsLagSeconds: number): Promise<string[]> => {
    await own.call('POST', `${own.control}/faults`, { statsLagSeconds })
    own.clock.move(30_000)
    const { completeness, sources } = (await own.get('/stats/summary')).body.meta
    return [completeness, ...new Set(sources.map((one: Any) => one.health as string))] as string[]
  }
  expect(await health(800)).toEqual(['complete', 'fresh'])
  expect(await health(1000)).toEqual(['partial', 'stale'])
  await own.close()
})

// --- Authentication, Versioning, Resources ---

test('Authentication: a credential is neither asked for nor looked at', async () => {
  const answer = await fetch(`${paper.api}/markets/tickers?addresses=${ethMarket}`, {
    headers: { authorization: 'Bearer nonsense', 'x-api-key': 'nonsense' },
  })
  expect([answer.status, ((await answer.json()) as Any).length]).toEqual([200, 1])
})

test('Trading capacity: five documented fields, total is base plus JIT and never above the open interest room', async () => {
  for (const row of (await paper.get('/markets/tickers')).body) {
    for (const side of [row.capacityLong, row.capacityShort]) {
      const [base, jit, total] = [
        side.baseAvailableLiquidity,
        side.jitAvailableLiquidity,
        side.availableLiquidity,
      ].map(BigInt) as [bigint, bigint, bigint]
      expect(total).toBe(base + jit)
      expect(['available', 'stale', 'unavailable']).toContain(side.jitDataStatus)
      expect(['fresh', 'stale']).toContain(side.marketDataStatus)
    }
  }
  const config = (await paper.get('/markets/config')).body.find(
    (one: Any) => one.marketTokenAddress === ethMarket,
  )
  const ticker = (await paper.get(`/markets/tickers?addresses=${ethMarket}`)).body[0]
  expect(BigInt(ticker.capacityLong.availableLiquidity)).toBeLessThanOrEqual(
    BigInt(config.maxOpenInterestLong) - BigInt(ticker.longInterestUsd),
  )
})

test('Position value: list and detail agree, and related orders come when asked for', async () => {
  const own = await startVenue()
  await own.trade({ tpsl: [{ type: 'stop-loss', triggerPrice: usd(900) }] })
  const plain = (await own.get(`/positions?address=${account}`)).body
  expect(plain[0].positionValueInUsd).toMatch(/^-?[1-9]\d*$/)
  expect(plain[0].relatedOrders).toBeUndefined()
  const detail = await own.get(`/positions/${encodeURIComponent(plain[0].key)}`)
  expect(detail.body).toEqual(plain[0])
  for (const path of [`/positions?address=${account}&`, `/positions/${encodeURIComponent(plain[0].key)}?`]) {
    const { body } = await own.get(`${path}includeRelatedOrders=true`)
    const row = Array.isArray(body) ? body[0] : body
    expect(row.relatedOrders).toEqual((await own.get(`/orders?address=${account}`)).body)
    expect(row.relatedOrders).toHaveLength(1)
  }
  await own.close()
})

test('Position value: where closing costs more impact than the size, it is rebuilt from full PnL and the capped impact', async () => {
  const own = await startVenue()
  await own.trade({})
  const value = async (): Promise<bigint> => BigInt((await own.positions())[0].positionValueInUsd)
  const market: Any = own.venue.venueState.markets.find(({ catalog }) => catalog.marketToken === ethMarket)
  // The impact of any close is beyond its size; the cap is half a percent.
  market.settings = {
    ...market.settings,
    positionImpactFactorPositive: 0n,
    positionImpactFactorNegative: 10n ** 40n,
    maxPositionImpactFactorNegative: 5n * 10n ** 27n,
  }
  own.clock.move(1000)
  const [row] = await own.positions()
  const expected =
    BigInt(row.collateralUsd) +
    BigInt(row.pendingClaimableFundingFeesUsd) +
    BigInt(row.pnl) -
    BigInt(row.pendingBorrowingFeesUsd) -
    BigInt(row.pendingFundingFeesUsd) -
    BigInt(usd(5))
  const difference = (await value()) - expected
  // Fees are taken at the dearer price of the collateral: less than a cent of difference.
  expect(difference < 10n ** 28n && difference > -(10n ** 28n)).toBe(true)
  const detail = await own.get(`/positions/${encodeURIComponent(row.key)}`)
  expect([detail.status, detail.body.positionValueInUsd]).toEqual([200, row.positionValueInUsd])
  await own.close()
})

test('What the service does: either peer may be down, and both; the others answer on', async () => {
  const own = await startVenue()
  const answers = async (url: string): Promise<number> =>
    fetch(url).then(
      ({ status }) => status,
      () => 0,
    )
  const all = () =>
    Promise.all(
      [own.api, own.peer].map((host) => answers(`${host}/tokens`)).concat(answers(`${own.oracle}/ping`)),
    )
  for (const [down, expected] of [
    [['api/0'], [0, 200, 200]],
    [['api/1'], [200, 0, 200]],
    [
      ['api/0', 'api/1'],
      [0, 0, 200],
    ],
    [['oracle/0'], [200, 200, 0]],
    [[], [200, 200, 200]],
  ] as const) {
    await own.call('POST', `${own.control}/faults`, { down })
    expect(await all()).toEqual(expected)
  }
  await own.close()
})
