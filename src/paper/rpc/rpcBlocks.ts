/** Blocks, transactions, receipts and logs as the JSON-RPC endpoint writes them. */
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import {
  type BlockChain,
  blockHash,
  blockOf,
  blockSeconds,
  type ChainLog,
  type ChainTransaction,
  generationAt,
  type Inclusion,
  transactionsBetween,
  viewOf,
} from '../blocks/blockChain.ts'
import { bloomOf, bloomUnion } from '../blocks/bloom.ts'
import { logDataOf, topicsOf } from '../blocks/encodeEventData.ts'
import { actorsOf } from '../blocks/keeperCall.ts'
import { quantity } from '../blocks/rpcError.ts'
import { BLOCK_GAS_LIMIT, baseFeeOf, gasUsedOf } from '../blocks/rpcGas.ts'
import { signedRow } from './rpcSendRows.ts'

const EMPTY_TRIE: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const NO_UNCLES: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** A log as the wire writes it. */
export interface LogRow {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly blockTimestamp: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly logIndex: Hex
  readonly removed: boolean
}

/** Sources of a chain's rows. */
export interface Rows {
  readonly chain: Chain
  readonly blocks: BlockChain
}

/** The version of a block number that is on the chain. */
export function canonical(blocks: BlockChain, number: number): Inclusion {
  return { number, generation: generationAt(blocks, number) }
}

/** Nodes write addresses in lower case. */
function lower(address: Address): Address {
  return address.toLowerCase() as Address
}

/** Returns the sender of a transaction, in lower case. */
export function senderOf({ chain }: Rows, transaction: ChainTransaction): Address {
  const { sender, signed } = transaction
  if (signed !== undefined) return lower(signed.from)
  if (sender === 'account') throw new RangeError(`transaction ${transaction.hash} has no signer`)
  return lower(actorsOf(chain)[sender])
}

/** Contract that a log is of. */
function addressOf({ chain }: Rows, log: ChainLog): Address {
  return lower(log.plain?.address ?? chain.contracts.eventEmitter)
}

/** Contract that calls the event emitter. */
function emitterCaller({ chain }: Rows): Address {
  return actorsOf(chain).orderHandler
}

/** Which logs of a block to write: all, or those for which this holds. */
export type LogTest = (topics: readonly Hex[], address: Address) => boolean

function placeOf(blocks: BlockChain, block: Inclusion) {
  return {
    blockNumber: quantity(block.number),
    blockHash: blockHash(blocks, block),
    blockTimestamp: quantity(blockSeconds(blocks, block.number)),
  }
}

/** Logs of a version of a block, in order; `transactions` are those that it holds or held. */
export function blockLogs(
  rows: Rows,
  block: Inclusion,
  transactions: readonly ChainTransaction[],
  removed: boolean,
  test: LogTest = () => true,
): LogRow[] {
  const found: LogRow[] = []
  // Most blocks of a range hold nothing that is wanted, and a hash is most of the work.
  let place: ReturnType<typeof placeOf> | undefined
  let logIndex = 0
  transactions.forEach((transaction, transactionIndex) => {
    for (const log of transaction.logs) {
      const topics = topicsOf(log)
      const address = addressOf(rows, log)
      if (test(topics, address)) {
        place ??= placeOf(rows.blocks, block)
        found.push({
          address,
          topics,
          data: logDataOf(log, emitterCaller(rows)),
          ...place,
          transactionHash: transaction.hash,
          transactionIndex: quantity(transactionIndex),
          logIndex: quantity(logIndex),
          removed,
        })
      }
      logIndex += 1
    }
  })
  return found
}

function logWords(rows: Rows, transaction: ChainTransaction): Hex[] {
  return transaction.logs.flatMap((log) => [addressOf(rows, log), ...topicsOf(log)])
}

function bloomOfTransaction(rows: Rows, transaction: ChainTransaction): Hex {
  return bloomOf(logWords(rows, transaction).map((word) => word.toLowerCase() as Hex))
}

/** A block as the wire writes it, without its transactions. */
export function headerRow(rows: Rows, block: Inclusion) {
  const { blocks } = rows
  const held = transactionsOf(blocks, block)
  const hash = blockHash(blocks, block)
  const view = viewOf(blocks, block)
  const parent = { number: block.number - 1, generation: generationAt(blocks, block.number - 1, view) }
  const isEmpty = held.length === 0
  return {
    number: quantity(block.number),
    hash,
    parentHash: block.number === 0 ? ZERO_HASH : blockHash(blocks, parent),
    nonce: '0x0000000000000000',
    sha3Uncles: NO_UNCLES,
    logsBloom: bloomUnion(held.map((one) => bloomOfTransaction(rows, one))),
    // Roots name the block's content without a trie behind them: nothing can be proved against a paper chain.
    transactionsRoot: isEmpty ? EMPTY_TRIE : turned(hash, 1),
    receiptsRoot: isEmpty ? EMPTY_TRIE : turned(hash, 2),
    stateRoot: turned(hash, 3),
    miner: ZERO_ADDRESS,
    difficulty: '0x0',
    totalDifficulty: '0x0',
    extraData: '0x',
    size: quantity(540 + held.reduce((sum, one) => sum + 110 + one.input.length / 2, 0)),
    gasLimit: quantity(BLOCK_GAS_LIMIT),
    gasUsed: quantity(held.reduce((sum, one) => sum + gasUsedOf(one), 0)),
    timestamp: quantity(blockSeconds(blocks, block.number)),
    baseFeePerGas: quantity(baseFeeOf(blocks, block.number)),
    mixHash: ZERO_HASH,
  }
}

function turned(hash: Hex, by: number): Hex {
  const digits = hash.slice(2)
  return `0x${digits.slice(by * 8)}${digits.slice(0, by * 8)}`
}

/** Transactions of a version of a block; of a replaced one, those that were in it and are not forgotten. */
export function transactionsOf(blocks: BlockChain, block: Inclusion): readonly ChainTransaction[] {
  if (generationAt(blocks, block.number) === block.generation) {
    return transactionsBetween(blocks, block.number, block.number)
  }
  const lost = blocks.lost.get(viewOf(blocks, block) + 1) ?? []
  return lost
    .filter(({ inclusion }) => inclusion.number === block.number && inclusion.generation === block.generation)
    .map(({ transaction }) => transaction)
}

/** A whole block: with hashes of its transactions, or with the transactions. */
export function blockRow(rows: Rows, block: Inclusion, withTransactions: boolean) {
  const held = transactionsOf(rows.blocks, block)
  return {
    ...headerRow(rows, block),
    transactions: withTransactions
      ? held.map((one, i) => transactionRow(rows, one, block, i))
      : held.map(({ hash }) => hash),
    uncles: [],
  }
}

/** A transaction in a block, or on its way when `block` is undefined. */
export function transactionRow(
  rows: Rows,
  transaction: ChainTransaction,
  block: Inclusion | undefined,
  index: number,
) {
  const { blocks, chain } = rows
  if (transaction.signed !== undefined) {
    return signedRow(
      rows,
      transaction,
      transaction.signed,
      block === undefined ? undefined : { block, index },
    )
  }
  const price = quantity(baseFeeOf(blocks, block?.number ?? blockOf(transaction).number))
  const signature = transaction.hash.slice(2)
  return {
    hash: transaction.hash,
    type: '0x2',
    chainId: quantity(chain.chainId),
    nonce: quantity(transaction.nonce),
    from: senderOf(rows, transaction),
    to: lower(transaction.to),
    value: '0x0',
    input: transaction.input,
    gas: quantity(Math.ceil(gasUsedOf(transaction) * 1.25)),
    gasPrice: price,
    maxFeePerGas: price,
    maxPriorityFeePerGas: '0x0',
    accessList: [],
    // No key signs for the paper relayer and keeper: these words only have the shape of a signature.
    r: `0x${signature}`,
    s: turned(transaction.hash, 4),
    v: '0x0',
    yParity: '0x0',
    blockHash: block === undefined ? null : blockHash(blocks, block),
    blockNumber: block === undefined ? null : quantity(block.number),
    transactionIndex: block === undefined ? null : quantity(index),
  }
}

/** The receipt of a transaction that is in a block of the chain. */
export function receiptRow(rows: Rows, transaction: ChainTransaction) {
  const { blocks } = rows
  const block = blockOf(transaction)
  const held = transactionsBetween(blocks, block.number, block.number)
  const index = held.indexOf(transaction)
  const gas = gasUsedOf(transaction)
  return {
    transactionHash: transaction.hash,
    transactionIndex: quantity(index),
    blockHash: blockHash(blocks, block),
    blockNumber: quantity(block.number),
    from: senderOf(rows, transaction),
    to: lower(transaction.to),
    cumulativeGasUsed: quantity(held.slice(0, index + 1).reduce((sum, one) => sum + gasUsedOf(one), 0)),
    gasUsed: quantity(gas),
    effectiveGasPrice: quantity(transaction.paid?.gasPrice ?? baseFeeOf(blocks, block.number)),
    contractAddress: null,
    logs: blockLogs(rows, block, held, false).filter((log) => log.transactionHash === transaction.hash),
    logsBloom: bloomOfTransaction(rows, transaction),
    type: transaction.signed?.type ?? '0x2',
    status: transaction.revertData === undefined ? '0x1' : '0x0',
  }
}
