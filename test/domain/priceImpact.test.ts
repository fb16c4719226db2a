/** Our own estimate of price impacts, held to what the contracts gave for the same markets and trades. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ImpactData,
  type ImpactTrade,
  priceImpactBps,
  priceImpactUsd,
} from '../../src/protocol/priceImpact.ts'
import { absOf, maxOf, ONE_USD, usd } from '../../src/protocol/units.ts'
import { type Vector, wantedOf } from '../math/vectors.ts'

const file = new URL('../fixtures/math/priceImpact.json', import.meta.url)
const vectors: readonly Vector[] = JSON.parse(readFileSync(file, 'utf8')).vectors
const of = (name: string) => vectors.filter(({ function: each }) => each === name)
const big = (value: unknown): bigint => BigInt((value ?? 0) as string)

function dataOf(market: Vector['input']): ImpactData {
  const inTokens = market.useOpenInterestInTokensForBalance === true
  const sumOf = (name: string) =>
    market[name] === undefined
      ? big(market[`${name}UsingLongToken`]) + big(market[`${name}UsingShortToken`])
      : big(market[name])
  return {
    positionImpactFactorPositive: big(market.positionImpactFactorPositive),
    positionImpactFactorNegative: big(market.positionImpactFactorNegative),
    positionImpactExponentFactorPositive: big(market.positionImpactExponentFactorPositive),
    positionImpactExponentFactorNegative: big(market.positionImpactExponentFactorNegative),
    maxPositionImpactFactorPositive: big(market.maxPositionImpactFactorPositive),
    maxPositionImpactFactorNegative: big(market.maxPositionImpactFactorNegative),
    balanceIn: inTokens ? 'tokens' : 'usd',
    longInterest: sumOf(inTokens ? 'longInterestInTokens' : 'longInterestUsd'),
    shortInterest: sumOf(inTokens ? 'shortInterestInTokens' : 'shortInterestUsd'),
    ...(market.hasVirtualInventory === true
      ? {
          virtualInventory: big(
            inTokens ? market.virtualInventoryForPositionsInTokens : market.virtualInventoryForPositions,
          ),
        }
      : {}),
  }
}

function indexOf(market: Vector['input']) {
  const { decimals, minPrice, maxPrice } = market.indexToken
  return { decimals, minPrice: big(minPrice), maxPrice: big(maxPrice) }
}

function tradeOf(input: Vector['input']): ImpactTrade {
  const size = big(input.sizeDeltaUsd)
  const { decimals, minPrice, maxPrice } = indexOf(input.market)
  const unit = 10n ** BigInt(decimals)
  const [low, high] = [minPrice / unit, maxPrice / unit]
  const tokens = input.isLong ? absOf(size) / high : (absOf(size) + low - 1n) / low
  return {
    direction: input.isLong ? 'long' : 'short',
    action: size < 0n || input.isIncrease === false ? 'decrease' : 'increase',
    sizeDeltaUsd: absOf(size),
    sizeDeltaInTokens: input.sizeDeltaInTokens == null ? tokens : big(input.sizeDeltaInTokens),
  }
}

test('the impact of every vector is that of the contracts, to a billionth of what it is made from', () => {
  let exact = 0
  const all = of('positionPriceImpactUsd')
  for (const vector of all) {
    const { market } = vector.input
    const given = priceImpactUsd(dataOf(market), tradeOf(vector.input), indexOf(market))
    const wanted = big(wantedOf(vector).priceImpactDeltaUsd)
    // Contracts cut the power of a broken exponent to 18 decimals; whole ones are exact.
    const slack = maxOf(absOf(wanted) / 10n ** 9n, 10n ** 18n)
    expect(absOf((given ?? 0n) - wanted) <= slack, `${vector.id}: ${given} for ${wanted}`).toBe(true)
    if (given === wanted) exact += 1
  }
  expect(all.length).toBeGreaterThan(70)
  expect(exact).toBeGreaterThan(20)
})

const index = { decimals: 18, minPrice: usd(1999), maxPrice: usd(2001) }
/** A market where 2,000,000 longs stand against 1,000,000 shorts, and a square law. */
const market: ImpactData = {
  positionImpactFactorPositive: 10n ** 22n,
  positionImpactFactorNegative: 2n * 10n ** 22n,
  positionImpactExponentFactorPositive: 2n * ONE_USD,
  positionImpactExponentFactorNegative: 2n * ONE_USD,
  maxPositionImpactFactorPositive: 4n * 10n ** 27n,
  maxPositionImpactFactorNegative: 5n * 10n ** 27n,
  balanceIn: 'usd',
  longInterest: usd(2_000_000),
  shortInterest: usd(1_000_000),
}
const trade = (direction: 'long' | 'short', action: 'increase' | 'decrease', size: number): ImpactTrade => ({
  direction,
  action,
  sizeDeltaUsd: usd(size),
  sizeDeltaInTokens: (usd(size) * 10n ** 18n) / usd(2000),
})

test('what unbalances costs, what balances pays up to the largest share, and bps are counted up', () => {
  // 2e-8 * (1,100,000^2 - 1,000,000^2) = $4,200 on $100,000.
  expect(priceImpactUsd(market, trade('long', 'increase', 100_000), index)).toBe(-usd(4200))
  expect(priceImpactBps(market, trade('long', 'increase', 100_000), index)).toBe(-420)
  expect(priceImpactBps(market, trade('short', 'decrease', 100_000), index)).toBe(-420)
  // 1e-8 * (1,000,000^2 - 900,000^2) = $1,900, of which 0.4 % of the size is paid.
  expect(priceImpactUsd(market, trade('long', 'decrease', 100_000), index)).toBe(usd(1900))
  expect(priceImpactBps(market, trade('long', 'decrease', 100_000), index)).toBe(40)
  expect(priceImpactBps(market, trade('long', 'increase', 101_010), index)).toBe(-421)
  expect(priceImpactBps(market, { ...trade('long', 'increase', 1), sizeDeltaUsd: 0n }, index)).toBeUndefined()
})

test('a virtual inventory that is worse counts, one that is better does not', () => {
  const worse = { ...market, virtualInventory: -usd(3_000_000) }
  const better = { ...market, virtualInventory: usd(3_000_000) }
  const opening = trade('long', 'increase', 100_000)
  expect(priceImpactUsd(worse, opening, index)).toBe(-usd(12_200))
  expect(priceImpactUsd(better, opening, index)).toBe(-usd(4200))
  expect(priceImpactUsd(worse, trade('short', 'increase', 100_000), index)).toBe(usd(1900))
})

test('whatever a host says gives a number of bps or none', () => {
  const any = fc.bigInt(-(2n ** 255n), 2n ** 256n - 1n)
  const data = fc.record({
    positionImpactFactorPositive: any,
    positionImpactFactorNegative: any,
    positionImpactExponentFactorPositive: fc.oneof(any, fc.bigInt(0n, 11n * ONE_USD)),
    positionImpactExponentFactorNegative: fc.oneof(any, fc.bigInt(0n, 11n * ONE_USD)),
    maxPositionImpactFactorPositive: any,
    maxPositionImpactFactorNegative: any,
    balanceIn: fc.constantFrom('usd' as const, 'tokens' as const),
    longInterest: any,
    shortInterest: any,
    virtualInventory: any,
  })
  const sane = data.map((given) => ({
    ...given,
    ...Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typeof value === 'bigint' ? absOf(value) : value]),
    ),
  }))
  fc.assert(
    fc.property(fc.oneof(data, sane), fc.boolean(), fc.boolean(), (given, isLong, opens) => {
      const one = trade(isLong ? 'long' : 'short', opens ? 'increase' : 'decrease', 1000)
      const found = priceImpactBps(given as ImpactData, one, index)
      if (found === undefined) return
      expect(Number.isInteger(found)).toBe(true)
      expect(Math.abs(found)).toBeLessThanOrEqual(10_000)
    }),
    { seed: 7, numRuns: 300 },
  )
})
