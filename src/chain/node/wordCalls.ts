/**
 * Many reads of one word each through Multicall3 (`aggregate3`): a function of one bytes32 that returns one word. Packed by hand: each look
 * makes some, and a general encoder takes as long as the rest of the look. The tests hold them against viem's.
 */
import type { Address, Hex } from '../../protocol/address.ts'
import type { RpcCall } from '../wire/jsonRpc.ts'

/** `aggregate3((address target, bool allowFailure, bytes callData)[])` of Multicall3. */
const AGGREGATE3 = '0x82ad56cb'
/** Reads of one `aggregate3`: each costs some 3,000 gas and 230 bytes of calldata. */
const MOST_PER_CALL = 500

/** One read. */
export interface WordCall {
  readonly target: Address
  /** Selector of the function, `0x` and 8 digits. */
  readonly selector: string
  /** Its one argument. */
  readonly word: Hex
}

/** Calls that make the reads, as few as there can be. */
export function wordCalls(
  reads: readonly WordCall[],
  multicall: Address,
  block: unknown,
): readonly RpcCall[] {
  const calls: RpcCall[] = []
  for (let at = 0; at < reads.length; at += MOST_PER_CALL) {
    const some = reads.slice(at, at + MOST_PER_CALL)
    // Each tuple: target, no failure allowed, where its bytes are, their length, and 36 bytes in two words.
    const places = some.map((_one, index) => number(some.length * 32 + index * 192))
    const tuples = some.map(
      ({ target, selector, word }) =>
        `${target.slice(2).toLowerCase().padStart(64, '0')}${number(0)}${number(96)}${number(36)}` +
        `${selector.slice(2)}${word.slice(2).toLowerCase()}`.padEnd(128, '0'),
    )
    const data = `${AGGREGATE3}${number(32)}${number(some.length)}${places.join('')}${tuples.join('')}`
    calls.push({ method: 'eth_call', params: [{ to: multicall, data }, block] })
  }
  return calls
}

function number(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/**
 * Decodes the results of the calls of `wordCalls`, one word a read. A result is one success and one word each, encoded as the contract's compiler
 * does.
 *
 * @throws RangeError for another shape
 */
export function readWords(returned: readonly Hex[], count: number): readonly Hex[] {
  const words = returned.flatMap((data, index) => {
    const some = Math.min(MOST_PER_CALL, count - index * MOST_PER_CALL)
    const places = Array.from({ length: some }, (_none, at) => number(some * 32 + at * 128)).join('')
    const head = `0x${number(32)}${number(some)}${places}`
    if (data.length !== head.length + some * 256 || !data.startsWith(head))
      throw new RangeError('aggregate3 did not return a result for each read')
    return Array.from({ length: some }, (_none, at) => readResult(data.slice(head.length + at * 256), at))
  })
  if (words.length !== count) throw new RangeError(`${words.length} words were read instead of ${count}`)
  return words
}

const RESULT_HEAD = number(1) + number(64) + number(32)

function readResult(digits: string, at: number): Hex {
  if (!digits.startsWith(RESULT_HEAD)) throw new RangeError(`the contract of read ${at} does not know it`)
  return `0x${digits.slice(192, 256)}`
}
