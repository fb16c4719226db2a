/** A venue of a few markets: they are what they are on a venue of all, and nothing else is there. */
import { expect, test } from 'vitest'
import { createVenue } from '../../src/paper/server/venue.ts'
import { marketPrices } from '../../src/paper/state/venueState.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { ethSymbol, manualClock, START_MS, startVenue } from './support.ts'

const symbols = [ethSymbol, 'LINK/USD [LINK-USDC]']
const venueOf = (onlyMarkets: readonly string[]) =>
  createVenue({ clock: manualClock(), chain: chains.arbitrum, seed: 5, settings: { onlyMarkets } }).venueState

test('the markets of a narrow venue have the settings, pools and prices that they have on a venue of all', () => {
  const [narrow, whole] = [venueOf(symbols), venueOf([])]
  expect(narrow.markets.map(({ catalog }) => catalog.symbol).sort()).toEqual([...symbols].sort())
  expect(whole.markets.length).toBeGreaterThan(100)
  for (const market of narrow.markets) {
    const same = whole.marketByKey.get(market.key)
    expect(market).toEqual(same)
    for (const hours of [0, 7, 300]) {
      const seconds = START_MS / 1000 + hours * 3600
      expect(marketPrices(narrow, market, seconds)).toEqual(marketPrices(whole, market, seconds))
    }
  }
})

test('a narrow venue trades and lists no other market, and a market that is not there is refused at the start', async () => {
  const paper = await startVenue({ settings: { keeperJitterMs: 0, onlyMarkets: symbols } })
  expect((await paper.trade({})).status).toBe('executed')
  expect((await paper.get('/markets')).body).toHaveLength(2)
  expect((await paper.get('/markets/tickers')).body).toHaveLength(2)
  expect((await paper.prepare({ symbol: 'BTC/USD [BTC-USDC]' })).status).toBe(400)
  await paper.close()
  expect(() => venueOf(['ETH/USD [NOTHING]'])).toThrow(
    expect.objectContaining({ code: 'PAPER_MARKET_UNKNOWN' }),
  )
})
