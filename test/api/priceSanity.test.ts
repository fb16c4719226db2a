import fc from 'fast-check'
import { expect, test } from 'vitest'
import { getPrices } from '../../src/api/feeds/oracle.ts'
import { doubtsOf } from '../../src/api/priceSanity.ts'
import { hexKey } from '../../src/protocol/address.ts'
import type { OraclePrice } from '../../src/protocol/market.ts'
import { ONE_USD } from '../../src/protocol/units.ts'
import { transportAnswering } from './support.ts'

const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const weth = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
const tokens = [
  { address: usdc, isStable: true },
  { address: weth, isStable: false },
] as const

function priceOf(tokenAddress: OraclePrice['tokenAddress'], usd30: bigint): OraclePrice {
  const prices = { minPrice: usd30, maxPrice: usd30, medianPrice: usd30 }
  return { tokenSymbol: 'X', tokenAddress, ...prices, updatedAtSeconds: 1 }
}

test('a stable coin within 0.5 to 2 USD is no doubt, and any other price is none either', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: ONE_USD / 2n, max: 2n * ONE_USD }),
      fc.bigInt({ min: 1n }),
      (stable, other) => {
        expect(doubtsOf([priceOf(usdc, stable), priceOf(weth, other)], { tokens })).toEqual([])
      },
    ),
    { seed: 20261120 },
  )
})

test('a stable coin outside is a doubt with the price and the bounds', () => {
  for (const price of [ONE_USD / 2n - 1n, 2n * ONE_USD + 1n, 10n ** 24n]) {
    expect(doubtsOf([priceOf(usdc, price)], { tokens })).toEqual([
      {
        code: 'STABLE_OUT_OF_RANGE',
        tokenSymbol: 'X',
        tokenAddress: usdc,
        price,
        least: ONE_USD / 2n,
        most: 2n * ONE_USD,
      },
    ])
  }
})

test('a price many times from the last accepted one is a doubt', () => {
  const lastAccepted = new Map([[hexKey(weth), 1_000n * ONE_USD]])
  const codes = (usd: bigint, maxMoveFactor?: bigint) =>
    doubtsOf([priceOf(weth, usd * ONE_USD)], {
      tokens,
      lastAccepted,
      ...(maxMoveFactor === undefined ? {} : { maxMoveFactor }),
    }).map(({ code }) => code)
  expect(codes(100_000n)).toEqual([])
  expect(codes(100_001n)).toEqual(['MOVED_TOO_FAR'])
  expect(codes(10n)).toEqual([])
  expect(codes(9n)).toEqual(['MOVED_TOO_FAR'])
  expect(codes(3_000n, 2n)).toEqual(['MOVED_TOO_FAR'])
})

test('a ticker set read under the other reading of its encoding is doubted', async () => {
  // USD × 10^30 where the formula expects USD × 10^24: the sample that fits neither reading.
  const ticker = { tokenSymbol: 'USDC', tokenAddress: usdc, oracleDecimals: 0, updatedAt: 1_800_000_000 }
  const ask = async (value: string) => {
    const transport = transportAnswering([
      { ...ticker, minPrice: value, maxPrice: value, medianPrice: value },
    ])
    return doubtsOf((await getPrices(transport, () => 6)).value, { tokens })
  }
  expect(await ask('999687860291087900000000')).toEqual([])
  expect(await ask('999687860291087900000000000000')).toMatchObject([{ code: 'STABLE_OUT_OF_RANGE' }])
})

test('oracle prices follow the document’s formula for every kind of token', async () => {
  // Value, token decimals, oracle decimals, USD with 30 decimals (docs/reference/api-coverage.md O1).
  const vectors = [
    ['1739495434083952', 18, 0, 1739495434083952n * 10n ** 18n],
    ['615363870277724850000000000', 8, 0, 615363870277724850000000000n * 10n ** 8n],
    ['999687860291087900000000', 6, 0, 999687860291087900000000n * 10n ** 6n],
    ['4279716', 18, 0, 4279716n * 10n ** 18n],
    ['17394954', 18, 8, 17394954n * 10n ** 26n],
    // More decimals than 30 in all: the rule divides by a negative power, so the value is multiplied.
    ['3', 24, 8, 3n * 10n ** 32n],
  ] as const
  for (const [value, decimals, oracleDecimals, usd30] of vectors) {
    const row = { tokenSymbol: 'T', tokenAddress: weth, minPrice: value, maxPrice: value, oracleDecimals }
    const transport = transportAnswering([{ ...row, updatedAt: 1_800_000_000 }])
    const [price] = (await getPrices(transport, () => decimals)).value
    expect(price).toMatchObject({ minPrice: usd30, maxPrice: usd30, medianPrice: usd30 })
  }
})
