/** Many callers, each with a filter of its own, cost the venue what a few cost it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '../../src/api/client.ts'
import { RefusedError } from '../../src/api/transport/apiErrors.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { failureOf, jumpingClock } from './support.ts'

const clock = jumpingClock()
const venue = createVenue({ clock, chain: arbitrum, seed: 7 })
const seen: string[] = []
const fetch: Fetch = (url, init) => {
  seen.push(url.slice(url.indexOf('/v1') + 3))
  return venue.fetch(new Request(url, { method: init.method, headers: init.headers }))
}
const hosts = {
  ...arbitrum.hosts,
  api: venue.paths.api.map((path) => `http://venue.test${path}`),
}
const newApi = () =>
  createApi({
    chain: arbitrum,
    hosts,
    fetch,
    clock,
    random: () => 0.5,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
  })
let symbols: readonly string[]

beforeAll(async () => {
  const markets = await clock.drive(newApi().getMarkets())
  symbols = markets.value.filter(({ isSpotOnly }) => !isSpotOnly).map(({ symbol }) => symbol)
})
afterAll(() => expect(symbols.length).toBeGreaterThan(100))

const whole = '/markets/tickers'

test('a hundred callers with a hundred filters share one read, and each gets its own market', async () => {
  const api = newApi()
  for (let second = 0; second < 3; second++) {
    seen.length = 0
    const reads = await clock.drive(
      Promise.all(symbols.slice(0, 100).map((symbol) => api.getMarketTickers({ symbols: [symbol] }))),
    )
    expect(reads.map(({ value }) => value.map(({ symbol }) => symbol))).toEqual(
      symbols.slice(0, 100).map((symbol) => [symbol]),
    )
    expect(seen.filter((path) => path === whole)).toHaveLength(1)
    // Only the first, who could not know of the others, asked for themselves.
    expect(seen.length).toBeLessThanOrEqual(second === 0 ? 5 : 1)
    await clock.advance(1_000)
  }
})

test('a few filters are asked for on their own, and so they are again when the many have gone', async () => {
  const api = newApi()
  const few = symbols.slice(0, 3)
  const ask = (names: readonly string[]) =>
    clock.drive(Promise.all(names.map((symbol) => api.getMarketTickers({ symbols: [symbol] }))))
  seen.length = 0
  await ask(few)
  expect(seen).toHaveLength(3)
  expect(seen).not.toContain(whole)
  await ask(symbols)
  await clock.advance(3_000)
  // The first of these still finds the many in use; time is told by reads.
  await ask(few)
  await clock.advance(1_000)
  seen.length = 0
  await ask(few)
  expect(seen).toHaveLength(3)
  expect(seen).not.toContain(whole)
})

test('out of the whole list comes what the venue answers to the filter, by symbols and by addresses', async () => {
  const api = newApi()
  const asked = { symbols: [symbols[7] ?? '', symbols[2] ?? ''] }
  const direct = await clock.drive(api.getMarketTickers(asked, { isFresh: true }))
  const addresses = direct.value.map(({ marketToken }) => marketToken)
  await clock.drive(Promise.all(symbols.map((symbol) => api.getMarketTickers({ symbols: [symbol] }))))
  seen.length = 0
  expect((await clock.drive(api.getMarketTickers(asked))).value).toEqual(direct.value)
  expect((await clock.drive(api.getMarketTickers({ addresses }))).value).toEqual(direct.value)
  expect(seen).toEqual([])
})

test('a market that is not listed is refused by the venue, also among many', async () => {
  const api = newApi()
  await clock.drive(Promise.all(symbols.map((symbol) => api.getMarketTickers({ symbols: [symbol] }))))
  const failure = await clock.drive(failureOf(api.getMarketTickers({ symbols: ['NO/USD [NO-USDC]'] })))
  expect(failure).toBeInstanceOf(RefusedError)
  expect((failure as RefusedError).status).toBe(400)
})

test('capacity of many markets comes out of the same read, equal to what its own route says', async () => {
  const api = newApi()
  const both = ['long', 'short'] as const
  const asked = symbols.slice(0, 50).flatMap((symbol) => both.map((direction) => ({ symbol, direction })))
  const ask = (options: { readonly isFresh?: boolean }) =>
    clock.drive(Promise.all(asked.map((query) => api.getTradingCapacity(query, options))))
  await ask({})
  await clock.advance(1_000)
  const direct = await ask({ isFresh: true })
  seen.length = 0
  const [shared] = await Promise.all([ask({}), api.getMarketTickers()])
  expect(seen).toEqual([whole])
  expect(shared.map(({ value }) => value)).toEqual(direct.map(({ value }) => value))
  expect(shared.every(({ value }) => value.availableLiquidity > 0n)).toBe(true)
  const failure = await clock.drive(
    failureOf(api.getTradingCapacity({ symbol: 'NO/USD [NO-USDC]', direction: 'long' })),
  )
  expect((failure as RefusedError).status).toBe(400)
})
