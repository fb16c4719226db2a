/** The situations of `perpd strategies test`: each does what its name says, and is the same each time. */
import { expect, test } from 'vitest'
import { madeHistories, type TrialMarket, trialMarket } from '../../src/backtest/trial/madePrices.ts'
import { priceFactor, type Situation, situations, TRIAL_TURNS } from '../../src/backtest/trial/situations.ts'
import { indexCatalog, loadCatalog } from '../../src/paper/catalog/catalog.ts'

const clock = { startSeconds: 1_800_000_000, turnSeconds: 60 }
const catalog = indexCatalog(loadCatalog('arbitrum'))

function marketOf(symbol: string): TrialMarket {
  const market = trialMarket(symbol, catalog)
  if (market === undefined) throw new Error(`no ${symbol}`)
  return market
}

const markets = ['ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]'].map(marketOf)

function situation(name: string): Situation {
  const found = situations.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no situation ${name}`)
  return found
}

/** Prices of an asset at every turn over the first one. */
function path(name: string, asset = 'ETH'): readonly number[] {
  const factors = Array.from({ length: TRIAL_TURNS }, (_, step) =>
    priceFactor(situation(name), asset, asset === 'ETH', 60, step),
  )
  return factors.map((factor) => factor / (factors[0] ?? 1))
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

test('another asset follows a part of the shape, with noise of its own', () => {
  const [leading, other] = [path('crash'), path('crash', 'BTC')]
  expect(at(other, 115)).toBeLessThan(0.95)
  expect(at(other, 115)).toBeGreaterThan(at(leading, 115))
  expect(path('chop', 'BTC')).not.toEqual(path('chop'))
})

test('candles agree with the prices: each opens at the price of its turn, holds every price of its time, and the first is the warm-up’s', () => {
  for (const made of situations) {
    const eth = madeHistories(made, markets, clock, 7_200).get('ETH')
    expect(eth?.length).toBe(121 + TRIAL_TURNS + 1)
    expect(eth?.startSeconds[0]).toBe(clock.startSeconds - 121 * 60)
    if (eth === undefined) continue
    const { open, high, low, close, decimals, length } = eth
    const [{ level = 0 } = {}] = markets[0]?.assets ?? []
    for (let place = 0; place < length; place += 1) {
      const [o = 0n, h = 0n, l = 0n, c = 0n] = [open[place], high[place], low[place], close[place]]
      expect(o <= h && c <= h && l <= o && l <= c && l > 0n).toBe(true)
      const factor = priceFactor(made, 'ETH', true, 60, place - 121)
      expect(Number(o) / 10 ** decimals).toBeCloseTo(level * factor, 6)
    }
  }
})

test('a price is a function of its moment alone', () => {
  const [one, other] = [madeHistories, madeHistories].map((make) =>
    make(situation('crash'), markets, clock, 600).get('BTC'),
  )
  expect(one?.close).toEqual(other?.close)
  // A longer warm-up changes nothing of what comes after it.
  const longer = madeHistories(situation('crash'), markets, clock, 6_000).get('BTC')
  expect(longer?.close.slice(-TRIAL_TURNS)).toEqual(one?.close.slice(-TRIAL_TURNS))
})
