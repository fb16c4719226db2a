/** The methods of the JSON-RPC endpoint, by name; enough for viem, its wallets among it, and for the order logs. */

import { keccak256 } from 'viem/utils'
import { isObject } from '../../base/isObject.ts'
import { ZERO_HASH } from '../../protocol/address.ts'
import { blockOf, type ChainTransaction, type Inclusion } from '../blocks/blockChain.ts'
import {
  invalidParams,
  quantity,
  readAddress,
  readBytes,
  readHash,
  readQuantity,
} from '../blocks/rpcError.ts'
import { baseFeeOf, estimateGas, feeHistory, priorityFeeOf } from '../blocks/rpcGas.ts'
import { presentOf } from '../state/rpcEndpoints.ts'
import type { VenueState } from '../state/venueState.ts'
import { advanceVenue } from '../transactions/advance.ts'
import { blockRow, canonical, receiptRow, transactionRow, transactionsOf } from './rpcBlocks.ts'
import { callContract, codeAt, nativeBalanceAt, readCall, workersOf } from './rpcCall.ts'
import { filterMethods, type RpcMethod } from './rpcFilters.ts'
import { getLogs } from './rpcLogs.ts'
import { findBlock, headOf, isCanonical, readBlockNumber, readStateBlock } from './rpcParams.ts'
import {
  callWork,
  estimateWork,
  refuseOverrides,
  sendRaw,
  transactionCount,
  waitingRow,
} from './rpcSendMethods.ts'

const rowsOf = (venueState: VenueState) => ({ chain: venueState.chain, blocks: venueState.blockChain })

/** The canonical block of a number or tag; undefined above the head. */
function blockByNumber(venueState: VenueState, value: unknown): Inclusion | undefined {
  const number = readBlockNumber(venueState, value)
  return number > headOf(venueState) ? undefined : canonical(venueState.blockChain, number)
}

/** The block of a hash while it is on the chain. */
function blockByHash(venueState: VenueState, value: unknown): Inclusion | undefined {
  const block = findBlock(venueState, readHash(value, 'block hash'))
  return block !== undefined && isCanonical(venueState.blockChain, block) ? block : undefined
}

function full(value: unknown): boolean {
  if (value === undefined) return false
  if (typeof value !== 'boolean')
    throw invalidParams('invalid argument: full transactions must be true or false')
  return value
}

function transactionAt(venueState: VenueState, block: Inclusion | undefined, position: unknown): unknown {
  const index = readQuantity(position, 'transaction index')
  const transaction = block === undefined ? undefined : transactionsOf(venueState.blockChain, block)[index]
  return transaction === undefined ? null : transactionRow(rowsOf(venueState), transaction, block, index)
}

function transactionOf(venueState: VenueState, value: unknown): ChainTransaction | undefined {
  return venueState.blockChain.byHash.get(readHash(value, 'transaction hash'))
}

function isMined(venueState: VenueState, transaction: ChainTransaction): boolean {
  return blockOf(transaction).number <= headOf(venueState)
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
  eth_chainId: (venueState) => quantity(venueState.chain.chainId),
  net_version: (venueState) => String(venueState.chain.chainId),
  net_listening: () => true,
  // The other endpoint of the venue.
  net_peerCount: () => quantity(1),
  web3_sha3: (_venueState, [bytes]) => keccak256(readBytes(bytes, 'data')),
  web3_clientVersion: () => 'perpd-paper/v1/node',
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_blockNumber: (venueState) => quantity(headOf(venueState)),
  eth_getBlockByNumber: (venueState, [number, withTransactions]) => {
    const block = blockByNumber(venueState, number)
    const isFull = full(withTransactions)
    return block === undefined ? null : blockRow(rowsOf(venueState), block, isFull)
  },
  eth_getBlockByHash: (venueState, [hash, withTransactions]) => {
    const block = blockByHash(venueState, hash)
    const isFull = full(withTransactions)
    return block === undefined ? null : blockRow(rowsOf(venueState), block, isFull)
  },
  eth_getBlockTransactionCountByNumber: (venueState, [number]) => {
    const block = blockByNumber(venueState, number)
    return block === undefined ? null : quantity(transactionsOf(venueState.blockChain, block).length)
  },
  eth_getBlockTransactionCountByHash: (venueState, [hash]) => {
    const block = blockByHash(venueState, hash)
    return block === undefined ? null : quantity(transactionsOf(venueState.blockChain, block).length)
  },
  eth_getTransactionByBlockNumberAndIndex: (venueState, [number, index]) =>
    transactionAt(venueState, blockByNumber(venueState, number), index),
  eth_getTransactionByBlockHashAndIndex: (venueState, [hash, index]) =>
    transactionAt(venueState, blockByHash(venueState, hash), index),
  eth_getTransactionByHash: (venueState, [hash]) => {
    const transaction = transactionOf(venueState, hash)
    if (transaction === undefined) return waitingRow(venueState, readHash(hash, 'transaction hash')) ?? null
    const rows = rowsOf(venueState)
    if (!isMined(venueState, transaction)) return transactionRow(rows, transaction, undefined, 0)
    const block = blockOf(transaction)
    return transactionRow(
      rows,
      transaction,
      block,
      transactionsOf(venueState.blockChain, block).indexOf(transaction),
    )
  },
  eth_getTransactionReceipt: (venueState, [hash]) => {
    const transaction = transactionOf(venueState, hash)
    const isThere = transaction !== undefined && isMined(venueState, transaction)
    return isThere ? receiptRow(rowsOf(venueState), transaction) : null
  },
  eth_getBlockReceipts: (venueState, [named]) => {
    const isHash = typeof named === 'string' && named.length === 66
    const block = isHash
      ? blockByHash(venueState, named)
      : isObject(named)
        ? readStateBlock(venueState, named)
        : blockByNumber(venueState, named)
    if (block === undefined || !isCanonical(venueState.blockChain, block)) return null
    return transactionsOf(venueState.blockChain, block).map((one) => receiptRow(rowsOf(venueState), one))
  },
  // The contracts here keep nothing in slots: each is what it was before its first write.
  eth_getStorageAt: (venueState, [address, slot, block]) => {
    readAddress(address, 'address')
    if (typeof slot !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(slot))
      throw invalidParams('invalid argument: the slot must be at most 32 bytes of hex')
    readStateBlock(venueState, block)
    return ZERO_HASH
  },
  ...filterMethods,
  eth_getLogs: (venueState, [filter]) => getLogs(venueState, filter),
  eth_call: (venueState, [call, block, overrides]) => {
    refuseOverrides(overrides)
    const at = readStateBlock(venueState, block)
    return callWork(venueState, call) ?? callContract(venueState, call, at)
  },
  eth_getCode: (venueState, [address, block]) => {
    readStateBlock(venueState, block)
    return codeAt(venueState, readAddress(address, 'address'))
  },
  eth_getBalance: (venueState, [address, block]) => {
    return quantity(
      nativeBalanceAt(venueState, readAddress(address, 'address'), readStateBlock(venueState, block)),
    )
  },
  eth_getTransactionCount: (venueState, [address, block]) =>
    quantity(
      transactionCount(
        venueState,
        readAddress(address, 'address'),
        block === 'pending' ? undefined : readStateBlock(venueState, block),
      ),
    ),
  eth_sendRawTransaction: (venueState, [raw]) => sendRaw(venueState, raw),
  eth_gasPrice: (venueState) => quantity(baseFeeOf(venueState.blockChain, headOf(venueState) + 1)),
  eth_maxPriorityFeePerGas: (venueState) => quantity(priorityFeeOf(venueState.chain.name)),
  eth_feeHistory: (venueState, [count, newest, percentiles]) => {
    const number = typeof count === 'number' ? count : readQuantity(count, 'block count')
    const block = readStateBlock(venueState, newest)
    if (!Number.isInteger(number) || number < 1)
      throw invalidParams('invalid argument: block count must be positive')
    return feeHistory(venueState.blockChain, number, block.number, percentilesOf(percentiles))
  },
  eth_estimateGas: (venueState, [call, block, overrides]) => {
    refuseOverrides(overrides)
    readStateBlock(venueState, block)
    const work = estimateWork(venueState, call)
    if (work !== undefined) return work
    const { to, data } = readCall(call)
    return quantity(estimateGas(data, to, workersOf(venueState)))
  },
}

/** Runs a method on a venue that is brought to the present first. Undefined for an unknown method. */
export function methodOf(name: string): RpcMethod | undefined {
  const method = Object.hasOwn(rpcMethods, name) ? rpcMethods[name] : undefined
  if (method === undefined) return undefined
  return (venueState, params) => {
    advanceVenue(presentOf(venueState))
    return method(venueState, params)
  }
}
