/**
 * ABI encoding by hand, in hex digits: words and the tuples, lists and bytes that are made of them. Signing and sending
 * are on the hot path, and general encoders cost ten times as much; the tests hold what is packed here against viem's.
 *
 * A word is 64 hex digits without 0x. Callers hand in validated values; a bad one throws, it is never cut to fit.
 */
import type { Address, Hex } from 'viem'

const ZERO_WORD = '0'.repeat(64)
const ONE_WORD = '1'.padStart(64, '0')
const ADDRESS_PADDING = '0'.repeat(24)
const MAX_UINT256 = 2n ** 256n - 1n
const MAX_UINT8 = 255n

/** A uint256. Throws RangeError for a value that is none. */
export function uintWord(value: bigint): string {
  if (value < 0n || value > MAX_UINT256) throw new RangeError(`not a uint256: ${value}`)
  const digits = value.toString(16)
  return ZERO_WORD.slice(digits.length) + digits
}

/** A uint8, as enums are encoded in calldata. Throws RangeError for a value that is none. */
export function uint8Word(value: bigint): string {
  if (value > MAX_UINT8) throw new RangeError(`not a uint8: ${value}`)
  return uintWord(value)
}

/** An address. Throws RangeError for another length. */
export function addressWord(value: Address): string {
  if (value.length !== 42) throw new RangeError(`not an address: ${value}`)
  return ADDRESS_PADDING + value.slice(2).toLowerCase()
}

/** A bytes32. Throws RangeError for another length. */
export function bytes32Word(value: Hex): string {
  if (value.length !== 66) throw new RangeError(`not 32 bytes: ${value}`)
  return value.slice(2)
}

/** A bool. */
export function boolWord(value: boolean): string {
  return value ? ONE_WORD : ZERO_WORD
}

/** A length or an offset in bytes. */
function lengthWord(count: number): string {
  const digits = count.toString(16)
  return ZERO_WORD.slice(digits.length) + digits
}

/** A dynamic value's encoding goes to the tail, with its offset in the head; a static word stays in the head. */
export type Part = string | { readonly tail: string }

/** The encoding of a tuple, or of a function's arguments. A string part is a static value of any whole number of words. */
export function encodeTuple(parts: readonly Part[]): string {
  const heads: string[] = []
  const tails: string[] = []
  let offset = 0
  for (const part of parts) offset += typeof part === 'string' ? part.length / 2 : 32
  for (const part of parts) {
    if (typeof part === 'string') {
      heads.push(part)
    } else {
      heads.push(lengthWord(offset))
      tails.push(part.tail)
      offset += part.tail.length / 2
    }
  }
  return heads.concat(tails).join('')
}

const EMPTY_LIST: Part = { tail: ZERO_WORD }

/** A list of static items. */
export function encodeList<Item>(items: readonly Item[], wordsOf: (item: Item) => string): Part {
  if (items.length === 0) return EMPTY_LIST
  return { tail: lengthWord(items.length) + items.map(wordsOf).join('') }
}

/** A list of dynamic items: each is reached by its offset. */
export function encodeDynamicList<Item>(items: readonly Item[], partOf: (item: Item) => Part): Part {
  if (items.length === 0) return EMPTY_LIST
  return { tail: lengthWord(items.length) + encodeTuple(items.map(partOf)) }
}

/** Bytes of any length. Throws RangeError for half a byte. */
export function encodeBytes(value: Hex): Part {
  const digits = value.slice(2)
  if (digits.length % 2 !== 0) throw new RangeError(`not whole bytes: ${value}`)
  return { tail: lengthWord(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0') }
}
