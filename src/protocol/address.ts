/** Addresses and hashes as the wire carries them: 0x and hex. */
import type { Address, Hex } from 'viem'

export type { Address, Hex }

/** The zero address: "none" in typed data, the native token in token lists. */
export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/** Thirty-two zero bytes: "none" for hashes and referral codes. */
export const ZERO_HASH: Hex = `0x${'00'.repeat(32)}`

/** Tells whether two addresses or hashes are the same, whatever their case. */
export function sameHex(one: string, other: string): boolean {
  return one === other || (one.length === other.length && one.toLowerCase() === other.toLowerCase())
}

/** The key to use in maps of addresses: lower case. */
export function hexKey(value: string): string {
  return value.toLowerCase()
}

/** First six and last four characters, for people: `0x19E7...Ff2A`. */
export function shortHex(value: string): string {
  return value.length <= 12 ? value : `${value.slice(0, 6)}…${value.slice(-4)}`
}
