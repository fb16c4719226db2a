/**
 * `digests(bytes32)` of the relay routers: the chain's own answer to "was it used?" (contract `BaseGelatoRelayRouter`,
 * `digests`).
 */
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import type { RpcCall } from '../rpc/jsonRpc.ts'

const DIGESTS = '0x01ac4293'
/** `aggregate3((address target, bool allowFailure, bytes callData)[])` of Multicall3. */
const AGGREGATE3 = '0x82ad56cb'
/** Digests of one `aggregate3`: each costs some 3,000 gas and 230 bytes of calldata. */
const DIGESTS_PER_CALL = 500

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

/**
 * Calls that read many digests through Multicall3, as few as there can be. Packed by hand: each look makes some, and a
 * general encoder takes as long as the rest of the look. The tests hold them against viem's.
 */
export function digestCalls(
  digests: readonly DigestAt[],
  multicall: Address,
  block: unknown,
): readonly RpcCall[] {
  const calls: RpcCall[] = []
  for (let at = 0; at < digests.length; at += DIGESTS_PER_CALL) {
    const some = digests.slice(at, at + DIGESTS_PER_CALL)
    // Each tuple: target, no failure allowed, where its bytes are, their length, and 36 bytes in two words.
    const places = some.map((_one, index) => word(some.length * 32 + index * 192))
    const tuples = some.map(
      ({ router, digest }) =>
        `${router.slice(2).toLowerCase().padStart(64, '0')}${word(0)}${word(96)}${word(36)}` +
        `${DIGESTS.slice(2)}${digest.slice(2).toLowerCase()}`.padEnd(128, '0'),
    )
    const data = `${AGGREGATE3}${word(32)}${word(some.length)}${places.join('')}${tuples.join('')}`
    calls.push({ method: 'eth_call', params: [{ to: multicall, data }, block] })
  }
  return calls
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** What one digest's call returned. Throws RangeError for anything but a bool. */
export function readDigest(returned: Hex): boolean {
  if (returned === `0x${'1'.padStart(64, '0')}`) return true
  if (returned === `0x${'0'.repeat(64)}`) return false
  throw new RangeError('digests(bytes32) did not return a bool')
}

/**
 * What the calls of `digestCalls` returned, one bool a digest. A result is one success and one word each, encoded as the
 * contract's compiler does.
 *
 * @throws RangeError for another shape
 */
export function readDigests(returned: readonly Hex[], count: number): readonly boolean[] {
  const used = returned.flatMap((data, index) => {
    const some = Math.min(DIGESTS_PER_CALL, count - index * DIGESTS_PER_CALL)
    const places = Array.from({ length: some }, (_none, at) => word(some * 32 + at * 128)).join('')
    const head = `0x${word(32)}${word(some)}${places}`
    if (data.length !== head.length + some * 256 || !data.startsWith(head))
      throw new RangeError('aggregate3 did not return a result for each digest')
    return Array.from({ length: some }, (_none, at) => readResult(data.slice(head.length + at * 256), at))
  })
  if (used.length !== count) throw new RangeError(`${used.length} digests were read instead of ${count}`)
  return used
}

const RESULT_HEAD = word(1) + word(64) + word(32)

function readResult(digits: string, at: number): boolean {
  if (!digits.startsWith(RESULT_HEAD)) throw new RangeError(`the router of digest ${at} does not know it`)
  return readDigest(`0x${digits.slice(192, 256)}`)
}
