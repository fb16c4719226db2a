/** The situations of `perpd strategies test`: each does what its name says, and is the same each time. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Situation, situations, TRIAL_STEPS } from '../../src/cli/trial/situations.ts'
import { createTrialPrices, type TrialMarket, trialMarket } from '../../src/cli/trial/trialMarkets.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { levelOfPrice } from '../../src/strategy/levels.ts'

const clock = { startSeconds: 1_800_000_030, stepSeconds: 60 }

function marketOf(symbol: string): TrialMarket {
  const market = trialMarket(symbol, chains.arbitrum.facts, loadCatalog('arbitrum').samplePrices)
  if (market === undefined) throw new Error(`no ${symbol}`)
  return market
}

const eth = marketOf('ETH/USD [WETH-USDC]')
const btc = marketOf('BTC/USD [BTC-USDC]')

function situation(name: string): Situation {
  const found = situations.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no situation ${name}`)
  return found
}

const pricesOf = (name: string) => createTrialPrices(situation(name), eth.index.asset, clock)

/** Prices at every turn over the first one. */
function path(name: string, { index } = eth): readonly number[] {
  const prices = pricesOf(name)
  const levels = Array.from({ length: TRIAL_STEPS }, (_, step) => levelOfPrice(prices.at(index, step)))
  return levels.map((level) => level / (levels[0] ?? 1))
}

const at = (levels: readonly number[], step: number): number => levels[step] ?? Number.NaN
/** The largest move between two turns that follow each other, and where. */
function largestMove(levels: readonly number[]): { readonly step: number; readonly size: number } {
  const moves = levels
    .slice(1)
    .map((level, index) => ({ step: index + 1, size: Math.abs(level - at(levels, index)) }))
  return moves.reduce((most, move) => (move.size > most.size ? move : most))
}

test('a trend goes its way in every quarter, and ends far from where it began', () => {
  for (const [name, sign] of [
    ['trend-up', 1],
    ['trend-down', -1],
  ] as const) {
    const levels = path(name)
    const quarters = [0, 60, 120, 180, 239].map((step) => at(levels, step) * sign)
    expect(quarters).toEqual([...quarters].sort((one, other) => one - other))
    expect((at(levels, 239) - 1) * sign).toBeGreaterThan(0.03)
  }
})

test('chop swings to both sides, and ends near where it began', () => {
  const levels = path('chop')
  expect(Math.abs(at(levels, 239) - 1)).toBeLessThan(0.012)
  const middle = levels.reduce((sum, level) => sum + level, 0) / levels.length
  const crossings = levels.filter(
    (level, step) => step > 0 && level > middle !== at(levels, step - 1) > middle,
  )
  expect(crossings.length).toBeGreaterThan(8)
  expect(Math.max(...levels) - Math.min(...levels)).toBeGreaterThan(0.008)
})

test('a gap is one move at half time that is many times any other', () => {
  const levels = path('gap')
  const { step, size } = largestMove(levels)
  expect(step).toBe(120)
  const others = [...levels.slice(0, 120)]
  expect(size).toBeGreaterThan(8 * largestMove(others).size)
  expect(at(levels, 120)).toBeLessThan(at(levels, 119))
})

test('a crash takes a tenth or more within fifteen turns, and gives a part of it back', () => {
  const levels = path('crash')
  expect(at(levels, 115)).toBeLessThan(at(levels, 100) * 0.9)
  const lost = at(levels, 100) - at(levels, 115)
  const back = at(levels, 190) - at(levels, 115)
  expect(back / lost).toBeGreaterThan(0.1)
  expect(back / lost).toBeLessThan(0.5)
})

test('a squeeze adds a tenth or more within twenty turns, and loses most of it', () => {
  const levels = path('squeeze')
  expect(at(levels, 119)).toBeGreaterThan(at(levels, 100) * 1.1)
  const gained = at(levels, 119) - at(levels, 100)
  expect((at(levels, 119) - at(levels, 180)) / gained).toBeGreaterThan(0.5)
})

test('stale data stay as they were for the middle third, candles too, while the price goes on', () => {
  const prices = pricesOf('stale-data')
  const needs = [{ symbol: eth.symbol, period: '1m', limit: 10 }] as const
  const [fresh, stale, again] = [80, 150, 160].map((step) => prices.view(eth, step, needs))
  expect(stale?.oraclePrice).toEqual(fresh?.oraclePrice)
  expect(stale?.ticker?.atMs).toBe((clock.startSeconds + 80 * 60) * 1000)
  expect(stale?.candles).toEqual(fresh?.candles)
  expect(again?.oraclePrice?.atMs).toBe((clock.startSeconds + 160 * 60) * 1000)
  expect(prices.at(eth.index, 150)).toBeGreaterThan(prices.at(eth.index, 80))
})

test('only without capacity is there no room for increases', () => {
  const room = situations.map(({ name }) => {
    const { capacityLong, capacityShort } = pricesOf(name).view(eth, 50, [])
    return [
      name,
      capacityLong?.value.availableLiquidity === 0n && capacityShort?.value.availableLiquidity === 0n,
    ]
  })
  expect(room.filter(([, isFull]) => isFull)).toEqual([['no-capacity', true]])
})

test('another asset follows a part of the shape, with noise of its own', () => {
  const [leading, other] = [path('crash'), path('crash', btc)]
  expect(at(other, 115)).toBeLessThan(0.95)
  expect(at(other, 115)).toBeGreaterThan(at(leading, 115))
  expect(path('chop', btc)).not.toEqual(path('chop'))
})

test('candles agree with the prices: each opens where the one before ended, and holds every price of its time', () => {
  for (const { name } of situations.filter(({ staleSteps }) => staleSteps === undefined)) {
    const prices = pricesOf(name)
    const view = prices.view(eth, 130, [
      { symbol: eth.symbol, period: '5m', limit: 40 },
      { symbol: eth.symbol, period: '1m', limit: 200 },
    ])
    const all = [view.candles, ...(view.moreCandles ?? [])].map((each) => each?.value.candles ?? [])
    expect(all.map((rows) => rows.length)).toEqual([40, 200])
    for (const rows of all) {
      for (const { open, high, low, close } of rows) {
        expect(high).toBeGreaterThanOrEqual(Math.max(open, close))
        expect(low).toBeLessThanOrEqual(Math.min(open, close))
      }
      const times = rows.map(({ timestampSeconds }) => timestampSeconds)
      expect(times).toEqual([...times].sort((one, other) => one - other))
    }
    expect(all[1]?.at(-1)?.close).toBeCloseTo(levelOfPrice(prices.at(eth.index, 130)), 1)
  }
})

test('a price is a function of its moment alone, in whatever order it is asked for', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...situations.map(({ name }) => name)),
      fc.array(fc.integer({ min: -60_000, max: 240 }), { minLength: 1, maxLength: 30 }),
      (name, steps) => {
        const [one, other] = [pricesOf(name), pricesOf(name)]
        const first = steps.map((step) => one.at(eth.index, step))
        const second = [...steps].reverse().map((step) => other.at(eth.index, step))
        expect(second.reverse()).toEqual(first)
        expect(first.every((price) => price > 0n)).toBe(true)
      },
    ),
    { seed: 15, numRuns: 60 },
  )
})
