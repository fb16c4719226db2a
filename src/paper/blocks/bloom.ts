/** The bloom filter of logs in blocks and receipts: 2048 bits, three for every address and topic (yellow paper, 4.3.1). */
import { hexToBytes, keccak256 } from 'viem/utils'
import type { Hex } from '../../protocol/address.ts'

/** A filter that holds nothing. */
const EMPTY_BLOOM: Hex = `0x${'00'.repeat(256)}`

const positions = new Map<Hex, readonly number[]>()
/** Words remembered; the names of events and their contract come back all the time. */
const POSITIONS_KEPT = 4096

function positionsOf(word: Hex): readonly number[] {
  let found = positions.get(word)
  if (found === undefined) {
    const hash = keccak256(word, 'bytes')
    found = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047)
    if (positions.size >= POSITIONS_KEPT) positions.clear()
    positions.set(word, found)
  }
  return found
}

/** The filter of these addresses and topics. */
export function bloomOf(words: Iterable<Hex>): Hex {
  const bytes = new Uint8Array(256)
  let isEmpty = true
  for (const word of words) {
    isEmpty = false
    for (const bit of positionsOf(word)) {
      const at = 255 - (bit >> 3)
      bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7))
    }
  }
  return isEmpty ? EMPTY_BLOOM : `0x${Buffer.from(bytes).toString('hex')}`
}

/** Filters laid over each other. */
export function bloomUnion(blooms: readonly Hex[]): Hex {
  const full = blooms.filter((bloom) => bloom !== EMPTY_BLOOM)
  const [first] = full
  if (first === undefined) return EMPTY_BLOOM
  if (full.length === 1) return first
  const bytes = hexToBytes(first)
  for (const bloom of full.slice(1)) {
    const other = hexToBytes(bloom)
    for (let i = 0; i < 256; i += 1) bytes[i] = (bytes[i] ?? 0) | (other[i] ?? 0)
  }
  return `0x${Buffer.from(bytes).toString('hex')}`
}
