/**
 * Every row of the documents' Errors tables, over HTTP as nock gives it. Alone in its process with nock.test.ts' ways: nock
 * replaces the connections of a whole process.
 */
import nock from 'nock'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  getOrders,
  getPosition,
  getPositions,
  getTrades,
  searchTrades,
} from '../../src/api/accounts/accountReads.ts'
import { getWithdrawalStatus } from '../../src/api/accounts/accountTransfers.ts'
import { ping } from '../../src/api/feeds/oracle.ts'
import {
  getApy,
  getPerformanceAnnualized,
  getPerformanceSnapshots,
  getRates,
} from '../../src/api/markets/history.ts'
import { getMarketsValues } from '../../src/api/markets/marketInfo.ts'
import { getMarketTickers, getTradingCapacity } from '../../src/api/markets/marketReads.ts'
import { getGmPools, getGmUserEarnings } from '../../src/api/markets/poolYields.ts'
import { getStatsSources, getStatsSummary, getStatsTimeseries } from '../../src/api/markets/stats.ts'
import { getSolanaPairs } from '../../src/api/markets/tokens.ts'
import { getOrderStatus, prepareOrder } from '../../src/api/orders/expressOrders.ts'
import type { PrepareRequest } from '../../src/api/orders/prepareRequest.ts'
import { proves, RefusedError, UnreachableError } from '../../src/api/transport/apiErrors.ts'
import type { Fetch, Read } from '../../src/api/transport/route.ts'
import { createTransport } from '../../src/api/transport/transport.ts'
import type { RequestAttempt, Transport } from '../../src/api/transport/transportTypes.ts'
import { failureOf, fixtureText, realClock } from './support.ts'

// The client's own connections are undici's, which nock does not see; its global fetch it does.
const fetch: Fetch = (url, init) => globalThis.fetch(url, init)
const one = 'http://megaeth.venue-a.test/v1'
const two = 'http://megaeth.venue-b.test/v1'
const arbitrumB = 'http://arbitrum.venue-b.test/v1'
const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const symbol = 'ETH/USD [WETH-USDC]'

afterEach(() => nock.cleanAll())
afterAll(() => nock.restore())

function connected(attempts: RequestAttempt[] = []): Transport {
  return createTransport({
    hosts: { api: [one, two], oracle: ['http://oracle.test', 'http://oracle-fallback.test'] },
    fetch,
    clock: realClock,
    random: () => 0,
    onAttempt: (attempt) => attempts.push(attempt),
  })
}

type Ask = (transport: Transport) => Promise<Read<unknown>>

/** Every request to either peer gets this answer, with a trace id; gives the error and the number of requests. */
async function answered(ask: Ask, status: number, body: unknown) {
  const attempts: RequestAttempt[] = []
  for (const host of [one, two]) {
    nock(new URL(host).origin)
      .persist()
      .intercept(/.*/, 'GET')
      .reply(status, body as nock.Body, { 'X-Trace-Id': 'tr-1' })
      .persist()
      .intercept(/.*/, 'POST')
      .reply(status, body as nock.Body, { 'X-Trace-Id': 'tr-1' })
  }
  const transport = connected(attempts)
  const error = await failureOf(ask(transport))
  return {
    error,
    requests: attempts.length,
    isResting: [one, two].some((host) => transport.isCoolingDown(host)),
  }
}

const order: PrepareRequest = {
  kind: 'increase',
  orderType: 'market',
  from: account,
  symbol,
  direction: 'long',
  sizeDeltaUsd: 1n,
  slippageBps: 100,
  collateralToken: 'USDC',
  collateralToPay: { amount: 1n, token: 'USDC' },
}

/** Status 400 of the table: route, the call, the body, and what the error tells. */
const refusals: readonly (readonly [string, Ask, unknown, object])[] = [
  [
    '/orders without a valid account address',
    (to) => getOrders(to, { account: '0x1' }),
    { message: { address: { message: 'invalid address', value: '0x1' } } },
    { fieldErrors: [{ field: 'address', message: 'invalid address' }] },
  ],
  [
    '/positions without a valid account address',
    (to) => getPositions(to, { account: '0x1' }),
    { message: 'Invalid address' },
    { serverMessage: 'Invalid address', fieldErrors: [] },
  ],
  [
    '/markets/tickers with an invalid filter',
    (to) => getMarketTickers(to, { symbols: ['nothing'] }),
    { message: 'Unknown symbol nothing' },
    { serverMessage: 'Unknown symbol nothing' },
  ],
  [
    '/markets/trading-capacity without a symbol, or with a direction other than long or short',
    (to) => getTradingCapacity(to, { symbol: '', direction: 'up' as 'long' }),
    { message: { symbol: { message: 'required' }, direction: { message: 'outside the enum', value: 'up' } } },
    {
      fieldErrors: [
        { field: 'symbol', message: 'required' },
        { field: 'direction', message: 'outside the enum' },
      ],
    },
  ],
  [
    '/rates with an invalid period or averageBy',
    (to) => getRates(to, { period: '2d' as '1d', averageBy: '1d' }),
    { message: { period: { message: 'outside the enum' } } },
    { fieldErrors: [{ field: 'period', message: 'outside the enum' }] },
  ],
  [
    '/rates with an invalid averageBy',
    (to) => getRates(to, { period: '1d', averageBy: '1h' as '1d' }),
    { message: { 'requestQuery.averageBy': { message: 'outside the enum', value: '1h' } } },
    {
      fieldErrors: [
        {
          field: 'averageBy',
          path: 'requestQuery.averageBy',
          message: 'outside the enum',
          value: '1h',
        },
      ],
    },
  ],
  ['/apy with an invalid filter', (to) => getApy(to, { period: '2d' as '1d' }), { message: 'bad' }, {}],
  [
    '/performance/annualized with an invalid filter',
    (to) => getPerformanceAnnualized(to, { period: '1d' }),
    { message: 'bad' },
    {},
  ],
  [
    '/performance/snapshots with an invalid filter',
    (to) => getPerformanceSnapshots(to, { period: '1d' }),
    { message: 'bad' },
    {},
  ],
  [
    '/yield/gm-pools with malformed pool addresses',
    (to) => getGmPools(to, { period: '7d', pools: ['0x1'] }),
    { message: 'Invalid pool address' },
    { serverMessage: 'Invalid pool address' },
  ],
  [
    '/yield/gm-pools with an invalid filter',
    (to) => getGmPools(to, { period: '2d' as '7d' }),
    { message: { period: { message: 'outside the enum' } } },
    { fieldErrors: [{ field: 'period', message: 'outside the enum' }] },
  ],
  [
    '/yield/gm-user-earnings without an account',
    (to) => getGmUserEarnings(to, { account: '' as '0x' }),
    { message: { account: { message: 'required' } } },
    { fieldErrors: [{ field: 'account', message: 'required' }] },
  ],
  [
    '/yield/gm-user-earnings with a malformed account',
    (to) => getGmUserEarnings(to, { account: '0x1' }),
    { message: { account: { message: 'invalid' } } },
    { fieldErrors: [{ field: 'account', message: 'invalid' }] },
  ],
  [
    '/trades with a time that is not whole seconds, the field named',
    (to) => getTrades(to, { account, sinceSeconds: 1.5 }),
    { message: 'Invalid since timestamp: whole seconds expected' },
    { serverMessage: 'Invalid since timestamp: whole seconds expected' },
  ],
  [
    '/trades with an end that is no time, the field named',
    (to) => getTrades(to, { account, untilSeconds: -1 }),
    { message: 'Invalid until timestamp: whole seconds expected' },
    { serverMessage: 'Invalid until timestamp: whole seconds expected' },
  ],
  [
    '/trades/search with a start that is not whole seconds, the field named',
    (to) => searchTrades(to, { account, fromSeconds: 0.5 }),
    { message: 'Invalid fromTimestamp timestamp: whole seconds expected' },
    { serverMessage: 'Invalid fromTimestamp timestamp: whole seconds expected' },
  ],
  [
    '/trades/search with a time beyond 2147483647, the field named',
    (to) => searchTrades(to, { account, toSeconds: 2_147_483_648 }),
    { message: 'Invalid toTimestamp timestamp: whole seconds expected' },
    { serverMessage: 'Invalid toTimestamp timestamp: whole seconds expected' },
  ],
  [
    '/stats with an unknown metric',
    (to) => getStatsTimeseries(to, { metric: 'volume.all' as 'volume.total' }),
    { message: { metric: { message: 'outside the enum', value: 'volume.all' } } },
    { fieldErrors: [{ field: 'metric', message: 'outside the enum' }] },
  ],
  [
    '/stats with an unknown network or version',
    (to) => getStatsSummary(to, { networks: ['base' as 'solana'], versions: ['v9' as 'v1'] }),
    { message: { networks: { message: 'outside the enum' }, versions: { message: 'outside the enum' } } },
    {
      fieldErrors: [
        { field: 'networks', message: 'outside the enum' },
        { field: 'versions', message: 'outside the enum' },
      ],
    },
  ],
  [
    '/stats with a comma-separated list',
    (to) => getStatsSummary(to, { networks: ['arbitrum,avalanche' as 'arbitrum'] }),
    { message: { networks: { message: 'repeat the parameter' } } },
    { fieldErrors: [{ field: 'networks', message: 'repeat the parameter' }] },
  ],
  [
    '/stats with a time that is not whole seconds',
    (to) => getStatsTimeseries(to, { metric: 'volume.total', fromSeconds: 1.5, toSeconds: 2.5 }),
    { message: { from: { message: 'whole seconds' }, to: { message: 'whole seconds' } } },
    {
      fieldErrors: [
        { field: 'from', message: 'whole seconds' },
        { field: 'to', message: 'whole seconds' },
      ],
    },
  ],
  [
    '/stats with a filter that matches no source',
    (to) => getStatsSummary(to, { networks: ['solana'], versions: ['v1'] }),
    { message: 'No configured source matches the requested networks and versions.' },
    { serverMessage: 'No configured source matches the requested networks and versions.' },
  ],
  [
    '/orders/txns/prepare above the capacity: code and numbers',
    (to) => prepareOrder(to, order),
    { code: 'INSUFFICIENT_LIQUIDITY', message: 'too large', details: { requestedSizeUsd: '1' } },
    { serverCode: 'INSUFFICIENT_LIQUIDITY', serverDetails: { requestedSizeUsd: '1' } },
  ],
  [
    '/orders/txns/prepare with too little collateral',
    (to) => prepareOrder(to, order),
    { code: 'INSUFFICIENT_COLLATERAL', message: 'below the minimum' },
    { serverCode: 'INSUFFICIENT_COLLATERAL' },
  ],
  [
    'a code that is not in the documents',
    (to) => prepareOrder(to, order),
    { error: { code: 'NEW_RULE', message: 'no' } },
    { serverCode: 'NEW_RULE', serverMessage: 'no' },
  ],
]

test.each(refusals)('400: %s is refused once, with its words and trace id', async (_, ask, body, tells) => {
  const { error, requests } = await answered(ask, 400, body)
  expect(error).toBeInstanceOf(RefusedError)
  expect(error).toMatchObject({ status: 400, traceId: 'tr-1', isOwnBody: true, ...tells })
  expect(proves(error)).toBe('refused')
  expect(requests).toBe(1)
})

test('404: the detail of a closed position is a refusal', async () => {
  const { error, requests } = await answered((to) => getPosition(to, { positionKey: 'gone' }), 404, {
    message: 'Position not found',
  })
  expect(error).toMatchObject({ status: 404, serverMessage: 'Position not found', traceId: 'tr-1' })
  expect(requests).toBe(1)
})

test.each<readonly [string, Ask]>([
  ['order', (to) => getOrderStatus(to, { host: one, requestId: 'r-1' })],
  ['withdrawal', (to) => getWithdrawalStatus(to, { host: one, requestId: 'r-1' })],
])('404: the status of an %s on a host that did not prepare it proves nothing', async (_, ask) => {
  const { error, requests } = await answered(ask, 404, { message: 'Transaction not found' })
  expect(error).toMatchObject({ status: 404, serverMessage: 'Transaction not found', host: one })
  expect(proves(error)).toBe('nothing')
  expect(requests).toBe(1)
})

test('308: stats of a host that does not compute them are read at the Arbitrum host of its family', async () => {
  const attempts: RequestAttempt[] = []
  const path = '/v1/stats/summary?networks=arbitrum'
  nock('http://megaeth.venue-a.test').get(path).reply(503, { message: 'Internal Server Error' })
  nock('http://megaeth.venue-b.test')
    .get(path)
    .reply(308, '', { Location: 'http://arbitrum.venue-b.test/v1/stats/summary' })
  nock('http://arbitrum.venue-b.test').get(path).reply(200, fixtureText('stats-summary'))
  const read = await getStatsSummary(connected(attempts), { networks: ['arbitrum'] })
  expect(read.host).toBe(arbitrumB)
  expect(read.value.meta.completeness).toBe('partial')
  expect(attempts.map(({ host, status, outcome }) => [host, status, outcome])).toEqual([
    [one, 503, 'not-now'],
    [two, 308, 'redirected'],
    [arbitrumB, 200, 'ok'],
  ])
})

test.each([
  ['a stranger', 'http://elsewhere.test/v1/stats/sources'],
  ['a name that only ends alike', 'http://evilvenue-b.test/v1/stats/sources'],
  ['another protocol', 'https://arbitrum.venue-b.test/v1/stats/sources'],
  ['another port', 'http://arbitrum.venue-b.test:8080/v1/stats/sources'],
  ['another path', 'http://arbitrum.venue-b.test/v1/orders/txns/submit'],
  ['a name with a password', 'http://user:pass@arbitrum.venue-b.test/v1/stats/sources'],
  ['itself', 'http://megaeth.venue-b.test/v1/stats/sources'],
  ['no address', 'http://['],
])('308: a redirect to %s is not followed', async (_, location) => {
  const attempts: RequestAttempt[] = []
  nock('http://megaeth.venue-b.test').get('/v1/stats/sources').reply(308, '', { Location: location })
  const error = await failureOf(getStatsSources(connected(attempts), { host: two, attempts: 1 }))
  expect(error).toMatchObject({ status: 308, silence: 'status' })
  expect(attempts.map(({ host, outcome }) => [host, outcome])).toEqual([[two, 'not-now']])
})

test('308: another path of the same origin is followed, once, with the query of the question', async () => {
  const attempts: RequestAttempt[] = []
  const query = { networks: 'arbitrum' }
  nock('http://megaeth.venue-b.test')
    .get('/v1/stats/summary')
    .query(query)
    .reply(308, '', { Location: '/v1/stats/v2/summary' })
  nock('http://megaeth.venue-b.test')
    .get('/v1/stats/v2/summary')
    .query(query)
    .reply(200, fixtureText('stats-summary'))
  const scope = { networks: ['arbitrum'] } as const
  const options = { host: two, attempts: 1 }
  const read = await getStatsSummary(connected(attempts), scope, options)
  expect(read.host).toBe(two)
  expect(attempts.map(({ status, outcome }) => [status, outcome])).toEqual([
    [308, 'redirected'],
    [200, 'ok'],
  ])
  nock('http://megaeth.venue-b.test').get(/stats/).times(2).reply(308, '', { Location: '/v1/stats/again' })
  const again = await failureOf(getStatsSummary(connected(), scope, options))
  expect(again).toMatchObject({ status: 308, host: two })
})

test('308: a redirect is followed once, of stats alone, and a configured host is known', async () => {
  nock('http://megaeth.venue-b.test')
    .get('/v1/stats/sources')
    .reply(308, '', { Location: `${one}/stats/sources` })
  nock('http://megaeth.venue-a.test')
    .get('/v1/stats/sources')
    .reply(308, '', { Location: `${two}/stats/sources` })
  const again = await failureOf(getStatsSources(connected(), { host: two, attempts: 1 }))
  expect(again).toMatchObject({ status: 308, host: one })
  nock('http://megaeth.venue-b.test')
    .get('/v1/markets/values')
    .reply(308, '', { Location: `${one}/markets/values` })
  const other = await failureOf(getMarketsValues(connected(), { host: two, attempts: 1 }))
  expect(other).toMatchObject({ status: 308, host: two })
})

const internal = { message: 'Internal Server Error' }

test.each<readonly [string, Ask, unknown, string, string | undefined]>([
  [
    '/yield/gm-user-earnings while data warms up, or where unavailable',
    (to) => getGmUserEarnings(to, { account }),
    internal,
    'route',
    'means: the earnings data is warming up, or this deployment has none',
  ],
  [
    '/stats on a deployment that does not serve them',
    (to) => getStatsSummary(to),
    internal,
    'route',
    'means: this deployment does not serve stats; the Arbitrum hosts do',
  ],
  [
    '/pairs/solana where not computed, or while the snapshot is built or older than 15 minutes',
    (to) => getSolanaPairs(to),
    internal,
    'route',
    'means: this deployment does not compute Solana pairs, or its snapshot is being built or is older than 15 minutes',
  ],
  [
    'a request beyond the 60 second server timeout',
    (to) => prepareOrder(to, order),
    internal,
    'server',
    undefined,
  ],
  [
    'BACKEND_UNAVAILABLE: a pool that does not serve the route',
    (to) => getMarketsValues(to),
    { code: 'BACKEND_UNAVAILABLE' },
    'backend',
    'means: the request reached a pool that does not serve this route',
  ],
  [
    'BACKEND_UNAVAILABLE on a route with a reason of its own',
    (to) => getStatsSummary(to),
    { code: 'BACKEND_UNAVAILABLE' },
    'backend',
    'means: the request reached a pool that does not serve this route',
  ],
])('503: %s is told apart, repeated with backoff and at the peer', async (_, ask, body, kind, means) => {
  const { error, requests, isResting } = await answered(ask, 503, body)
  expect(error).toBeInstanceOf(UnreachableError)
  expect(error).toMatchObject({ status: 503, unavailability: kind, traceId: 'tr-1' })
  expect(proves(error)).toBe('nothing')
  if (means === undefined) expect(String(error)).not.toContain('means')
  else expect(String(error)).toContain(means)
  expect(requests).toBe(4)
  expect(isResting).toBe(false)
})

test('503: a route that is not served does not rest the host for the others, a sick host does', async () => {
  const restedBy = async (ask: Ask, body: unknown, status = 503) => {
    nock(/.*/)
      .persist()
      .get(/.*/)
      .reply(status, body as nock.Body)
    const transport = connected()
    for (let index = 0; index < 4; index++) await failureOf(ask(transport))
    nock.cleanAll()
    return [one, two].filter((host) => transport.isCoolingDown(host))
  }
  expect(await restedBy((to) => getStatsSummary(to), internal)).toEqual([])
  expect(await restedBy((to) => getMarketsValues(to), { code: 'BACKEND_UNAVAILABLE' })).toEqual([])
  expect(await restedBy((to) => getStatsSummary(to), '', 308)).toEqual([])
  expect(await restedBy((to) => getMarketsValues(to), internal)).toEqual([one, two])
})

test('the trace id is kept from the header, and from the body where there is no header', async () => {
  nock(/.*/).persist().get(/.*/).reply(400, { message: 'no', traceId: 'in-body' })
  expect(await failureOf(getOrders(connected(), { account }))).toMatchObject({ traceId: 'in-body' })
})

test('a 200 does not prove freshness: old rows and rows without a stamp are told as they are', async () => {
  const [row] = JSON.parse(fixtureText('markets-info')) as Record<string, unknown>[]
  nock('http://megaeth.venue-a.test')
    .get('/v1/markets/values')
    .reply(200, [
      { ...row, updatedAt: 1_700_000_000_000 },
      { ...row, updatedAt: null },
    ])
  const { value } = await getMarketsValues(connected())
  expect(value.map(({ updatedAtMs }) => updatedAtMs)).toEqual([1_700_000_000_000, null])
})

test('/ping 500: an oracle without its database says so, and the fallback is asked', async () => {
  nock('http://oracle.test')
    .get('/ping')
    .reply(500, { errors: ['db is unavailable'] })
  nock('http://oracle-fallback.test').get('/ping').reply(200, { ok: true })
  const read = await ping(connected())
  expect([read.host, read.value]).toEqual(['http://oracle-fallback.test', true])
  for (const host of ['http://oracle.test', 'http://oracle-fallback.test']) {
    nock(host)
      .persist()
      .get('/ping')
      .reply(500, { errors: ['db is unavailable'] })
  }
  const error = await failureOf(ping(connected()))
  expect(error).toMatchObject({ status: 500, serverMessage: 'db is unavailable' })
})
