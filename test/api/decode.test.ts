import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  address,
  bytes32,
  count,
  float,
  hex,
  inside,
  int,
  list,
  Malformed,
  nullable,
  object,
  oneOf,
  optional,
  uint,
  unixSeconds,
} from '../../src/api/decode/decode.ts'
import { isRawNumber, parseExact } from '../../src/api/decode/json.ts'
import { MAX_UINT256 } from '../../src/protocol/units.ts'

const seed = 20261120

function refuses(decode: (value: unknown, name: string) => unknown, values: readonly unknown[]): void {
  for (const value of values) {
    expect(() => decode(value, 'field'), `it read ${JSON.stringify(value) ?? String(value)}`).toThrow(
      Malformed,
    )
  }
}

test('an unsigned integer is a canonical text or a safe JSON integer, and nothing else', () => {
  expect(uint('0', '')).toBe(0n)
  expect(uint('340282366920938463463374607431768211456', '')).toBe(2n ** 128n)
  expect(uint(String(MAX_UINT256), '')).toBe(MAX_UINT256)
  expect(uint(7, '')).toBe(7n)
  refuses(uint, [
    '',
    ' ',
    '1 ',
    ' 1',
    '01',
    '00',
    '+1',
    '-1',
    '-0',
    '1.0',
    '1e3',
    '0x10',
    '1_0',
    '1n',
    'NaN',
    '٣',
  ])
  refuses(uint, [
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    null,
    undefined,
    [],
    {},
    ['1'],
  ])
  refuses(uint, [String(MAX_UINT256 + 1n), '9'.repeat(78), '1'.repeat(79), '1'.repeat(1_000_000)])
})

test('a signed integer may be negative, but not minus zero', () => {
  expect(int('-17', '')).toBe(-17n)
  expect(int(String(-MAX_UINT256), '')).toBe(-MAX_UINT256)
  expect(int(-3, '')).toBe(-3n)
  refuses(int, ['-0', '--1', '-', '-01', '- 1', '-1 ', String(-MAX_UINT256 - 1n), -1.5, null])
})

test('every uint256 is read as itself, from text and from an unquoted number', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MAX_UINT256 }), (value) => {
      expect(uint(String(value), '')).toBe(value)
      expect(list(parseExact(`[${value}]`), '', uint)).toEqual([value])
      expect(int(`${value === 0n ? '' : '-'}${value}`, '')).toBe(-value)
    }),
    { seed, numRuns: 500 },
  )
})

test('no text is read as an integer that it does not spell', () => {
  const texts = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789+-.eE_ nx'), maxLength: 12 }),
    fc.string({ maxLength: 8 }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      for (const decode of [uint, int]) {
        let value: bigint | undefined
        try {
          value = decode(text, '')
        } catch (error) {
          expect(error).toBeInstanceOf(Malformed)
        }
        if (value !== undefined) expect(String(value)).toBe(text)
      }
    }),
    { seed, numRuns: 5_000 },
  )
})

test('JSON keeps its digits on the way through', () => {
  const text =
    '{"a":115792089237316195423570985008687907853269984665640564039457584007913129639935,"b":[1.0,1e21,-0,7],"c":"12345678901234567890"}'
  const parsed = parseExact(text) as { a: unknown; b: unknown[] }
  expect(isRawNumber(parsed.a)).toBe(true)
  expect(uint(parsed.a, '')).toBe(MAX_UINT256)
  refuses(uint, parsed.b.slice(0, 3))
  expect(JSON.stringify(parsed)).toBe(text)
  expect(() => parseExact('{"a":01}')).toThrow(SyntaxError)
})

test('what parseExact reads is what JSON.parse reads, but for numbers that it would change', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const exact = JSON.parse(JSON.stringify(parseExact(text)) ?? 'null') as unknown
      expect(exact).toEqual(JSON.parse(text))
    }),
    { seed, numRuns: 1_000 },
  )
})

test('counts, times and floats have their ranges', () => {
  expect(count('12', '')).toBe(12)
  refuses(count, ['9007199254740993', -1, 1.5, '1.5', null])
  expect(unixSeconds('1800000000', '')).toBe(1_800_000_000)
  expect(unixSeconds(1_783_345_314_888, '')).toBe(1_783_345_314)
  expect(float(1.5, '')).toBe(1.5)
  refuses(float, ['1.5', Number.NaN, Number.POSITIVE_INFINITY, null])
})

test('addresses, hashes and bytes are what they look like', () => {
  const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
  expect(address(usdc, '')).toBe(usdc)
  refuses(address, [
    '0x',
    usdc.slice(0, -1),
    `${usdc}0`,
    usdc.replace('0x', '0X'),
    usdc.replace('8', 'g'),
    0,
    null,
  ])
  expect(bytes32(`0x${'ab'.repeat(32)}`, '')).toBe(`0x${'ab'.repeat(32)}`)
  refuses(bytes32, [`0x${'ab'.repeat(31)}`, `0x${'ab'.repeat(33)}`])
  expect(hex('0x', '')).toBe('0x')
  refuses(hex, ['0x1', '', 'ab', '0xzz', `0x${'ab'.repeat(4)}\n`])
})

test('a wrong value is named by its whole path', () => {
  const decode = (body: unknown) =>
    list(object(body).rows, 'rows', (row) =>
      inside(object(row).prices, 'prices', (prices) => list(object(prices).tiers, 'tiers', uint)),
    )
  const body = { rows: [{ prices: { tiers: ['1'] } }, { prices: { tiers: ['1', '2', '-3'] } }] }
  try {
    decode(body)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({
      path: 'rows[1].prices.tiers[2]',
      problem: 'is not an unsigned whole number of at most 256 bits',
      value: '-3',
    })
  }
})

test('absent, null and unknown are told apart', () => {
  expect(optional(undefined, '', uint)).toBeUndefined()
  expect(optional(null, '', uint)).toBeUndefined()
  refuses((value, name) => optional(value, name, uint), ['', false])
  expect(nullable(null, '', uint)).toBeNull()
  refuses((value, name) => nullable(value, name, uint), [undefined])
  const known = new Set(['fresh', 'stale'] as const)
  expect(oneOf('fresh', '', known)).toBe('fresh')
  expect(oneOf('FRESH', '', known)).toBe('unrecognised')
  refuses((value, name) => oneOf(value, name, known), [undefined, null, 1])
  refuses(object, [null, [], 'x', 1])
})
