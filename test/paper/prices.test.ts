/** Seeded prices: repeatable, plausible, and the same whichever way they are asked for. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCandles } from '../../src/paper/catalog/candles.ts'
import { indexCatalog, loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { createPrices } from '../../src/paper/catalog/prices.ts'
import { DEFAULT_SEED } from '../../src/paper/server/venue.ts'
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

test('a span read at once has the first, highest, lowest and last of its steps, in every zone and over their borders', () => {
  const prices = pricesOf(11)
  const zoneStarts = [0, 8, 40, 120, 460, 2000].map((days) => -days * 86_400)
  const span = fc.record({
    key: fc.constantFrom(eth, usdc.toLowerCase()),
    zone: fc.constantFrom(...zoneStarts),
    offset: fc.integer({ min: -90_000, max: 90_000 }),
    length: fc.integer({ min: 1, max: 30_000 }),
  })
  fc.assert(
    fc.property(span, ({ key, zone, offset, length }) => {
      const from = epochSeconds + zone + offset
      const to = from + length
      const steps: bigint[] = []
      let at = prices.stepAt(from)
      do {
        steps.push(prices.medianAt(key, at.startSeconds) ?? 0n)
        at = prices.stepAt(at.startSeconds + at.lengthSeconds)
      } while (at.startSeconds < to)
      expect(prices.rangeOf(key, from, to)).toEqual({
        open: steps[0],
        high: steps.reduce((one, other) => (one > other ? one : other)),
        low: steps.reduce((one, other) => (one < other ? one : other)),
        close: steps.at(-1),
      })
    }),
    { seed, numRuns: 60 },
  )
})

test('a coarse candle is the union of the finer ones, finished or running', () => {
  const prices = pricesOf(12)
  const now = epochSeconds + 5000
  const fine = [...createCandles(prices).newest(eth, '5m', 36, now)].toReversed()
  for (const hour of createCandles(prices).newest(eth, '1h', 2, now)) {
    const parts = fine.filter(({ timestampSeconds }) => {
      const into = timestampSeconds - hour.timestampSeconds
      return into >= 0 && into < 3600
    })
    expect(parts.length).toBeGreaterThan(3)
    expect(hour).toEqual({
      timestampSeconds: hour.timestampSeconds,
      open: parts[0]?.open,
      high: parts.map(({ high }) => high).reduce((one, other) => (one > other ? one : other)),
      low: parts.map(({ low }) => low).reduce((one, other) => (one < other ? one : other)),
      close: parts.at(-1)?.close,
    })
  }
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
    const rows = [...createCandles(pricesOf(DEFAULT_SEED)).newest(key, '1m', 1000, epochSeconds)]
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
