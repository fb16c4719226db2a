/** Reorganisations: the newest blocks are replaced, and their transactions return later or are gone. */
import type { Hex } from '../../protocol/address.ts'
import {
  type BlockChain,
  blockOf,
  forget,
  generationAt,
  headAt,
  positionOf,
  transactionsBetween,
} from './blockChain.ts'

/** Most blocks one reorganisation replaces. */
export const MAX_REORG_BLOCKS = 10_000
/** Most reorganisations in the life of a venue; hashes carry their number. */
export const MAX_REORGS = 10_000
/** Reorganisations whose lost blocks are still told to subscribers. */
const LOST_KEPT = 16

/** Result of a reorganisation. */
export interface ReorgReport {
  readonly first: number
  readonly last: number
  readonly transactions: readonly Hex[]
  /** Block the transactions return in; absent when they are gone. */
  readonly returnsIn?: number
}

/**
 * Replaces the newest `blocks` blocks. Their transactions return in a later block in their old order, or are gone; what the
 * application's peers have told stays told, as with a peer that follows another node.
 *
 * @throws RangeError outside 1..MAX_REORG_BLOCKS, or after MAX_REORGS
 */
export function reorganise(
  chain: BlockChain,
  options: {
    readonly nowMs: number
    readonly blocks: number
    readonly returnAfterBlocks: number | undefined
  },
): ReorgReport {
  const { blocks, returnAfterBlocks } = options
  if (
    !Number.isInteger(blocks) ||
    blocks < 1 ||
    blocks > MAX_REORG_BLOCKS ||
    chain.reorgs.length >= MAX_REORGS
  ) {
    throw new RangeError(`cannot replace ${blocks} blocks`)
  }
  const last = headAt(chain, options.nowMs)
  const first = Math.max(0, last - blocks + 1)
  const moved = transactionsBetween(chain, first, last)
  chain.transactions.splice(positionOf(chain, first), moved.length)
  const lost = moved.map((transaction) => ({ transaction, inclusion: blockOf(transaction) }))
  chain.reorgs.push({ first, last })
  chain.lost.set(chain.reorgs.length, lost)
  chain.lost.delete(chain.reorgs.length - LOST_KEPT)
  const transactions = moved.map(({ hash }) => hash)
  if (returnAfterBlocks === undefined) {
    for (const transaction of moved) forget(chain, transaction)
    return { first, last, transactions }
  }
  const returnsIn = last + Math.max(1, returnAfterBlocks)
  const back = { number: returnsIn, generation: generationAt(chain, returnsIn) }
  for (const transaction of moved) transaction.inclusions.push(back)
  // Transactions mined since, in the block that is still open, may depend on the returning ones, so they come after them.
  const later = positionOf(chain, last + 1)
  for (const transaction of chain.transactions.slice(later)) {
    if (blockOf(transaction).number < returnsIn) transaction.inclusions.splice(-1, 1, back)
  }
  chain.transactions.splice(later, 0, ...moved)
  return { first, last, transactions, returnsIn }
}
