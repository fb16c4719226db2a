/**
 * The chain of a venue in the same process, read from the venue's state by the functions that its endpoint answers with: no text, no hex, no timeout.
 * Everything that proves an order stands above it and is unchanged: heads, digests at both of them, logs, receipts and blocks.
 */
import type { DigestAt } from '../../chain/node/digests.ts'
import { type ChainNode, createChainNode } from '../../chain/node/node.ts'
import { type RpcAnswer, type RpcCall, refusedBy } from '../../chain/wire/jsonRpc.ts'
import { blockHash, blockSeconds, transactionsBetween } from '../../paper/blocks/blockChain.ts'
import { RpcError } from '../../paper/blocks/rpcError.ts'
import { canonical } from '../../paper/rpc/rpcBlocks.ts'
import { isDigestUsed } from '../../paper/rpc/rpcCall.ts'
import { methodOf } from '../../paper/rpc/rpcMethods.ts'
import { headOf, readBlockNumber, readStateBlock } from '../../paper/rpc/rpcParams.ts'
import type { Venue } from '../../paper/server/venue.ts'
import type { VenueState } from '../../paper/state/venueState.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'

/** Finality of a lab's chain, by the tag of its block. */
export const FINALITY = 'safe'

/** Returns what puts the node of a venue in the place of those that are asked over the wire; `look` sees the venue before each answer. */
export function directNodes(venue: Venue, look: () => void): (node: ChainNode) => ChainNode {
  const advance = (): void => {
    venue.advance()
    look()
  }
  return ({ name }) => directNode(name, venue.venueState, advance)
}

/** Makes the node of a venue. `advance` brings the venue to the present before it is read. */
export function directNode(name: string, venueState: VenueState, advance: () => void): ChainNode {
  const { blockChain, chain } = venueState
  let requests = 0

  function answerOf({ method, params }: RpcCall): RpcAnswer {
    try {
      return { result: methodOf(method)?.(venueState, params) }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      return { refused: { code: error.code, message: error.message } }
    }
  }

  function begin(): void {
    requests += 1
    advance()
  }

  function blockOfNumber(number: number) {
    return {
      number: BigInt(number),
      hash: blockHash(blockChain, canonical(blockChain, number)),
      parentHash: blockHash(blockChain, canonical(blockChain, number - 1)),
      timestampSeconds: blockSeconds(blockChain, number),
    }
  }

  function blockOfHash(hash: Hex) {
    try {
      return readStateBlock(venueState, { blockHash: hash, requireCanonical: true })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      throw refusedBy(name, 'eth_call', error.code, error.message)
    }
  }

  const client = {
    name,
    requests: () => requests,
    async request(calls: readonly RpcCall[]) {
      begin()
      return calls.map(answerOf)
    },
    close: () => undefined,
  }
  const whole = createChainNode(client, chain.contracts, FINALITY)
  return {
    ...whole,
    async heads(numbers) {
      begin()
      const head = headOf(venueState)
      const hashes = numbers.map((number): Hex | undefined =>
        number > head ? undefined : blockHash(blockChain, canonical(blockChain, Number(number))),
      )
      return {
        latest: blockOfNumber(head),
        final: blockOfNumber(readBlockNumber(venueState, FINALITY)),
        hashes,
      }
    },
    async digestsAt(digests: readonly DigestAt[], blocks) {
      begin()
      return blocks.map((hash) => {
        const block = blockOfHash(hash)
        return digests.map(({ router, digest }) => isDigestUsed(venueState, hexKey(router), digest, block))
      })
    },
    async logs(filter, signal) {
      begin()
      // Most looks ask for blocks that hold nothing.
      const last = Math.min(Number(filter.to), headOf(venueState))
      const isEmpty = transactionsBetween(blockChain, Number(filter.from), last).length === 0
      return isEmpty ? [] : whole.logs(filter, signal)
    },
  }
}
