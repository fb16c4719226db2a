/**
 * `digests(bytes32)` of the relay routers: the chain's own answer to "was it used?" (contract `BaseGelatoRelayRouter`,
 * `digests`).
 */
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import type { RpcCall } from '../wire/jsonRpc.ts'
import { readWords, wordCalls } from './wordCalls.ts'

const DIGESTS = '0x01ac4293'

/** A digest at the router that counts it. */
export interface DigestAt {
  readonly router: Address
  readonly digest: Hex
}

/** The key of a digest in maps. */
export function digestKey({ router, digest }: DigestAt): string {
  return `${hexKey(router)}:${hexKey(digest)}`
}

/** A state that a call reads: one block by its hash, which must still be on the chain (EIP-1898). */
export function pinnedTo(blockHash: Hex): unknown {
  return { blockHash, requireCanonical: true }
}

/** One call that reads one digest. */
export function digestCall({ router, digest }: DigestAt, block: unknown): RpcCall {
  return { method: 'eth_call', params: [{ to: router, data: `${DIGESTS}${digest.slice(2)}` }, block] }
}

/** Calls that read many digests through Multicall3, as few as there can be. */
export function digestCalls(
  digests: readonly DigestAt[],
  multicall: Address,
  block: unknown,
): readonly RpcCall[] {
  const calls = digests.map(({ router, digest }) => ({ target: router, selector: DIGESTS, word: digest }))
  return wordCalls(calls, multicall, block)
}

/** Decodes the result of one digest's call. Throws RangeError for anything but a bool. */
export function readDigest(returned: Hex): boolean {
  if (returned === `0x${'1'.padStart(64, '0')}`) return true
  if (returned === `0x${'0'.repeat(64)}`) return false
  throw new RangeError('digests(bytes32) did not return a bool')
}

/**
 * Decodes the results of the calls of `digestCalls`, one bool a digest.
 *
 * @throws RangeError for another shape
 */
export function readDigests(returned: readonly Hex[], count: number): readonly boolean[] {
  return readWords(returned, count).map(readDigest)
}
