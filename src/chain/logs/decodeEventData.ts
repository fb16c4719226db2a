/**
 * EventLogData as the protocol's EventEmitter encodes it (contract `EventEmitter`, `EventLogData`), decoded by hand: a
 * look may read thousands of logs, and a general decoder takes a millisecond for each. Strict: every offset and length
 * must lie inside the data, and every word must be a value of its type. The tests hold it against viem's decoder.
 *
 * Items are looked up by key, never by place: deployed contracts add items.
 */
import type { Hex } from '../../protocol/address.ts'
import { createBoundedMap } from '../node/boundedMap.ts'

/** Items of one event by key. Numbers are bigints; addresses and bytes lower-case hex. */
export interface EventItems {
  readonly eventName: string
  readonly addresses: ReadonlyMap<string, Hex>
  readonly uints: ReadonlyMap<string, bigint>
  readonly ints: ReadonlyMap<string, bigint>
  readonly bools: ReadonlyMap<string, boolean>
  readonly words: ReadonlyMap<string, Hex>
  readonly bytes: ReadonlyMap<string, Hex>
  readonly strings: ReadonlyMap<string, string>
}

/** Most items of one kind in one event; real events have thirty. */
const MAX_ITEMS = 200
/** Names of events and items, which come back in every log. Longer texts are not remembered. */
const texts = createBoundedMap<string>(512)
const MAX_KNOWN_DIGITS = 128
const INT_LIMIT = 2n ** 255n
const WORD_LIMIT = 2n ** 256n

/**
 * The items of a log's data. Lists (`arrayItems`) are passed over: no rule of ours reads one.
 *
 * @throws RangeError for data that is not exactly this encoding
 */
export function decodeEventData(data: Hex): EventItems {
  const digits = data.slice(2)
  if (digits.length % 64 !== 0) throw new RangeError('event data is no whole number of words')
  const words = digits.length / 64

  function word(at: number): string {
    if (!Number.isInteger(at) || at < 0 || at >= words) throw new RangeError('event data is too short')
    return digits.slice(at * 64, at * 64 + 64)
  }
  /** A length, or an offset in bytes: small, or the data is none of ours. */
  function small(at: number): number {
    const text = word(at)
    if (!text.startsWith('0'.repeat(56))) throw new RangeError('a length in the event data is too large')
    return Number.parseInt(text.slice(56), 16)
  }
  /** Word position that the offset at `at` leads to, relative to the beginning of its tuple. */
  function follow(start: number, at: number): number {
    const offset = small(at)
    if (offset % 32 !== 0) throw new RangeError('an offset in the event data is not on a word')
    return start + offset / 32
  }
  function rawBytes(at: number): string {
    const length = small(at)
    const from = (at + 1) * 64
    if (from + length * 2 > digits.length) throw new RangeError('bytes in the event data are too long')
    return digits.slice(from, from + length * 2)
  }
  function text(at: number): string {
    const digits = rawBytes(at)
    const known = texts.get(digits)
    if (known !== undefined) return known
    const read = Buffer.from(digits, 'hex')
    const decoded = read.toString('utf8')
    if (!Buffer.from(decoded, 'utf8').equals(read))
      throw new RangeError('a text in the event data is no UTF-8')
    if (digits.length <= MAX_KNOWN_DIGITS) texts.set(digits, decoded)
    return decoded
  }
  function group<T>(start: number, index: number, value: (tuple: number) => T): ReadonlyMap<string, T> {
    const items = new Map<string, T>()
    const pair = follow(start, start + index)
    const list = follow(pair, pair)
    const count = small(list)
    if (count > MAX_ITEMS) throw new RangeError('the event data has too many items')
    for (let i = 0; i < count; i += 1) {
      const tuple = follow(list + 1, list + 1 + i)
      const key = text(follow(tuple, tuple))
      if (items.has(key)) throw new RangeError('an item of the event data comes twice')
      items.set(key, value(tuple))
    }
    return items
  }
  const uint = (at: number): bigint => BigInt(`0x${word(at)}`)
  const address = (at: number): Hex => {
    const one = word(at)
    if (!one.startsWith('0'.repeat(24))) throw new RangeError('an address in the event data is too long')
    return `0x${one.slice(24).toLowerCase()}`
  }
  const bool = (at: number): boolean => {
    const value = uint(at)
    if (value > 1n) throw new RangeError('a bool in the event data is none')
    return value === 1n
  }

  address(0)
  const eventName = text(follow(0, 1))
  const start = follow(0, 2)
  return {
    eventName,
    addresses: group(start, 0, (tuple) => address(tuple + 1)),
    uints: group(start, 1, (tuple) => uint(tuple + 1)),
    ints: group(start, 2, (tuple) => {
      const value = uint(tuple + 1)
      return value < INT_LIMIT ? value : value - WORD_LIMIT
    }),
    bools: group(start, 3, (tuple) => bool(tuple + 1)),
    words: group(start, 4, (tuple) => `0x${word(tuple + 1).toLowerCase()}` as Hex),
    bytes: group(start, 5, (tuple) => `0x${rawBytes(follow(tuple, tuple + 1)).toLowerCase()}` as Hex),
    strings: group(start, 6, (tuple) => text(follow(tuple, tuple + 1))),
  }
}
