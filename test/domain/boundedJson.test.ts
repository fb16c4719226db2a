/** Limits on JSON from outside, and values shown whatever they are. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bounded, fileBounds, JsonBoundsError, parseBounded, shownValue } from '../../src/base/boundedJson.ts'
import { decodeExact } from '../../src/domain/records.ts'

const bounds = { depth: 8, values: 100 }

test('what nests or holds too much is refused, to the unit', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(parseBounded(nested(8), bounds)).toBeTruthy()
  expect(() => parseBounded(nested(9), bounds)).toThrow(JsonBoundsError)
  expect(() => parseBounded(`${'{"a":'.repeat(9)}1${'}'.repeat(9)}`, bounds)).toThrow(/deeper than 8/)
  expect(parseBounded(`[${Array.from({ length: 98 }, () => '1').join()}]`, bounds)).toHaveLength(98)
  expect(() => parseBounded(`[${Array.from({ length: 110 }, () => '1').join()}]`, bounds)).toThrow(
    /more than 100/,
  )
})

test('what perpd wrote is read as deep as its readers go and no deeper, be it short or long', () => {
  for (const length of [0, 100_000]) {
    const text = (open: string, end: string, depth: number) =>
      `["${'x'.repeat(length)}",${open.repeat(depth - 1)}${open === '[' ? '' : '1'}${end.repeat(depth - 1)}]`
    for (const [open, end] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(decodeExact(text(open, end, 64))).toBeTruthy()
      expect(() => decodeExact(text(open, end, 65))).toThrow(JsonBoundsError)
    }
    const amount = (depth: number) => text('[', ']', depth).replace('[]', '[{"$bigint":"7"}]')
    expect(decodeExact(amount(63))).toBeTruthy()
    expect(() => decodeExact(amount(64))).toThrow(/deeper than 64/)
  }
  for (const text of ['['.repeat(60_000), '['.repeat(1_000_000)])
    expect(() => decodeExact(text)).toThrow(SyntaxError)
})

test('brackets and separators inside texts count for nothing, however they are escaped', () => {
  for (const text of [
    '[[[[[[[[[[[[',
    '{{{{{{{{{{{{',
    ',,,,,,,,'.repeat(50),
    '\\',
    '\\"[[[[[[[[[[',
    '"',
    '\\\\"[',
    '[\\\\\\"',
  ]) {
    expect(parseBounded(JSON.stringify({ [text]: [text, text] }), bounds)).toEqual({ [text]: [text, text] })
  }
})

test('whatever JSON.parse takes within the bounds comes as JSON.parse gives it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      expect(parseBounded(text, fileBounds)).toEqual(JSON.parse(text))
    }),
    { seed: 20261122, numRuns: 2_000 },
  )
})

test('whatever is no JSON is a SyntaxError as before', () => {
  for (const text of ['', '"', '[', '{"a"', '"abc', '\\', ']]]]', '[1,]', 'nul']) {
    expect(() => parseBounded(text, bounds)).toThrow(SyntaxError)
  }
})

test('16 MB are judged in a time that does not grow with what they are', () => {
  const started = performance.now()
  const half = 8_000_000
  for (const text of [
    `"${'\\"'.repeat(half)}"`,
    `"${'\\'.repeat(2 * half)}`,
    '['.repeat(2 * half),
    '"'.repeat(2 * half),
    ' '.repeat(2 * half),
  ]) {
    try {
      bounded(text, fileBounds)
    } catch (error) {
      expect(error).toBeInstanceOf(JsonBoundsError)
    }
  }
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('any value is shown, short, and never throws', () => {
  const itself: Record<string, unknown> = { a: 1 }
  itself.self = itself
  const list: unknown[] = []
  list.push(list)
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const values: unknown[] = [
    itself,
    list,
    deep,
    revoked.proxy,
    Object.defineProperty({}, 'bad', {
      enumerable: true,
      get: () => {
        throw new Error('a getter')
      },
    }),
    { toJSON: () => itself },
    { toString: () => itself, a: 1n },
    Object.create(null),
    Symbol('x'),
    () => 1,
    1n,
    undefined,
    null,
    Number.NaN,
    new Date(Number.NaN),
    'x'.repeat(1_000_000),
    Array.from({ length: 1_000_000 }, () => 1),
    JSON.parse('{"__proto__":{"a":1}}'),
    new Map(),
  ]
  for (const value of values) expect(shownValue(value).length).toBeLessThanOrEqual(301)
  expect(shownValue({ symbol: 'ETH', sizes: [1, '2', null] })).toBe('{"symbol":"ETH","sizes":[1,"2",null]}')
  expect(shownValue('a"b')).toBe('"a\\"b"')
})
