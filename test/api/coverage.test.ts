/** The clients and the documents' tables of routes, caches and limits say the same. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AskedRoute, askedRoutes, cacheText, routeName } from '../../scripts/apiCoverage.ts'
import { documentedRoutes } from '../../scripts/documentedRoutes.ts'
import { documentedRules } from '../../scripts/documentedRules.ts'
import { getOrders, getTrades } from '../../src/api/accounts/accountReads.ts'
import { getCandles, getPrices } from '../../src/api/feeds/oracle.ts'
import {
  MARKET_VALUES_STALE_MS,
  SOLANA_PAIRS_STALE_MS,
  STATS_SOURCE_STALE_MS,
} from '../../src/api/freshness.ts'
import { defaultApiLimits } from '../../src/api/transport/requestLimits.ts'
import type { Route } from '../../src/api/transport/route.ts'
import { fixtureText, scriptedTransport } from './support.ts'

const asked = await askedRoutes()
const routes = new Map<string, AskedRoute[]>()
for (const each of [...asked.values()].flat()) {
  routes.set(routeName(each), [...(routes.get(routeName(each)) ?? []), each])
}
const documented = documentedRoutes.map((row) => ({
  ...row,
  name: `${row.service} ${row.method} ${row.path}`,
}))

test('every route of the documents has a function, every function asks a documented route', () => {
  const names = documented.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect([...routes.keys()].sort()).toEqual(names.toSorted())
  expect([...asked].filter(([, of]) => of.length === 0)).toEqual([])
})

test.each(documented)('$name is shared for its documented cache window', ({ name, cacheMs }) => {
  for (const route of routes.get(name) ?? []) {
    if (cacheMs === 'varies') expect(cacheText(route)).toBe('15 s for 1m and 5m, 60 s for longer')
    else if (cacheMs !== undefined) expect(route.cacheMs).toBe(cacheMs)
  }
})

test('what changes something at the venue is a submit, and only that', () => {
  const submits = [...routes]
    .filter(([, of]) => of.some(({ kind }) => kind === 'submit'))
    .map(([name]) => name)
  expect(submits.sort()).toEqual([
    'api POST /gmx-account/withdraw/cross-chain/submit',
    'api POST /orders/txns/submit',
    'api POST /relay/submit',
  ])
})

test('route timeouts of the oracle are its documented 10 seconds', () => {
  for (const path of ['/prices/tickers', '/signed_prices/latest', '/prices/candles']) {
    expect(routes.get(`oracle GET ${path}`)).toMatchObject([{ timeoutMs: 10_000 }])
  }
})

test('no wait is longer than the venue’s own limit of 60 seconds', () => {
  const { timeoutMs, prepareTimeoutMs, submitTimeoutMs } = defaultApiLimits
  expect(Math.max(timeoutMs, prepareTimeoutMs, submitTimeoutMs)).toBeLessThan(60_000)
  // Prepare may itself wait 500 ms for a JIT refresh.
  expect(prepareTimeoutMs).toBeGreaterThan(10_000)
})

test('the documents’ staleness marks are the ones that ages are judged by', () => {
  expect([MARKET_VALUES_STALE_MS, STATS_SOURCE_STALE_MS, SOLANA_PAIRS_STALE_MS]).toEqual([
    15_000, 900_000, 900_000,
  ])
})

test('reads keep to five a second at one host in the long run', () => {
  expect(defaultApiLimits.requestsPerSecondPerHost).toBe(5)
})

test('tickers asked within 0.3 s are one request, and after it another', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({ body: fixtureText('oracle-tickers') }))
  await getPrices(transport, () => 18)
  await clock.advance(299)
  await getPrices(transport, () => 18)
  expect(seen).toHaveLength(1)
  await clock.advance(1)
  await getPrices(transport, () => 18)
  expect(seen).toHaveLength(2)
})

test('candles are cached 15 s for short periods and 60 s for longer ones', async () => {
  const body = JSON.parse(fixtureText('oracle-candles')) as object
  const { transport, clock, seen } = scriptedTransport(({ url }) => ({
    body: { ...body, period: new URL(url).searchParams.get('period') },
  }))
  const ask = (period: '5m' | '15m') => getCandles(transport, { tokenSymbol: 'ETH', period, limit: 9 })
  const askBoth = async () => {
    await ask('5m')
    await ask('15m')
    return seen.length
  }
  const counts = [await askBoth()]
  for (const ms of [14_999, 1, 44_999, 1]) {
    await clock.advance(ms)
    counts.push(await askBoth())
  }
  expect(counts).toEqual([2, 2, 3, 4, 5])
})

test('markets of one index token share their candles, however far each looks back', async () => {
  const rows = Array.from({ length: 400 }, (_, index) => [1_800_000_000 - index * 300, 2, 3, 1, 2])
  const { transport, seen } = scriptedTransport(({ url }) => ({
    body: { candles: rows.slice(0, Number(new URL(url).searchParams.get('limit'))) },
  }))
  const ask = async (limit: number) =>
    (await getCandles(transport, { tokenSymbol: 'ETH', period: '5m', limit })).value
  const [few, some, many] = await Promise.all([ask(60), ask(100), ask(101)])
  expect(seen.map(({ url }) => new URL(url).searchParams.get('limit'))).toEqual(['100', '200'])
  expect([few.length, some.length, many.length]).toEqual([60, 100, 101])
  expect(few.at(-1)?.timestampSeconds).toBe(1_800_000_000)
  expect(few[0]?.timestampSeconds).toBe(1_800_000_000 - 59 * 300)
  await ask(10_000)
  await ask(10_001)
  expect(seen.slice(2).map(({ url }) => new URL(url).searchParams.get('limit'))).toEqual(['10000', '10001'])
})

test.each(['/orders', '/balances/wallet', '/allowances', '/markets/tickers'])(
  '%s has no documented window: half a second is ours',
  (path) => {
    expect(routes.get(`api GET ${path}`)?.map(({ cacheMs }) => cacheMs)).toEqual([500])
  },
)

test('questions that differ in any part have answers of their own', async () => {
  const { transport, seen } = scriptedTransport(({ url }, index) => ({ body: { url, index } }))
  const one: Route<string, unknown> = {
    ...{ path: '/one', method: 'GET', service: 'api', kind: 'read', cacheMs: 1_000 },
    decode: (body) => body,
  }
  const others: readonly Route<string, unknown>[] = [
    one,
    { ...one, path: '/other' },
    { ...one, pathOf: (name) => `/one/${name}` },
    { ...one, query: (name) => ({ name }) },
    { ...one, method: 'POST', body: (name) => ({ name }) },
    { ...one, method: 'POST' },
    { ...one, service: 'oracle' },
    { ...one, version: 'v2' },
  ]
  const questions = [
    ...others.map((route) => () => transport.call(route, 'x')),
    ...others.slice(2, 5).map((route) => () => transport.call(route, 'y')),
    () => transport.call(one, 'x', { host: 'http://two/v1' }),
    () => transport.call(one, 'x', { attempts: 2 }),
    () => transport.call(one, 'x', { timeoutMs: 1_234 }),
  ]
  const answers = await Promise.all([...questions, ...questions].map((ask) => ask()))
  expect(seen).toHaveLength(questions.length)
  const values = answers.map(({ value }) => value)
  expect(new Set(values).size).toBe(questions.length)
  expect(values.slice(questions.length)).toEqual(values.slice(0, questions.length))
})

test('candles are history: they leave the way free for prices', () => {
  for (const name of ['oracle GET /prices/candles', 'api GET /prices/ohlcv']) {
    expect(routes.get(name)).toMatchObject([{ isHistory: true }])
  }
  expect(routes.get('oracle GET /prices/tickers')?.[0]).not.toHaveProperty('isHistory')
})

test('evidence is asked anew: a fresh read of orders is never a shared answer', async () => {
  const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
  const { transport, seen } = scriptedTransport(({ url }) => ({
    body: fixtureText(url.includes('/trades') ? 'trades' : 'orders'),
  }))
  await getOrders(transport, { account })
  await getOrders(transport, { account })
  expect(seen).toHaveLength(1)
  await getOrders(transport, { account }, { isFresh: true })
  await getTrades(transport, { account })
  await getTrades(transport, { account })
  expect(seen).toHaveLength(4)
})

test('every rule of the documents has the tests that are said to hold it', () => {
  const lost: string[] = []
  for (const { rule, heldBy } of documentedRules) {
    expect(heldBy.length, rule).toBeGreaterThan(0)
    for (const [file, ...titles] of heldBy) {
      const text = readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8')
      lost.push(...titles.filter((title) => !text.includes(title)).map((title) => `${rule}: ${title}`))
    }
  }
  expect(lost).toEqual([])
})
