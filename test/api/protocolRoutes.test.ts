/** Stats, JIT liquidity, candles of the application API, and the feeds that have hosts of their own. */
import { expect, test } from 'vitest'
import { getOhlcv } from '../../src/api/feeds/ohlcv.ts'
import { getListingPairs, getSolanaFeedPairs } from '../../src/api/feeds/pairFeeds.ts'
import { getJitHistory, getJitLiquidity } from '../../src/api/markets/jitLiquidity.ts'
import { getStatsSources, getStatsSummary, getStatsTimeseries } from '../../src/api/markets/stats.ts'
import { getTokens } from '../../src/api/markets/tokens.ts'
import { RefusedError, UnreachableError } from '../../src/api/transport/apiErrors.ts'
import { ONE_USD } from '../../src/protocol/units.ts'
import { failureOf, fixtureText, peers, scriptedTransport, transportAnswering } from './support.ts'

const market = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
const glv = '0x528A5bac7E746C9A509A1f4F6dF58A03d44279F9'

test('stats keep every figure by its path, and what a source cannot provide is null, never zero', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('stats-summary') }))
  const { value } = await getStatsSummary(transport, { networks: ['arbitrum', 'solana'], versions: ['v2'] })
  expect(seen[0]?.url).toBe('http://one/v1/stats/summary?networks=arbitrum&networks=solana&versions=v2')
  expect(Object.fromEntries(value.volumeUsd)).toEqual({
    total: 900n * ONE_USD,
    'byNetwork.arbitrum': 900n * ONE_USD,
    'byNetwork.solana': null,
    'byVersion.v1': null,
    'byVersion.v2': 900n * ONE_USD,
  })
  expect(value.fees24hUsd.get('byNetwork.arbitrum')).toBe(0n)
  expect(value.fees24hUsd.get('byNetwork.solana')).toBeNull()
  expect(value.users.get('byNetwork.arbitrum')).toBe(1_200)
  expect(value.trades.get('byNetwork.solana')).toBe(7)
  expect(value.totalsUsd.get('volume.total')).toBe(900n * ONE_USD)
  expect([value.totalUsers.get('total'), value.totalTrades.get('total')]).toEqual([1_200, 3_407])
  expect(value).toMatchObject({
    usersDistinctness: 'source',
    tvlValuedAtMs: 1_800_000_030_000,
    tvlPoolsValuedAtMs: 1_800_000_000_000,
    meta: {
      completeness: 'partial',
      sources: [
        { network: 'arbitrum', health: 'fresh', lagSeconds: 12, lastError: null },
        { network: 'solana', health: 'missing', lagSeconds: null, lastError: 'connect ECONNREFUSED' },
      ],
    },
  })
})

test('words, times, flags and lists beside the figures of a group are no figures, and a spoilt figure is an error', async () => {
  const body = JSON.parse(fixtureText('stats-summary')) as Record<string, Record<string, unknown>>
  const words = { method: 'mid', pricedAt: 1_800_000_000, isFinal: true, sources: [{ id: 'x' }] }
  const newer = { ...body, tvl: { ...body.tvl, ...words }, users: { ...body.users, ...words } }
  const read = await getStatsSummary(transportAnswering(newer))
  expect(read.value).toEqual((await getStatsSummary(transportAnswering(body))).value)
  for (const spoilt of ['NaN', true, '1.5', 1.5, '', '1e30', '0x1', '-']) {
    const wrong = { ...body, volume: { total: spoilt } }
    const error = await failureOf(getStatsSummary(transportAnswering(wrong), {}, { attempts: 1 }))
    expect(error).toMatchObject({ path: 'volume.total' })
  }
})

test('a metric day by day has its unit, its provisional days and its gaps', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('stats-timeseries') }))
  const { value } = await getStatsTimeseries(transport, {
    metric: 'volume.total',
    groupBy: 'network',
    fromSeconds: 1_799_971_200,
  })
  expect(seen[0]?.url).toBe(
    'http://one/v1/stats/timeseries?metric=volume.total&groupBy=network&from=1799971200',
  )
  expect(value).toMatchObject({
    metric: 'volume.total',
    unit: 'usd30',
    series: [
      {
        key: 'arbitrum',
        points: [
          { daySeconds: 1_799_971_200, value: 4n * ONE_USD, isProvisional: false },
          { daySeconds: 1_800_057_600, value: ONE_USD, isProvisional: true },
        ],
      },
      { key: 'solana', points: [{ value: null }] },
    ],
    meta: { completeness: 'partial' },
  })
})

test('counts come as numbers, days also as dates, and an answer about another metric is no answer', async () => {
  const body = { metric: 'users.active', series: [{ points: [{ day: '2027-01-15', value: 12 }] }] }
  const ask = (metric: 'users.active' | 'trades.perps' | 'volume.perps', answer: unknown) =>
    getStatsTimeseries(transportAnswering(answer), { metric }, { attempts: 1 })
  expect((await ask('users.active', body)).value).toEqual({
    metric: 'users.active',
    unit: 'count',
    series: [
      {
        key: 'total',
        points: [{ daySeconds: Date.UTC(2027, 0, 15) / 1000, value: 12, isProvisional: false }],
      },
    ],
  })
  expect(await failureOf(ask('trades.perps', body))).toMatchObject({ path: 'metric' })
  const { metric: _unsaid, ...unnamed } = body
  const inUsd = { series: [{ points: [{ day: 1, value: '1.5' }] }] }
  expect(await failureOf(ask('volume.perps', inUsd))).toMatchObject({ path: 'series[0].points[0].value' })
  expect((await ask('trades.perps', unnamed)).value.unit).toBe('count')
})

test('a source of stats is fresh, stale or missing, and a newer word is unrecognised', async () => {
  const read = await getStatsSources(transportAnswering(fixtureText('stats-sources')))
  expect(read.value.map(({ health }) => health)).toEqual(['fresh', 'missing'])
  const newer = { sources: [{ health: 'resyncing', lagSeconds: 1 }] }
  expect((await getStatsSources(transportAnswering(newer))).value).toEqual([
    { health: 'unrecognised', lagSeconds: 1, lastError: null },
  ])
})

test('JIT liquidity is asked of the first version, and of the second where the first is gone', async () => {
  const first = scriptedTransport(() => ({ body: fixtureText('jit-info') }))
  const shift = {
    glv,
    fromMarket: market,
    toMarket: market,
    marketTokenAmount: 12n * 10n ** 17n,
    minMarketTokens: 119n * 10n ** 16n,
  }
  const wanted = [{ glv, market, long: { maxReservedUsd: 500n * ONE_USD, shifts: [shift] }, short: null }]
  expect((await getJitLiquidity(first.transport)).value).toEqual(wanted)
  const second = scriptedTransport(({ url }) =>
    url.includes('/v2/') ? { body: fixtureText('jit-info-v2') } : { status: 404, body: { message: 'gone' } },
  )
  expect((await getJitLiquidity(second.transport)).value).toEqual(wanted)
  expect(second.seen.map(({ url }) => url)).toEqual([
    'http://one/v1/jit/liquidity_info',
    'http://two/v2/jit/liquidity_info',
  ])
  const refusing = scriptedTransport(() => ({ status: 400, body: { message: 'no' } }))
  expect(await failureOf(getJitLiquidity(refusing.transport))).toBeInstanceOf(RefusedError)
  expect(refusing.seen).toHaveLength(1)
})

test('each side of the JIT history may be missing', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('jit-history') }))
  const query = { period: '1h', fromSeconds: 1_800_000_000, toSeconds: 1_800_003_600 } as const
  const { value } = await getJitHistory(transport, query)
  expect(seen[0]?.url).toBe('http://one/v1/jit/liquidity_history?period=1h&from=1800000000&to=1800003600')
  expect(value).toEqual([
    { market, glv, timestampSeconds: 1_800_000_000, longLiquidityUsd: 5n * ONE_USD, shortLiquidityUsd: null },
    { market, glv, timestampSeconds: 1_800_003_600, longLiquidityUsd: null, shortLiquidityUsd: 0n },
  ])
})

test('candles of the application API are exact and come ascending', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('ohlcv') }))
  const { value } = await getOhlcv(transport, {
    symbol: 'ETH/USD [WETH-USDC]',
    timeframe: '5m',
    limit: 2,
    sinceMs: 1_800_000_000_000,
  })
  expect(seen[0]?.url).toBe(
    'http://one/v1/prices/ohlcv?symbol=ETH%2FUSD%20%5BWETH-USDC%5D&timeframe=5m&limit=2&since=1800000000000',
  )
  expect(value.map(({ timestampMs, close }) => [timestampMs, close])).toEqual([
    [1_800_000_000_000, 1740n * ONE_USD],
    [1_800_000_300_000, (17_405n * ONE_USD) / 10n],
  ])
})

test('the feeds are asked at hosts of their own, under the paths that these serve', async () => {
  const hosts = { ...peers, pairFeed: ['http://listing/'], solanaFeed: ['http://solana'] }
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('pairs') }), { hosts })
  const [pair] = (await getListingPairs(transport, { chain: 'avalanche' })).value
  await getSolanaFeedPairs(transport)
  expect(seen.map(({ url }) => url)).toEqual(['http://listing/api/avalanche/pairs', 'http://solana/v1/pairs'])
  expect(pair).toMatchObject({ tickerId: 'ETH/USD [WETH-USDC]', lastPrice: 1739.5 })
})

test('a service without a host is not asked, and the error says what to do', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: '[]' }))
  const error = await failureOf(getSolanaFeedPairs(transport))
  expect(error).toBeInstanceOf(UnreachableError)
  expect(error).toMatchObject({ silence: 'no-host', sent: 'no' })
  expect(String(error)).toMatchInlineSnapshot(`
    "UnreachableError: No host is configured, so no request was sent for GET /v1/pairs.
      attempts: 0
      reached: no, nothing was sent
      Configure a host that serves this route, or do not use the feature."
  `)
  expect(seen).toEqual([])
})

test('which hosts a route may use is data: one route may have fewer than its service', async () => {
  const hosts = { ...peers, byRoute: { 'api /tokens': ['http://two/v1/'] } }
  const { transport, clock, seen } = scriptedTransport(() => ({ status: 503 }), { hosts })
  await clock.drive(failureOf(getTokens(transport, { attempts: 3 })))
  expect(seen.map(({ url }) => url)).toEqual(Array(3).fill('http://two/v1/tokens'))
})
