/** The methods of the JSON-RPC endpoint, by name; enough for viem, its wallets among it, and for the order logs. */

import { advanceWorld } from './advance.ts'
import { blockOf, type ChainTransaction, type Inclusion } from './chain.ts'
import { blockRow, canonical, receiptRow, transactionRow, transactionsOf } from './rpcBlocks.ts'
import { callContract, codeAt, nativeBalanceAt, readCall, workersOf } from './rpcCall.ts'
import { presentOf } from './rpcEndpoints.ts'
import { invalidParams, quantity, readAddress, readHash, readQuantity } from './rpcError.ts'
import { baseFeeOf, estimateGas, feeHistory, priorityFeeOf } from './rpcGas.ts'
import { getLogs } from './rpcLogs.ts'
import { findBlock, headOf, isCanonical, readBlockNumber, readStateBlock } from './rpcParams.ts'
import { callWork, estimateWork, sendRaw, transactionCount, waitingRow } from './rpcSendMethods.ts'
import type { World } from './world.ts'

/** A method: parameters in, result out. Throws RpcError. */
export type RpcMethod = (world: World, params: readonly unknown[]) => unknown

const rowsOf = (world: World) => ({ chain: world.chain, blocks: world.blockChain })

/** The canonical block of a number or tag; undefined above the head. */
function blockByNumber(world: World, value: unknown): Inclusion | undefined {
  const number = readBlockNumber(world, value)
  return number > headOf(world) ? undefined : canonical(world.blockChain, number)
}

/** The block of a hash while it is on the chain. */
function blockByHash(world: World, value: unknown): Inclusion | undefined {
  const block = findBlock(world, readHash(value, 'block hash'))
  return block !== undefined && isCanonical(world.blockChain, block) ? block : undefined
}

function full(value: unknown): boolean {
  if (value === undefined) return false
  if (typeof value !== 'boolean')
    throw invalidParams('invalid argument: full transactions must be true or false')
  return value
}

function transactionAt(world: World, block: Inclusion | undefined, position: unknown): unknown {
  const index = readQuantity(position, 'transaction index')
  const transaction = block === undefined ? undefined : transactionsOf(world.blockChain, block)[index]
  return transaction === undefined ? null : transactionRow(rowsOf(world), transaction, block, index)
}

function transactionOf(world: World, value: unknown): ChainTransaction | undefined {
  return world.blockChain.byHash.get(readHash(value, 'transaction hash'))
}

function isMined(world: World, transaction: ChainTransaction): boolean {
  return blockOf(transaction).number <= headOf(world)
}

function percentilesOf(value: unknown): readonly number[] {
  if (value === undefined || value === null) return []
  const isList = Array.isArray(value) && value.length <= 100
  if (!isList || !value.every((one) => typeof one === 'number' && one >= 0 && one <= 100)) {
    throw invalidParams('invalid argument: reward percentiles must be numbers from 0 to 100')
  }
  return value
}

/** Every method that needs no subscription. */
export const rpcMethods: Readonly<Record<string, RpcMethod>> = {
  eth_chainId: (world) => quantity(world.chain.chainId),
  net_version: (world) => String(world.chain.chainId),
  net_listening: () => true,
  web3_clientVersion: () => 'perpd-paper/v1/node',
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_blockNumber: (world) => quantity(headOf(world)),
  eth_getBlockByNumber: (world, [number, withTransactions]) => {
    const block = blockByNumber(world, number)
    const isFull = full(withTransactions)
    return block === undefined ? null : blockRow(rowsOf(world), block, isFull)
  },
  eth_getBlockByHash: (world, [hash, withTransactions]) => {
    const block = blockByHash(world, hash)
    const isFull = full(withTransactions)
    return block === undefined ? null : blockRow(rowsOf(world), block, isFull)
  },
  eth_getBlockTransactionCountByNumber: (world, [number]) => {
    const block = blockByNumber(world, number)
    return block === undefined ? null : quantity(transactionsOf(world.blockChain, block).length)
  },
  eth_getBlockTransactionCountByHash: (world, [hash]) => {
    const block = blockByHash(world, hash)
    return block === undefined ? null : quantity(transactionsOf(world.blockChain, block).length)
  },
  eth_getTransactionByBlockNumberAndIndex: (world, [number, index]) =>
    transactionAt(world, blockByNumber(world, number), index),
  eth_getTransactionByBlockHashAndIndex: (world, [hash, index]) =>
    transactionAt(world, blockByHash(world, hash), index),
  eth_getTransactionByHash: (world, [hash]) => {
    const transaction = transactionOf(world, hash)
    if (transaction === undefined) return waitingRow(world, readHash(hash, 'transaction hash')) ?? null
    const rows = rowsOf(world)
    if (!isMined(world, transaction)) return transactionRow(rows, transaction, undefined, 0)
    const block = blockOf(transaction)
    return transactionRow(
      rows,
      transaction,
      block,
      transactionsOf(world.blockChain, block).indexOf(transaction),
    )
  },
  eth_getTransactionReceipt: (world, [hash]) => {
    const transaction = transactionOf(world, hash)
    const isThere = transaction !== undefined && isMined(world, transaction)
    return isThere ? receiptRow(rowsOf(world), transaction) : null
  },
  eth_getLogs: (world, [filter]) => getLogs(world, filter),
  eth_call: (world, [call, block, overrides]) => {
    if (overrides !== undefined && overrides !== null)
      throw invalidParams('state overrides are not supported')
    const at = readStateBlock(world, block)
    return callWork(world, call) ?? callContract(world, call, at)
  },
  eth_getCode: (world, [address, block]) => {
    readStateBlock(world, block)
    return codeAt(world, readAddress(address, 'address'))
  },
  eth_getBalance: (world, [address, block]) => {
    return quantity(nativeBalanceAt(world, readAddress(address, 'address'), readStateBlock(world, block)))
  },
  eth_getTransactionCount: (world, [address, block]) =>
    quantity(
      transactionCount(
        world,
        readAddress(address, 'address'),
        block === 'pending' ? undefined : readStateBlock(world, block),
      ),
    ),
  eth_sendRawTransaction: (world, [raw]) => sendRaw(world, raw),
  eth_gasPrice: (world) => quantity(baseFeeOf(world.blockChain, headOf(world) + 1)),
  eth_maxPriorityFeePerGas: (world) => quantity(priorityFeeOf(world.chain.name)),
  eth_feeHistory: (world, [count, newest, percentiles]) => {
    const number = typeof count === 'number' ? count : readQuantity(count, 'block count')
    const block = readStateBlock(world, newest)
    if (!Number.isInteger(number) || number < 1)
      throw invalidParams('invalid argument: block count must be positive')
    return feeHistory(world.blockChain, number, block.number, percentilesOf(percentiles))
  },
  eth_estimateGas: (world, [call]) => {
    const work = estimateWork(world, call)
    if (work !== undefined) return work
    const { to, data } = readCall(call)
    return quantity(estimateGas(data, to, workersOf(world)))
  },
}

/** Runs a method on a world that is brought to the present first. Undefined for an unknown method. */
export function methodOf(name: string): RpcMethod | undefined {
  const method = Object.hasOwn(rpcMethods, name) ? rpcMethods[name] : undefined
  if (method === undefined) return undefined
  return (world, params) => {
    advanceWorld(presentOf(world))
    return method(world, params)
  }
}
