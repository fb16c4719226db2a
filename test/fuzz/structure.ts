/**
 * Texts that no honest program writes, made from honest ones by a seed: deep, wide and long, with references to itself where
 * values can have them, odd numbers, odd texts and odd names, and texts that are damaged as such.
 */

/** Evenly distributed in [0, 1), from a seed (mulberry32). */
export function draws(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Draw = () => number
type Container = Record<string | number, unknown>

export function oneOf<T>(draw: Draw, values: readonly T[]): T {
  return values[Math.floor(draw() * values.length)] as T
}

/** Stands in a value for JSON text that `JSON.stringify` would not write; put in place of its quoted form. */
const RAW = '\u0001raw:'

const numbers = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1e308',
  '1e309',
  '-1e400',
  '5e-324',
  '9007199254740993',
  '8640000000000001',
  '8640000000000001000',
  '99999999999999999999999999',
  `1${'0'.repeat(80)}`,
  `1${'0'.repeat(5_000)}`,
  '0.1e1',
  '1E5',
]

const texts = [
  '',
  ' ',
  '0',
  '-1',
  '00',
  '1e30',
  '0x',
  '0x1',
  `0x${'f'.repeat(64)}`,
  `0x${'00'.repeat(20)}`,
  `0x${'ab'.repeat(5_000)}`,
  '9'.repeat(78),
  '9'.repeat(79),
  `${2n ** 256n - 1n}`,
  `${2n ** 53n + 1n}`,
  '8640000000000001',
  'NaN',
  'Infinity',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '\u2028',
  '\u202e',
  '\u0000',
  '\ud800',
  '\ufeff',
  '\u001b[2J',
  'a\nb',
  '%s%n',
  '$&',
  '{"$bigint":"1"}',
  'x'.repeat(20_000),
  '2026-13-45T99:99:99Z',
  '+275760-09-13T00:00:00.001Z',
]

const names = [
  '__proto__',
  'constructor',
  'toJSON',
  'then',
  'length',
  '$bigint',
  '$map',
  'rawJSON',
  '',
  '0',
  '\u202e',
]

function nested(draw: Draw, depth: number): string {
  const inner = oneOf(draw, ['', '1', '""', 'null'])
  if (draw() < 0.5) return '['.repeat(depth) + inner + ']'.repeat(depth)
  const name = JSON.stringify(oneOf(draw, ['a', ...names]))
  return `{${name}:`.repeat(depth) + (inner === '' ? '0' : inner) + '}'.repeat(depth)
}

/** A value that stands where it should not. */
function odd(draw: Draw): unknown {
  const kind = draw()
  if (kind < 0.25) return RAW + oneOf(draw, numbers)
  if (kind < 0.55) return oneOf(draw, texts)
  if (kind < 0.65) return oneOf<unknown>(draw, [null, true, false, [], {}, [null], [[]], [{}], { a: [] }])
  if (kind < 0.75) return RAW + nested(draw, oneOf(draw, [2, 7, 33, 65, 200, 5_000]))
  if (kind < 0.8)
    return Array.from({ length: oneOf(draw, [2, 100, 3_000]) }, () => oneOf(draw, texts.slice(0, 12)))
  if (kind < 0.85) {
    return Object.fromEntries(Array.from({ length: oneOf(draw, [3, 500]) }, (_unused, at) => [`k${at}`, at]))
  }
  if (kind < 0.9) return { $bigint: oneOf(draw, texts) }
  if (kind < 0.95) return { $map: oneOf<unknown>(draw, [1, [1], [[1]], [[[], {}]], [['a', 'b', 'c']], 'ab']) }
  return { type: 'bigint', value: oneOf(draw, texts) }
}

function containersOf(value: unknown): Container[] {
  const found = new Set<Container>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null || found.has(one as Container)) continue
    found.add(one as Container)
    open.push(...Object.values(one))
  }
  return [...found]
}

/** Changes one place of a value. */
function change(draw: Draw, root: { value: unknown }): void {
  const containers = containersOf(root.value)
  if (containers.length === 0 || draw() < 0.03) {
    root.value = odd(draw)
    return
  }
  const inside = oneOf(draw, containers)
  const keys = Object.keys(inside)
  const key = keys.length === 0 ? 'a' : oneOf(draw, keys)
  const kind = draw()
  if (kind < 0.6) inside[key] = odd(draw)
  else if (kind < 0.7) delete inside[key]
  else if (kind < 0.78) {
    const named = oneOf(draw, names)
    const name = named === 'length' && Array.isArray(inside) ? 'a' : named
    Object.defineProperty(inside, name, {
      value: odd(draw),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else if (kind < 0.86) {
    // A part of the value inside itself: a copy, because text holds no references.
    inside[key] = structuredClone(oneOf(draw, containers))
  } else if (kind < 0.93 && Array.isArray(inside)) {
    const row: unknown = inside[0]
    for (let copies = oneOf(draw, [1, 20, 400]); copies > 0; copies -= 1) inside.push(row)
  } else {
    const other = oneOf(draw, containers)
    const [name = 'a'] = Object.keys(other)
    const held = inside[key]
    inside[key] = other[name]
    if (draw() < 0.5 && typeof held !== 'object') other[name] = held
  }
}

/** Most parts of a case, and most characters of its texts, as far as they can be told before it is written. */
const [MOST_PARTS, MOST_CHARACTERS] = [300_000, 64_000_000]

/** Whether a value is longer than a case may be: parts that stand in it many times, in each other, multiply. */
function isTooLong(value: unknown): boolean {
  const open: unknown[] = [value]
  let [count, characters] = [0, 0]
  while (open.length > 0) {
    const one = open.pop()
    const parts = typeof one === 'object' && one !== null ? Object.values(one) : []
    count += parts.length
    if (typeof one === 'string') characters += one.length
    if (count > MOST_PARTS || characters > MOST_CHARACTERS) return true
    for (const part of parts) open.push(part)
  }
  return false
}

/** The text of a value, with raw parts in place. A value that ended inside itself, or without an end, is no text. */
function textOf(value: unknown): string {
  if (isTooLong(value)) return '{'
  try {
    return (JSON.stringify(value) ?? 'null').replace(
      /"\\u0001raw:((?:[^"\\]|\\.)*)"/g,
      (_whole, raw: string) => JSON.parse(`"${raw}"`),
    )
  } catch {
    return '{'
  }
}

/** Damages a text as such: cut off, doubled, a character changed, something in front. */
function damaged(draw: Draw, text: string): string {
  const at = Math.floor(draw() * (text.length + 1))
  const kind = draw()
  if (kind < 0.3) return text.slice(0, at)
  if (kind < 0.5)
    return (
      text.slice(0, at) +
      oneOf(draw, ['"', '{', '[', ']', '}', ',', '\\', '\u0000', '\ufffd', ':']) +
      text.slice(at)
    )
  if (kind < 0.6) return text + text
  if (kind < 0.7) return `\ufeff${text}`
  if (kind < 0.8)
    return oneOf(draw, ['', 'null', '0', '"a"', '[]', '{}', 'true', '<html></html>', '-', 'undefined'])
  if (kind < 0.9) return nested(draw, oneOf(draw, [10, 100, 5_000, 20_000]))
  return text.slice(0, at) + nested(draw, 5_000) + text.slice(at)
}

/** A case from an honest text. */
export function caseOf(sample: string, draw: Draw): string {
  let value: unknown
  try {
    value = JSON.parse(sample)
  } catch {
    return damaged(draw, sample)
  }
  const root = { value }
  for (let changes = 1 + Math.floor(draw() * 3); changes > 0; changes -= 1) change(draw, root)
  const text = textOf(root.value)
  return draw() < 0.15 ? damaged(draw, text) : text
}
