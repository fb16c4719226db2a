/** Texts by which two values are compared, and the places at which they differ. Pure. */

/** One place at which two values differ; a side that has nothing there says `nothing`. */
export interface Difference {
  readonly path: string
  readonly one: string
  readonly other: string
}

/** Longest text of one side of a difference. */
const MOST_TEXT = 80

/** A text that two values share when they are the same: keys in order, bigints marked, maps as their entries. */
export function canonical(value: unknown): string {
  return JSON.stringify(plain(value)) ?? 'undefined'
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) return plain(Object.fromEntries(value))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(
    entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, each]) => [key, plain(each)]),
  )
}

/** The first `most` places at which two values differ, by their paths, as `snapshot.markets.0x1.candles.3.high`. */
export function differencesOf(one: unknown, other: unknown, most: number): readonly Difference[] {
  const found: Difference[] = []
  walk(plain(one), plain(other), '', found, most)
  return found
}

function walk(one: unknown, other: unknown, path: string, found: Difference[], most: number): void {
  if (found.length >= most || one === other) return
  if (isNode(one) && isNode(other)) {
    const [left, right] = [byTime(one), byTime(other)]
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
      walk(left[key], right[key], path === '' ? key : `${path}.${key}`, found, most)
    return
  }
  found.push({ path, one: shown(one), other: shown(other) })
}

/** Candles by their time, so that windows of two lengths are compared candle by candle; anything else by its keys. */
function byTime(value: unknown): Record<string, unknown> {
  const isTimed = (each: unknown): each is { readonly timestampSeconds: number } =>
    typeof each === 'object' && each !== null && 'timestampSeconds' in each
  if (!Array.isArray(value) || !value.every(isTimed)) return value as Record<string, unknown>
  return Object.fromEntries(
    value.map((each) => [new Date(each.timestampSeconds * 1000).toISOString().slice(0, 16), each]),
  )
}

function isNode(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text
}
