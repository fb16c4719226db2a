/** Seeded prices: repeatable, plausible, and the same whichever way they are asked for. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCandles } from '../../src/paper/candles.ts'
import { indexCatalog, loadCatalog } from '../../src/paper/catalog.ts'
import { createPrices } from '../../src/paper/prices.ts'
import { DEFAULT_SEED } from '../../src/paper/venue.ts'
import { START_MS, usdc, weth } from './support.ts'

const epochSeconds = START_MS / 1000
const catalog = indexCatalog(loadCatalog('arbitrum'))
const pricesOf = (seed: number, epoch = epochSeconds) => createPrices({ seed, epochSeconds: epoch, catalog })
const eth = weth.toLowerCase()
const seed = 20_261_121

test('the same seed and start give the same path, in any order of asking; another seed another path', () => {
  const offsets = fc.integer({ min: -400 * 86_400, max: 40 * 86_400 })
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.array(offsets, { maxLength: 12 }),
      (one, asked) => {
        const forwards = pricesOf(one)
        const backwards = pricesOf(one)
        const first = asked.map((offset) => forwards.at(eth, epochSeconds + offset))
        const second = asked.toReversed().map((offset) => backwards.at(eth, epochSeconds + offset))
        expect(second.toReversed()).toEqual(first)
      },
    ),
    { seed, numRuns: 40 },
  )
  expect(pricesOf(1).at(eth, epochSeconds + 600)).not.toEqual(pricesOf(2).at(eth, epochSeconds + 600))
})

test('the path begins at the recorded sample price with a spread of a few basis points', () => {
  for (const sample of catalog.catalog.samplePrices) {
    const price = pricesOf(5).at(sample.address.toLowerCase(), epochSeconds)
    if (price === undefined) continue
    const middle = (BigInt(sample.min) + BigInt(sample.max)) / 2n
    expect(price.min <= middle && middle <= price.max).toBe(true)
    expect(Number(((price.max - price.min) * 100_000n) / middle)).toBeLessThanOrEqual(100)
  }
})

test('minutes move like an active crypto day and a stable coin hardly at all', () => {
  const spread = (key: string): number => {
    const rows = createCandles(pricesOf(DEFAULT_SEED)).latest(key, '1m', 1000, epochSeconds)
    const moves = rows.map((row) => Number(((row.close - row.open) * 1_000_000n) / row.open) / 100)
    return Math.sqrt(moves.reduce((sum, move) => sum + move * move, 0) / moves.length)
  }
  expect(spread(eth)).toBeGreaterThan(5)
  expect(spread(eth)).toBeLessThan(60)
  expect(spread(usdc.toLowerCase())).toBeLessThan(1)
})

test('forms of one asset move together', () => {
  const prices = pricesOf(DEFAULT_SEED)
  const steth = catalog.tokenBySymbol.get('WSTETH')?.address.toLowerCase() ?? ''
  const change = (key: string): number =>
    Number(prices.medianAt(key, epochSeconds + 900)) / Number(prices.medianAt(key, epochSeconds))
  expect(change(steth)).toBeCloseTo(change(eth), 6)
})

test('the default seed trends in its first minutes, whatever the time of day it is started', () => {
  for (const shift of [0, 17, 43_211]) {
    const start = epochSeconds + shift
    const prices = pricesOf(DEFAULT_SEED, start)
    const at = (offset: number): number => Number(prices.medianAt(eth, start + offset))
    expect(at(60)).toBeGreaterThan(at(0))
    expect(at(300) / at(0)).toBeGreaterThan(1.002)
    expect(at(900) / at(0)).toBeGreaterThan(1.005)
  }
})
