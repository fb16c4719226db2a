/** Blocks and log filters as clients name them: numbers, tags, hashes (EIP-1898), topic patterns. */

import { isObject } from '../../base/isObject.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { type BlockChain, blockOfHash, generationAt, headAt, type Inclusion } from '../blocks/blockChain.ts'
import { invalidParams, RpcError, readAddress, readHash, readQuantity, rpcCodes } from '../blocks/rpcError.ts'
import type { VenueState } from '../state/venueState.ts'
import type { LogTest } from './rpcBlocks.ts'
import { canonical } from './rpcBlocks.ts'

const tags = ['latest', 'pending', 'safe', 'finalized', 'earliest'] as const

/** Newest block that can be read now. */
export function headOf(venueState: VenueState): number {
  return headAt(venueState.blockChain, venueState.clock.now())
}

/** Number of a tag or quantity; it may be above the head. Throws RpcError -32602. */
export function readBlockNumber(venueState: VenueState, value: unknown, name = 'block'): number {
  const head = headOf(venueState)
  if (value === undefined || value === null || value === 'latest' || value === 'pending') return head
  if (value === 'safe') return Math.max(0, head - venueState.settings.safeLagBlocks)
  if (value === 'finalized') return Math.max(0, head - venueState.settings.finalizedLagBlocks)
  if (value === 'earliest') return 0
  if (typeof value === 'string' && value.startsWith('0x')) return readQuantity(value, name)
  throw invalidParams(`invalid argument: ${name} must be a block number or one of ${tags.join(', ')}`)
}

/** The block of a hash that the chain has, or had. */
export function findBlock(venueState: VenueState, hash: Hex): Inclusion | undefined {
  return blockOfHash(venueState.blockChain, hash, headOf(venueState))
}

/** Tells whether a version of a block is on the chain. */
export function isCanonical(blocks: BlockChain, block: Inclusion): boolean {
  return generationAt(blocks, block.number) === block.generation
}

/**
 * The block whose state a call reads: a number, a tag, or an object of EIP-1898.
 *
 * @throws RpcError -32602 for another shape, -32000 above the head and for a replaced block with `requireCanonical`,
 * -32001 for an unknown hash
 */
export function readStateBlock(venueState: VenueState, value: unknown): Inclusion {
  if (!isObject(value)) {
    return stateBlockOf(venueState, readBlockNumber(venueState, value))
  }
  const { blockNumber, blockHash, requireCanonical } = value
  if ((blockNumber === undefined) === (blockHash === undefined)) {
    throw invalidParams('invalid argument: name the block by blockNumber or by blockHash')
  }
  if (blockHash === undefined) return stateBlockOf(venueState, readQuantity(blockNumber, 'blockNumber'))
  if (requireCanonical !== undefined && typeof requireCanonical !== 'boolean') {
    throw invalidParams('invalid argument: requireCanonical must be true or false')
  }
  const block = findBlock(venueState, readHash(blockHash, 'blockHash'))
  if (block === undefined) throw new RpcError(rpcCodes.notFound, 'header for hash not found')
  if (requireCanonical === true && !isCanonical(venueState.blockChain, block)) {
    throw new RpcError(rpcCodes.invalidInput, 'hash is not currently canonical')
  }
  return block
}

function stateBlockOf(venueState: VenueState, number: number): Inclusion {
  if (number > headOf(venueState)) throw new RpcError(rpcCodes.invalidInput, 'header not found')
  return canonical(venueState.blockChain, number)
}

/** Addresses and topics that a log must have. */
export interface LogFilter {
  /** Lower case; undefined = any. */
  readonly addresses: ReadonlySet<string> | undefined
  /** By position; undefined = any. */
  readonly topics: readonly (ReadonlySet<string> | undefined)[]
}

/** Most topics or addresses that one filter may list at a place. */
const MAX_ALTERNATIVES = 1000

function setOf(value: unknown, read: (one: unknown) => Hex): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return undefined
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length > MAX_ALTERNATIVES)
    throw invalidParams(`a filter takes at most ${MAX_ALTERNATIVES} alternatives`)
  // An empty list is any, as with the nodes.
  return list.length === 0 ? undefined : new Set(list.map(read))
}

/** Reads `address` and `topics` of a filter. Throws RpcError -32602. */
export function readLogFilter(filter: Readonly<Record<string, unknown>>): LogFilter {
  const { address, topics } = filter
  if (topics !== undefined && topics !== null && (!Array.isArray(topics) || topics.length > 4)) {
    throw invalidParams('invalid argument: topics must be a list of at most 4')
  }
  const places: readonly unknown[] = Array.isArray(topics) ? topics : []
  return {
    addresses: setOf(address, (one) => readAddress(one, 'address')),
    topics: places.map((place) =>
      Array.isArray(place) && place.includes(null)
        ? undefined
        : setOf(place, (one) => readHash(one, 'topic')),
    ),
  }
}

/** The filter as a test of a log's topics and contract. */
export function logTestOf(filter: LogFilter): LogTest {
  return (topics, address) =>
    (filter.addresses === undefined || filter.addresses.has(hexKey(address))) &&
    filter.topics.every((wanted, i) => {
      const topic = topics[i]
      return topic !== undefined && (wanted === undefined || wanted.has(hexKey(topic)))
    })
}
