/**
 * JSON to domain values: small functions that take a value and the name it was found under, and give the value or throw
 * `Malformed`. Nothing is coerced: a float where a whole number belongs, a sign on an amount, a missing field are errors.
 * Fields that are not asked for pass by unseen, because the venue's answers grow.
 *
 * The checks are O(1) around `BigInt()`, and nothing is allocated for a field that is well-formed: a polled answer has
 * more than ten thousand of them (performance notes).
 */
import { LAST_TIME_MS } from '../../base/clock.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { isRawNumber } from './json.ts'

/** A value of another shape than it must have. The transport adds route and host and throws it as `DecodeError`. */
export class Malformed extends Error {
  /** Path from the decoded value to the wrong one, `[3].prices.minPrice`. */
  readonly path: string
  /** Fault of the value, as a clause. */
  readonly problem: string
  readonly value: unknown
  /** True when the response answers another request; that is a fault of its host, even when it is well-formed. */
  readonly isOfAnother: boolean

  constructor(path: string, problem: string, value: unknown, isOfAnother = false) {
    super(`${path} ${problem}`)
    this.name = 'Malformed'
    this.path = path
    this.problem = problem
    this.value = value
    this.isOfAnother = isOfAnother
  }

  /** The same complaint, seen from one level further out. */
  under(parent: string): Malformed {
    const glue = this.path === '' || this.path.startsWith('[') || parent === '' ? '' : '.'
    return new Malformed(`${parent}${glue}${this.path}`, this.problem, this.value, this.isOfAnother)
  }
}

/** Reads a value that was found under a name; throws `Malformed`. */
export type Decoder<T> = (value: unknown, name: string) => T

/** A JSON object whose fields are yet to be read. */
export type Fields = Readonly<Record<string, unknown>>

/** The value as an object with fields; arrays and null are none. */
export function object(value: unknown, name = ''): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) {
    throw new Malformed(name, 'is not an object', value)
  }
  return value as Fields
}

/** Longest list: more than any route gives, and few enough for whoever passes its elements on as arguments. */
const MAX_LIST_LENGTH = 50_000

/** A list of at most 50,000 elements, not read yet. */
export function elements(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Malformed(name, 'is not a list', value)
  if (value.length > MAX_LIST_LENGTH) throw new Malformed(name, `is a list of ${value.length}`, undefined)
  return value
}

/** Every element of an array, decoded. */
export function list<T>(given: unknown, name: string, item: Decoder<T>): T[] {
  const value = elements(given, name)
  const decoded: T[] = new Array(value.length)
  let index = 0
  try {
    for (; index < value.length; index++) decoded[index] = item(value[index], '')
  } catch (error) {
    throw error instanceof Malformed ? error.under(`${name}[${index}]`) : error
  }
  return decoded
}

/** A value inside a field, decoded by a function that does not know the field's name. */
export function inside<T>(value: unknown, name: string, decode: (value: unknown) => T): T {
  try {
    return decode(value)
  } catch (error) {
    throw error instanceof Malformed ? error.under(name) : error
  }
}

/** The value, or undefined where the field is absent or null. */
export function optional<T>(value: unknown, name: string, decode: Decoder<T>): T | undefined {
  return value === undefined || value === null ? undefined : decode(value, name)
}

/** The value, or undefined where it is absent, null or cannot be read: for what is optional and decides nothing. */
export function lenient<T>(value: unknown, name: string, decode: Decoder<T>): T | undefined {
  try {
    return optional(value, name, decode)
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

/** The value, or null where it is null; an absent field is an error. */
export function nullable<T>(value: unknown, name: string, decode: Decoder<T>): T | null {
  return value === null ? null : decode(value, name)
}

const ZERO = 48
const NINE = 57
const MINUS = 45
/** 2^256 - 1 has 78 digits. */
const MAX_DIGITS = 78

// Digits at both ends exclude everything BigInt() is lenient about (blanks, signs, 0x, empty text); BigInt() itself
// refuses the rest.
function wholeNumber(text: string, start: number): bigint | undefined {
  const { length } = text
  const digits = length - start
  if (digits < 1 || digits > MAX_DIGITS) return undefined
  const first = text.charCodeAt(start)
  if (first === ZERO) return digits === 1 && start === 0 ? 0n : undefined
  if (first < ZERO || first > NINE) return undefined
  const last = text.charCodeAt(length - 1)
  if (last < ZERO || last > NINE) return undefined
  try {
    const value = BigInt(text)
    // Fewer digits always fit, and comparing costs as much as parsing.
    if (digits < MAX_DIGITS) return value
    return (value < 0n ? -value : value) <= MAX_UINT256 ? value : undefined
  } catch {
    return undefined
  }
}

/** The text inside `{type: "bigint", value: "..."}`, which is how clients of the venue write one (SDK, deserializer). */
function bigintText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { type, value: text } = value as { type?: unknown; value?: unknown }
  return type === 'bigint' && typeof text === 'string' ? text : undefined
}

/**
 * An unsigned integer up to 2^256 - 1: a canonical decimal text (`0`, `17`; not `017`, `+1`, `1.0`, `1e3`, `0x1`), the same
 * inside `{type: "bigint", value}`, or a JSON integer that no float has touched.
 */
export function uint(value: unknown, name: string): bigint {
  if (typeof value === 'string') {
    const decoded = wholeNumber(value, 0)
    if (decoded !== undefined) return decoded
  } else if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  } else if (isRawNumber(value)) {
    return uint(value.rawJSON, name)
  } else {
    const text = bigintText(value)
    if (text !== undefined) return uint(text, name)
  }
  throw new Malformed(name, 'is not an unsigned whole number of at most 256 bits', value)
}

/** A signed integer of at most 256 bits of magnitude, in the same forms as `uint`, with `-` before negative ones. */
export function int(value: unknown, name: string): bigint {
  if (typeof value === 'string') {
    const decoded = wholeNumber(value, value.charCodeAt(0) === MINUS ? 1 : 0)
    if (decoded !== undefined) return decoded
  } else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return BigInt(value)
  } else if (isRawNumber(value)) {
    return int(value.rawJSON, name)
  } else {
    const text = bigintText(value)
    if (text !== undefined) return int(text, name)
  }
  throw new Malformed(name, 'is not a whole number of at most 256 bits', value)
}

/** USD with 30 decimals that cannot be negative. */
export const usd30: Decoder<bigint> = uint

/** USD with 30 decimals, of either sign: profit, price impact, value after fees. */
export const signedUsd30: Decoder<bigint> = int

/** A factor with 30 decimals, of either sign. */
export const factor: Decoder<bigint> = int

/** A count: a JSON integer, or its canonical text, from 0 to 2^53 - 1. */
export function count(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  if (typeof value === 'string' || isRawNumber(value) || bigintText(value) !== undefined) {
    const decoded = uint(value, name)
    if (decoded <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(decoded)
  }
  throw new Malformed(name, 'is not a count', value)
}

/** 10^77 is the largest power of ten in a uint256. */
const MAX_TOKEN_DECIMALS = 77

/** Decimals of a token's amounts or of an oracle price, 0 to 77. */
export function tokenDecimals(value: unknown, name: string): number {
  const decimals = count(value, name)
  if (decimals > MAX_TOKEN_DECIMALS) throw new Malformed(name, 'is not a number of decimals', value)
  return decimals
}

/** A finite JSON number; for candles, rates of pools and other figures that are floats on the wire, never an amount. */
export function float(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (isRawNumber(value)) {
    const decoded = Number(value.rawJSON)
    if (Number.isFinite(decoded)) return decoded
  }
  throw new Malformed(name, 'is not a finite number', value)
}

/** From here on a Unix time must be in milliseconds: as seconds it would be the year 5138. */
const MILLISECONDS_FROM = 100_000_000_000

/**
 * Unix seconds, from a whole number of seconds or, above 10^11, of milliseconds (gaps: conflict 3); at most the last that a
 * date can name.
 */
export function unixSeconds(value: unknown, name: string): number {
  const time = count(value, name)
  if (time > LAST_TIME_MS) throw new Malformed(name, 'is no time', value)
  return time > MILLISECONDS_FROM ? Math.floor(time / 1000) : time
}

/** Longest text and longest word, characters: they go into journal and log. Bytes as hex are no texts. */
const MAX_TEXT_LENGTH = 16_384
const MAX_WORD_LENGTH = 1_024

/** Any text of at most 16,384 characters. */
export function string(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Malformed(name, 'is not a text', value)
  if (value.length > MAX_TEXT_LENGTH) throw new Malformed(name, 'is too long a text', value)
  return value
}

/** A text that is not empty, of at most 1,024 characters: a name, an id. */
export function word(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '')
    throw new Malformed(name, 'is not a text with content', value)
  if (value.length > MAX_WORD_LENGTH) throw new Malformed(name, 'is too long', value)
  return value
}

/** true or false; nothing is taken for them. */
export function boolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw new Malformed(name, 'is not true or false', value)
  return value
}

const hexPattern = /^0x(?:[0-9a-fA-F]{2})*$/
const addressPattern = /^0x[0-9a-fA-F]{40}$/
const bytes32Pattern = /^0x[0-9a-fA-F]{64}$/

/** Whole bytes as 0x and hex digits; `0x` is no bytes. */
export function hex(value: unknown, name: string): Hex {
  if (typeof value !== 'string' || !hexPattern.test(value))
    throw new Malformed(name, 'is not hex bytes', value)
  return value as Hex
}

/** A 20-byte address, in the case it came in. */
export function address(value: unknown, name: string): Address {
  if (typeof value !== 'string' || !addressPattern.test(value)) {
    throw new Malformed(name, 'is not an address', value)
  }
  return value as Address
}

/** 32 bytes: a hash, an order key, a position key. */
export function bytes32(value: unknown, name: string): Hex {
  if (typeof value !== 'string' || !bytes32Pattern.test(value)) {
    throw new Malformed(name, 'is not 32 bytes', value)
  }
  return value as Hex
}

/** One of the known words, or `unrecognised` for a word of a newer venue; a value that is no text is an error. */
export function oneOf<T extends string>(
  value: unknown,
  name: string,
  known: ReadonlySet<T>,
): T | 'unrecognised' {
  if (typeof value !== 'string') throw new Malformed(name, 'is not a text', value)
  return known.has(value as T) ? (value as T) : 'unrecognised'
}

/** The fields whose value is there: domain types have no fields that are undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) kept[name] = value
  }
  return kept as { [K in keyof T]?: Exclude<T[K], undefined> }
}
