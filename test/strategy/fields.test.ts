import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatUnits, ONE_USD, USD_DECIMALS, usd } from '../../src/protocol/units.ts'
import { didYouMean, editDistance } from '../../src/strategy/didYouMean.ts'
import { bpsField, countField, leverageField, secondsField, usdField } from '../../src/strategy/fields.ts'

test('dollars come through exactly, from numbers of up to 15 digits and from text of any length', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: ONE_USD * 10n ** 15n }), (amount) => {
      expect(usdField().parse(formatUnits(amount, USD_DECIMALS))).toBe(amount)
    }),
    { seed: 11, numRuns: 300 },
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 999_999_999_999_999 }),
      fc.integer({ min: 0, max: 6 }),
      (digits, places) => {
        const text = formatUnits(BigInt(digits), places)
        expect(usdField().parse(Number(text))).toBe(usd(text))
      },
    ),
    { seed: 12, numRuns: 300 },
  )
})

test('what is no amount of dollars is refused with what is expected', () => {
  for (const value of [
    0,
    -1,
    '-1',
    '1e3',
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '1_000',
    '1,000',
    '',
    null,
    true,
    [],
    1e-7,
  ]) {
    expect(usdField().safeParse(value).error?.issues[0]?.message).toBe(
      'an amount of US dollars above 0, like 250 or "250.50"',
    )
  }
  expect(usdField({ minUsd: 0 }).parse(0)).toBe(0n)
  expect(usdField({ minUsd: 10 }).safeParse('9.99').success).toBe(false)
})

test('leverage, basis points, counts and seconds keep to their ranges and units', () => {
  expect(leverageField().parse(2.5)).toBe(25_000)
  expect(leverageField().parse('12.3456')).toBe(123_456)
  for (const value of [0, 0.09, 200.1, '2.12345', -3])
    expect(leverageField().safeParse(value).success).toBe(false)
  expect(bpsField().parse(10_000)).toBe(10_000)
  for (const value of [1.5, -1, 10_001, '5']) expect(bpsField().safeParse(value).success).toBe(false)
  expect(countField({ min: 2, max: 5 }).safeParse(6).success).toBe(false)
  expect(secondsField({ min: 0.1, max: 60 }).parse(0.25)).toBe(250)
  for (const value of [0.05, 61, '1.0005']) {
    expect(secondsField({ min: 0.1, max: 60 }).safeParse(value).success).toBe(false)
  }
})

test('an absent optional field stays absent, an absent required one is refused', () => {
  expect(usdField().optional().parse(undefined)).toBeUndefined()
  expect(usdField().safeParse(undefined).success).toBe(false)
})

test('the nearest known word is meant, or none', () => {
  const known = ['cadenceSeconds', 'market', 'markets', 'size']
  expect(didYouMean('cadenceSecond', known)).toBe('cadenceSeconds')
  expect(didYouMean('MARKET', known)).toBe('market')
  expect(didYouMean('szie', known)).toBe('size')
  expect(didYouMean('colour', known)).toBeUndefined()
  expect(didYouMean('ETH/USD', ['BTC/USD [BTC-USDC]', 'ETH/USD [WETH-USDC]'])).toBe('ETH/USD [WETH-USDC]')
  expect(editDistance('abc', 'acb')).toBe(1)
  expect(editDistance('', 'four')).toBe(4)
})
