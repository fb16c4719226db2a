/** Protocol-wide stats over real sockets (docs/reference/api-coverage.md A8, A9, A15 and A29). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMultiChainVenue } from '../../src/paper/server/multiChainVenue.ts'
import { serveVenues } from '../../src/paper/server/serve.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, manualClock, START_MS, startVenue, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const big = (value: unknown): bigint => BigInt(String(value))
const sum = (values: readonly unknown[]): bigint =>
  values.reduce<bigint>((total, one) => total + big(one), 0n)

test('Stats responses: the summary splits every figure by network and by version, and has totals', async () => {
  const { body } = await paper.get('/stats/summary')
  for (const [name, key] of [
    ['volume', 'total'],
    ['volume', 'perps'],
    ['fees', 'total'],
    ['revenue', 'lp'],
    ['trades', 'perps'],
    ['volume24h', 'total'],
    ['fees24h', 'trading'],
  ] as const) {
    const part = body[name]
    expect(Object.keys(part.byNetwork)).toEqual(['arbitrum', 'avalanche', 'megaeth', 'solana'])
    expect(Object.keys(part.byVersion)).toEqual(['v1', 'v2'])
    const total = big(body.totals[name][key])
    expect(sum(Object.values(part.byNetwork).map((row: Any) => row[key]))).toBe(total)
    expect(sum(Object.values(part.byVersion).map((row: Any) => row[key]))).toBe(total)
    expect(total).toBeGreaterThan(0n)
  }
  for (const name of ['openInterest', 'tvl', 'users']) {
    expect(sum(Object.values(body[name].byNetwork))).toBe(big(body.totals[name]))
  }
  expect(big(body.volume24h.byNetwork.arbitrum.total)).toBeLessThan(big(body.volume.byNetwork.arbitrum.total))
})

test('Stats responses: amounts are 30-decimal strings, counts are numbers, and users are distinct by source', async () => {
  const { body } = await paper.get('/stats/summary')
  expect(body.totals.volume.total).toMatch(/^\d+$/)
  expect(typeof body.totals.users).toBe('number')
  expect(typeof body.totals.trades.perps).toBe('number')
  expect(body.users.distinctness).toBe('source')
  expect(body.tvl.valuedAt).toBe(START_MS / 1000)
  expect(body.tvl.poolsValuedAt).toBe(START_MS / 1000)
})

test('Stats responses: a figure that a source cannot provide is null, not zero', async () => {
  const { body } = await paper.get('/stats/summary?networks=solana')
  expect(body.volume.byNetwork.solana.swaps).toBeNull()
  expect(big(body.volume.byNetwork.solana.perps)).toBeGreaterThan(0n)
  const other = await startVenue({ faults: { missingSources: ['solana:v2'] } })
  const missing = (await other.get('/stats/summary?networks=solana')).body
  expect(missing.totals.volume.total).toBeNull()
  expect(missing.totals.users).toBeNull()
  await other.close()
})

test('Stats responses: the total of the timeseries is the cumulative figure of the summary', async () => {
  const summary = (await paper.get('/stats/summary')).body
  for (const [metric, figure] of [
    ['volume.perps', summary.totals.volume.perps],
    ['fees.total', summary.totals.fees.total],
    ['revenue.protocol', summary.totals.revenue.protocol],
    ['trades.perps', summary.totals.trades.perps],
  ]) {
    const { body } = await paper.get(`/stats/timeseries?metric=${metric}&groupBy=none`)
    expect(body.series).toHaveLength(1)
    expect(sum(body.series[0].points.map((point: Any) => point.value))).toBe(big(figure))
  }
})

test('Stats responses: a trade counts at once in volume, fees, revenue, trades and open interest', async () => {
  const other = await startVenue()
  const read = async () => {
    other.clock.move(30_000)
    return (await other.get('/stats/summary?networks=arbitrum&versions=v2')).body.totals
  }
  const before = await read()
  await other.trade({ size: usd(20_000), collateralToPay: { amount: '4000000000', token: 'USDC' } })
  const after = await read()
  const fields = other.venue.venueState.trades.at(-1)?.fields
  const fee = big(fields?.positionFeeAmount) * big(fields?.collateralTokenPriceMin)
  expect(big(after.volume.perps) - big(before.volume.perps)).toBe(big(usd(20_000)))
  expect(big(after.volume24h.perps) - big(before.volume24h.perps)).toBe(big(usd(20_000)))
  expect(big(after.fees.trading) - big(before.fees.trading)).toBe(fee)
  const revenue = (totals: Any): bigint => big(totals.revenue.protocol) + big(totals.revenue.lp)
  expect(revenue(after) - revenue(before)).toBe(fee)
  expect(after.trades.perps - before.trades.perps).toBe(1)
  expect(after.users - before.users).toBe(1)
  expect(big(after.openInterest)).not.toBe(big(before.openInterest))
  await other.close()
})

test('Stats responses: openInterest is that of /pairs, tvl that of the pools', async () => {
  const { totals } = (await paper.get('/stats/summary?networks=arbitrum&versions=v2')).body
  const pairs = (await paper.get('/pairs')).body
  const open = pairs.reduce((total: number, row: Any) => total + row.open_interest, 0)
  expect(Number(big(totals.openInterest) / 10n ** 24n) / 1e6).toBeCloseTo(open, 0)
  const tickers = (await paper.get('/markets/tickers')).body
  expect(big(totals.tvl)).toBe(
    sum(tickers.flatMap((row: Any) => [row.poolAmountLongUsd, row.poolAmountShortUsd])),
  )
})

test('Stats responses: points carry the day, and the days that can still change are provisional', async () => {
  const other = await startVenue()
  const days = async () =>
    (
      await other.get(
        `/stats/timeseries?metric=volume.total&groupBy=version&from=${START_MS / 1000 - 200_000}`,
      )
    ).body
  const first = await days()
  expect(first.series.map((one: Any) => one.key)).toEqual(['v1', 'v2'])
  const { points } = first.series[1]
  expect(points[0]).toEqual({ day: '2026-11-18', value: points[0].value, provisional: false })
  // The daily rows are synchronised every ten minutes: at midnight yesterday may still change.
  expect(points.slice(-2).map((point: Any) => point.provisional)).toEqual([true, true])
  other.clock.move(600_000)
  const later = (await days()).series[1].points
  expect(later.slice(-2).map((point: Any) => point.provisional)).toEqual([false, true])
  await other.close()
})

test('Stats, rules: from and to are floored to the UTC day and bound the series', async () => {
  const noon = START_MS / 1000 - 5 * 86_400 + 43_200
  const { body } = await paper.get(
    `/stats/timeseries?metric=users.active&groupBy=none&from=${noon}&to=${noon + 86_400}`,
  )
  expect(body.distinctness).toBe('source')
  expect(body.series[0].points).toHaveLength(2)
  expect(Number.isInteger(body.series[0].points[0].value)).toBe(true)
})

test('Stats responses: a lag of exactly 900 s is fresh, one second more is stale', async () => {
  const other = await startVenue()
  const healthAt = async (statsLagSeconds: number) => {
    await other.call('POST', `${other.control}/faults`, { statsLagSeconds })
    other.clock.move(60_000)
    const [{ health, lagSeconds }] = (await other.get('/stats/sources')).body.sources
    return [health, lagSeconds]
  }
  expect(await healthAt(900)).toEqual(['fresh', 900])
  expect(await healthAt(901)).toEqual(['stale', 901])
  await other.close()
})

test('Stats responses: sources have health, lag and the last error; completeness needs every source fresh', async () => {
  const other = await startVenue()
  other.clock.move(30_000)
  const fresh = (await other.get('/stats/sources')).body.sources
  expect(fresh.map((row: Any) => row.name)).toContain('arbitrum-v2')
  for (const row of fresh) expect(row).toMatchObject({ health: 'fresh', lagSeconds: 30, lastError: null })
  expect((await other.get('/stats/summary')).body.meta.completeness).toBe('complete')
  await other.call('POST', `${other.control}/faults`, {
    statsLagSeconds: 901,
    missingSources: ['megaeth:v2'],
  })
  other.clock.move(30_000)
  const { meta, totals } = (await other.get('/stats/summary')).body
  expect(meta.completeness).toBe('partial')
  const bad = meta.sources.find((row: Any) => row.network === 'megaeth')
  expect(bad).toMatchObject({ health: 'missing', lagSeconds: null })
  expect(typeof bad.lastError).toBe('string')
  expect(meta.sources.find((row: Any) => row.network === 'solana')).toMatchObject({
    health: 'stale',
    lagSeconds: 901,
  })
  // A stale source still counts toward sums.
  expect(big(totals.volume.total)).toBeGreaterThan(0n)
  await other.close()
})

test('Stats, rules: responses are cached 30 s', async () => {
  const other = await startVenue()
  const read = async () => (await other.get('/stats/sources')).body
  const first = await read()
  other.clock.move(29_000)
  expect(await read()).toEqual(first)
  other.clock.move(2000)
  expect(await read()).not.toEqual(first)
  await other.close()
})

test('Errors, /stats/*: unknown values, comma lists, wrong seconds and a filter without source are 400', async () => {
  const message = async (query: string): Promise<Any> => {
    const { status, body, headers } = await paper.get(`/stats/${query}`)
    expect(status).toBe(400)
    expect(headers.get('x-trace-id')).toBeTruthy()
    return body.message
  }
  expect(await message('summary?networks=base')).toEqual({
    networks: { message: "'networks' must be one of arbitrum, avalanche, megaeth, solana", value: 'base' },
  })
  expect(await message('summary?networks=arbitrum,avalanche')).toEqual({
    networks: {
      message: "'networks' is repeated once per value; a comma-separated list is not accepted",
      value: 'arbitrum,avalanche',
    },
  })
  expect(Object.keys(await message('summary?versions=v3'))).toEqual(['versions'])
  expect(await message('timeseries')).toEqual({ metric: { message: "'metric' is required" } })
  expect(Object.keys(await message('timeseries?metric=volume'))).toEqual(['metric'])
  expect(Object.keys(await message('timeseries?metric=fees.total&groupBy=day'))).toEqual(['groupBy'])
  expect(await message('timeseries?metric=fees.total&from=1.5')).toBe(
    'Invalid from timestamp: whole seconds expected',
  )
  expect(await message('timeseries?metric=fees.total&to=x')).toBe(
    'Invalid to timestamp: whole seconds expected',
  )
  expect(await message('summary?networks=solana&versions=v1')).toBe(
    'No configured source matches the requested networks and versions.',
  )
  expect((await paper.get('/stats/summary?networks=arbitrum&networks=solana')).status).toBe(200)
})

test('Stats, rules: other chains forward on the first family and redirect on the second, without CORS headers', async () => {
  const venues = createMultiChainVenue({
    clock: manualClock(),
    chains: [chains.arbitrum, chains.avalanche],
    seed: 7,
  })
  const [arbitrum, avalanche] = await serveVenues(venues, { hostname: '127.0.0.1', port: 0 })
  const path = '/stats/summary?networks=avalanche'
  const own = await (await fetch(`${arbitrum?.api[0]}${path}`)).text()
  const forwarded = await fetch(`${avalanche?.api[0]}${path}`, { redirect: 'manual' })
  expect(forwarded.status).toBe(200)
  expect(await forwarded.text()).toBe(own)
  const redirect = await fetch(`${avalanche?.api[1]}${path}`, { redirect: 'manual' })
  expect(redirect.status).toBe(308)
  expect(redirect.headers.get('location')).toBe(`${arbitrum?.api[1]}${path}`)
  expect(redirect.headers.get('access-control-allow-origin')).toBeNull()
  expect(await (await fetch(`${avalanche?.api[1]}${path}`)).text()).toBe(own)
  await arbitrum?.close()
})

test('Errors, /stats/*: a deployment that does not serve stats answers 503', async () => {
  const alone = await startVenue({ chain: chains.avalanche })
  for (const base of [alone.api, alone.peer]) {
    const answer = await alone.call('GET', `${base}/stats/sources`)
    expect(answer.status).toBe(503)
    expect(answer.body).toEqual({ message: 'Internal Server Error' })
    expect(answer.headers.get('x-trace-id')).toBeTruthy()
  }
  await alone.close()
  const off = await startVenue({ faults: { stats: 'unavailable' } })
  expect((await off.get('/stats/summary')).status).toBe(503)
  await off.close()
})
