/** `digests(bytes32)` of the relay routers: the chain's own answer to "was it used?" (wire: eip712-and-chain, section 4). */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { type Address, type Hex, hexKey } from '../domain/address.ts'
import type { RpcCall } from './jsonRpc.ts'

const multicallAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
])
const DIGESTS = '0x01ac4293'
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
  return { method: 'eth_call', params: [{ to: router, data: DIGESTS + digest.slice(2) }, block] }
}

/** Calls that read many digests through Multicall3, as few as there can be. */
export function digestCalls(
  digests: readonly DigestAt[],
  multicall: Address,
  block: unknown,
): readonly RpcCall[] {
  const calls: RpcCall[] = []
  for (let at = 0; at < digests.length; at += DIGESTS_PER_CALL) {
    const args = digests.slice(at, at + DIGESTS_PER_CALL).map(({ router, digest }) => ({
      target: router,
      allowFailure: false,
      callData: `${DIGESTS}${digest.slice(2)}` as Hex,
    }))
    const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [args] })
    calls.push({ method: 'eth_call', params: [{ to: multicall, data }, block] })
  }
  return calls
}

/** What one digest's call returned. Throws RangeError for anything but a bool. */
export function readDigest(returned: Hex): boolean {
  if (returned === `0x${'1'.padStart(64, '0')}`) return true
  if (returned === `0x${'0'.repeat(64)}`) return false
  throw new RangeError('digests(bytes32) did not return a bool')
}

/** What the calls of `digestCalls` returned, one bool a digest. Throws RangeError, or viem's errors, for another shape. */
export function readDigests(returned: readonly Hex[], count: number): readonly boolean[] {
  const results = returned.flatMap((data) =>
    decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data }),
  )
  if (results.length !== count)
    throw new RangeError(`${results.length} digests were read instead of ${count}`)
  return results.map(({ success, returnData }) => {
    if (!success) throw new RangeError('a router does not know digests(bytes32)')
    return readDigest(returnData)
  })
}
