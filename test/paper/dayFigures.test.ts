/**
 * Figures of the last 24 hours depend on the moment, not on who asked for what before (docs/reference/api-coverage.md GET
 * /markets/tickers).
 */
import { expect, test } from 'vitest'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, ethSymbol, manualClock } from './support.ts'

function quietVenue() {
  const clock = manualClock()
  const venue = createVenue({ clock, chain: chains.arbitrum, seed: 7 })
  const [api] = venue.paths.api
  const text = async (path: string): Promise<string> =>
    (await venue.fetch(new Request(`http://venue${api}${path}`))).text()
  return { clock, text }
}

test('a venue that was asked every few minutes shows the same day as one that is asked for the first time', async () => {
  const watched = quietVenue()
  const fresh = quietVenue()
  for (let i = 0; i < 40; i += 1) {
    await watched.text('/markets/tickers')
    watched.clock.move(217_000)
  }
  fresh.clock.move(40 * 217_000)
  expect(await watched.text('/markets/tickers')).toBe(await fresh.text('/markets/tickers'))
  expect(await watched.text('/pairs')).toBe(await fresh.text('/pairs'))
})

test('the high is the highest and the low the lowest of the day, open and close included, and the change adds up', async () => {
  const { clock, text } = quietVenue()
  for (let i = 0; i < 8; i += 1) {
    for (const row of JSON.parse(await text('/markets/tickers'))) {
      const [open, high, low, close] = ['open24h', 'high24h', 'low24h', 'close24h'].map((name) =>
        BigInt(row[name]),
      ) as [bigint, bigint, bigint, bigint]
      expect(high >= open && high >= close && high >= low).toBe(true)
      expect(low <= open && low <= close).toBe(true)
      expect(BigInt(row.priceChange24h)).toBe(close - open)
    }
    clock.move(11_000_000)
  }
})

test('a price of more than a day ago is forgotten', async () => {
  const { clock, text } = quietVenue()
  const eth = async (): Promise<Any> =>
    JSON.parse(await text('/markets/tickers')).find((row: Any) => row.symbol === ethSymbol)
  const first = await eth()
  clock.move(5 * 86_400_000)
  const later = await eth()
  const again = quietVenue()
  again.clock.move(5 * 86_400_000)
  expect(later).toEqual(
    JSON.parse(await again.text('/markets/tickers')).find((row: Any) => row.symbol === ethSymbol),
  )
  expect(later.high24h).not.toBe(first.high24h)
})
