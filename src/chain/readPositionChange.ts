/** Reads what a transaction that a host named changed of a position, from final blocks alone. */
import type { PositionChange, PositionChangeQuery } from '../domain/machine/chainReader.ts'
import type { EndpointOptions } from './endpointTypes.ts'
import { positionChangeOf } from './logs/executionLogs.ts'
import type { ChainNode } from './node/node.ts'
import { unreadable } from './wire/jsonRpc.ts'

/**
 * Returns the change that an order made to a position; `none` where the transaction made none, or final blocks of a later time lack it; undefined while
 * that is not final.
 *
 * @throws BaseError as the node's questions do
 */
export async function readPositionChange(
  node: ChainNode,
  options: EndpointOptions,
  query: PositionChangeQuery,
  signal: AbortSignal,
): Promise<PositionChange | 'none' | undefined> {
  const [transaction] = await node.transactions([query.transactionHash], signal)
  if (transaction === undefined) {
    const { laterThanSeconds = Number.POSITIVE_INFINITY } = query
    const { final } = await node.heads([], signal)
    return final.timestampSeconds > laterThanSeconds ? 'none' : undefined
  }
  const { blockHash } = transaction
  // It waits to be mined, and may be yet.
  if (blockHash === undefined) return undefined
  const [receipt] = await node.receipts([{ transactionHash: query.transactionHash, blockHash }], signal)
  const [block] = await node.blocks([blockHash], signal)
  if (receipt === undefined || block === undefined) return undefined
  const { final, hashes } = await node.heads([block.number], signal)
  if (hashes[0] !== blockHash) node.forget()
  if (hashes[0] !== blockHash || block.number > final.number) return undefined
  try {
    const change = receipt.hasSucceeded
      ? positionChangeOf(receipt.logs, options.eventEmitter, query, options.markets, options.wrappedNative)
      : undefined
    return change ?? 'none'
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw unreadable(node.name, error.message)
  }
}
