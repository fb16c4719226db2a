/** A wall clock that steps by hours, forth and back: how old prices, contradictions, feeds and ticks are by it. */
import { expect, test } from 'vitest'
import { createPriceWatch } from '../../src/account/holdings/priceWatch.ts'
import { createFeedAges } from '../../src/account/watch/feedAges.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createCatalogue, SETTLE_MS } from '../../src/market/marketCatalogue.ts'
import { createMarketRecords } from '../../src/market/marketRecords.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { bps, type Usd } from '../../src/protocol/units.ts'
import { judgePrice, type PriceWord } from '../../src/risk/checks/priceJudge.ts'
import { withHeldPrices } from '../../src/risk/checks/reductionPrice.ts'
import { ethMarket, usdc } from '../support/intents.ts'
import { type Between, manualClock, venueBench } from '../support/venue.ts'

const hourMs = 3_600_000
/** How far the clock is set back; less than 0: forth. */
const steps = [5 * hourMs, -5 * hourMs, 24 * hourMs, -24 * hourMs] as const

function fatal(error: unknown): never {
  throw error
}

/** A watch that has looked at one market, over hosts that can be silenced. */
async function watch() {
  const silent = { is: false }
  const between: Between = (url, init, next) => {
    if (silent.is) throw new Error('no answer')
    return next(url, init)
  }
  const bench = venueBench({ between })
  const { api, clock } = bench
  const limits = { current: () => ({ account: {} }), on: () => ({ maxDataAgeMs: 30_000 }) }
  const journal = createMemoryJournal()
  const prices = createPriceWatch({ api, clock, limits, journal, fatal })
  const market = (await api.getMarkets()).value.find(({ marketToken }) => marketToken === ethMarket)
  if (market === undefined) throw new Error('the venue lists no ETH market')
  const look = () => prices.look([market])
  await look()
  const agesMs = () => prices.of(ethMarket).words.map(({ atMs }) => clock.now() - atMs)
  const last = () => {
    const found = prices.of(ethMarket).last
    if (found === undefined) throw new Error('no last price')
    return found
  }
  return { clock, prices, look, silent, agesMs, last }
}

test.each(steps)(
  'after a step back of %i ms words of hosts are as old as they are at least, and young again with the next look',
  async (backMs) => {
    const { clock, silent, agesMs, look, last } = await watch()
    expect(agesMs().length).toBeGreaterThan(2)
    silent.is = true
    clock.setBack(backMs)
    await clock.advance(60_000)
    for (const ageMs of [...agesMs(), clock.now() - last().atMs]) {
      expect(ageMs).toBeGreaterThanOrEqual(60_000)
      // Where it was set forth the machine may have slept: nobody can say that they are younger.
      expect(ageMs).toBeLessThan(Math.max(0, -backMs) + 70_000)
    }
    silent.is = false
    await look()
    for (const ageMs of [...agesMs(), clock.now() - last().atMs]) {
      expect(ageMs).toBeGreaterThanOrEqual(0)
      expect(ageMs).toBeLessThanOrEqual(5_000)
    }
  },
)

test('a word of before a step back that its host never renewed moves no price of hours later', async () => {
  const { clock, prices, silent } = await watch()
  silent.is = true
  clock.setBack(5 * hourMs)
  await clock.advance(2 * hourMs)
  const { words } = prices.of(ethMarket)
  const price = { value: { ...words[0], tokenSymbol: 'ETH', tokenAddress: ethMarket }, atMs: clock.now() }
  const half = (of: Usd) => bps(of, 5_000)
  const { minPrice = 0n, maxPrice = 0n, medianPrice = 0n } = words[0] ?? {}
  const now = {
    ...price.value,
    minPrice: half(minPrice),
    maxPrice: half(maxPrice),
    medianPrice: half(medianPrice),
  }
  const view = {
    market: { marketToken: ethMarket, indexToken: ethMarket, symbol: 'ETH' },
    indexToken: {},
    oraclePrice: { ...price, value: now },
  }
  const snapshot = {
    atMs: clock.now(),
    markets: new Map([[ethMarket.toLowerCase(), view]]),
    positions: { value: [{ marketToken: ethMarket, direction: 'long' }], atMs: clock.now() },
  } as never
  const judged = withHeldPrices(snapshot, () => ({ maxDataAgeMs: 30_000 }), prices.of)
  expect(judged).toBe(snapshot)
})

test.each([5 * hourMs, 24 * hourMs])(
  'after a step back of %i ms a market may move further with each minute, as by a clock that ran straight',
  async (backMs) => {
    const at = async (stepMs: number, waitedMs: number) => {
      const { clock, silent, last } = await watch()
      silent.is = true
      clock.setBack(stepMs)
      await clock.advance(waitedMs)
      const price = bps(last().price, 5_000)
      const words = (['oracle', 'mark'] as const).map(
        (kind): PriceWord => ({
          kind,
          host: kind,
          minPrice: price,
          maxPrice: price,
          medianPrice: price,
          atMs: clock.now(),
        }),
      )
      return judgePrice(words, last(), 100, clock.now())?.isContested
    }
    for (const stepMs of [0, backMs])
      expect([await at(stepMs, 10_000), await at(stepMs, 130_000)]).toEqual([true, false])
  },
)

test.each(steps)(
  'after a step back of %i ms a market that a host contradicted opens in its ten minutes, and no sooner',
  async (backMs) => {
    const clock = manualClock(Date.UTC(2026, 10, 20, 12))
    const records = createMarketRecords({ journal: createMemoryJournal(), clock })
    const events: string[] = []
    let asked = 0
    const catalogue = createCatalogue({
      shipped: arbitrum.facts,
      records,
      clock,
      emit: ({ type }) => void events.push(type),
      fatal,
      prove: async () => {
        asked += 1
        return { unproven: 'no endpoint answers' }
      },
    })
    const said = (decimals: number) => ({ tokens: [{ address: usdc, decimals, symbol: 'USDC' }] }) as const
    const stranger = '0x1111111111111111111111111111111111111111'
    catalogue.judge('one', said(8))
    catalogue.want(stranger)
    clock.setBack(backMs)
    catalogue.judge('one', said(6))
    expect(catalogue.closedBy(ethMarket)).toBeDefined()
    await clock.advance(SETTLE_MS - 1)
    catalogue.judge('one', said(6))
    expect(catalogue.closedBy(ethMarket)).toBeDefined()
    await clock.advance(1)
    catalogue.judge('one', said(6))
    expect(catalogue.closedBy(ethMarket)).toBeUndefined()
    expect(events).toEqual(['market.contradicted', 'market.settled'])
    catalogue.want(stranger)
    expect(asked).toBe(2)
  },
)

test.each(steps)('after a step back of %i ms feeds have the age that they have', async (backMs) => {
  const clock = manualClock(Date.UTC(2026, 10, 20, 12))
  const feeds = createFeedAges({ clock, emit: () => undefined })
  feeds.onFeed('positions', 500)
  clock.setBack(backMs)
  await clock.advance(2_000)
  expect(feeds.now()).toEqual({ positions: 2_500 })
})
