/** `eth_getLogs`: logs by range or block, address and topics. */

import { isObject } from '../../base/isObject.ts'
import {
  blockOf,
  type ChainTransaction,
  type Inclusion,
  type LostTransaction,
  transactionsBetween,
} from '../blocks/blockChain.ts'
import { invalidParams, RpcError, readHash, rpcCodes } from '../blocks/rpcError.ts'
import type { VenueState } from '../state/venueState.ts'
import { blockLogs, canonical, type LogRow, type LogTest, transactionsOf } from './rpcBlocks.ts'
import { findBlock, headOf, logTestOf, readBlockNumber, readLogFilter } from './rpcParams.ts'

/** Widest range of one query, blocks. */
const MAX_LOG_RANGE = 100_000
/** Most logs that one query answers. */
const MAX_LOG_RESULTS = 10_000

/** Logs of the blocks `first` to `last` that pass the test, in the chain's order. Throws RpcError -32005 above the limit. */
export function logsBetween(
  venueState: VenueState,
  first: number,
  last: number,
  test: LogTest,
  limit: number,
): LogRow[] {
  const rows = { chain: venueState.chain, blocks: venueState.blockChain }
  const found: LogRow[] = []
  let block: ChainTransaction[] = []
  const flush = (): void => {
    const [any] = block
    if (any === undefined) return
    found.push(...blockLogs(rows, canonical(venueState.blockChain, blockOf(any).number), block, false, test))
    block = []
  }
  for (const transaction of transactionsBetween(venueState.blockChain, first, last)) {
    const [any] = block
    if (any !== undefined && blockOf(any).number !== blockOf(transaction).number) flush()
    block.push(transaction)
    if (found.length > limit) break
  }
  flush()
  if (found.length > limit) {
    throw new RpcError(rpcCodes.limitExceeded, `query returned more than ${limit} results`)
  }
  return found
}

/** The logs of blocks up to `told` that a reorganisation took away, newest block first. */
export function lostLogs(
  venueState: VenueState,
  lost: readonly LostTransaction[],
  told: number,
  test: LogTest,
): LogRow[] {
  const byBlock = new Map<number, { block: Inclusion; transactions: ChainTransaction[] }>()
  for (const { transaction, inclusion } of lost) {
    const held = byBlock.get(inclusion.number) ?? { block: inclusion, transactions: [] }
    held.transactions.push(transaction)
    byBlock.set(inclusion.number, held)
  }
  const rows = { chain: venueState.chain, blocks: venueState.blockChain }
  return [...byBlock.values()]
    .reverse()
    .flatMap(({ block, transactions }) =>
      block.number > told ? [] : blockLogs(rows, block, transactions, true, test),
    )
}

/**
 * `eth_getLogs`. Ranges above the head are cut to it.
 *
 * @throws RpcError -32602 for a bad filter, -32001 for an unknown block hash, -32005 above the limits
 */
export function getLogs(venueState: VenueState, filter: unknown): LogRow[] {
  if (!isObject(filter)) throw invalidParams('invalid argument: the filter must be an object')
  const wanted = readLogFilter(filter)
  const test = logTestOf(wanted)
  const { blockHash, fromBlock, toBlock } = filter
  if (blockHash !== undefined) {
    if (fromBlock !== undefined || toBlock !== undefined) {
      throw invalidParams('invalid argument: name blocks by blockHash or by range, not both')
    }
    const block = findBlock(venueState, readHash(blockHash, 'blockHash'))
    if (block === undefined) throw new RpcError(rpcCodes.notFound, 'unknown block')
    const rows = { chain: venueState.chain, blocks: venueState.blockChain }
    return blockLogs(rows, block, transactionsOf(venueState.blockChain, block), false, test)
  }
  const first = readBlockNumber(venueState, fromBlock, 'fromBlock')
  const last = readBlockNumber(venueState, toBlock, 'toBlock')
  if (first > last) throw invalidParams('invalid block range params: fromBlock is above toBlock')
  if (last - first >= MAX_LOG_RANGE) {
    throw new RpcError(rpcCodes.limitExceeded, `block range is wider than ${MAX_LOG_RANGE} blocks`)
  }
  return logsBetween(venueState, first, Math.min(last, headOf(venueState)), test, MAX_LOG_RESULTS)
}
