/**
 * One endpoint as typed questions: what a look asks of it. What can never change under its name (a block, a transaction or
 * a receipt by hash) is remembered; everything else is asked anew.
 */
import { BaseError } from '../../base/errors.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Finality } from '../../protocol/chains/finality.ts'
import type { GasPrice } from '../../protocol/gasPrice.ts'
import { type RpcAnswer, type RpcCall, type RpcClient, unreadable } from '../wire/jsonRpc.ts'
import {
  type BlockRow,
  createRowReader,
  type FullBlock,
  type LogRow,
  type ReceiptRow,
  type TransactionRow,
} from './blockRows.ts'
import { createBoundedMap } from './boundedMap.ts'
import { type DigestAt, digestCall, digestCalls, pinnedTo, readDigest, readDigests } from './digests.ts'

/** Most logs that one answer may hold. */
const MAX_LOGS = 20_000
/** Highest gas price that is believed, wei: 100,000 gwei. */
const MOST_GAS_PRICE = 10n ** 14n
const BLOCKS_KEPT = 4_096
const TRANSACTIONS_KEPT = 4_096
const RECEIPTS_KEPT = 2_048

/** The head of a chain as one endpoint shows it. */
export interface Heads {
  readonly latest: BlockRow
  readonly final: BlockRow
}

/** Questions to one endpoint. All reject with BaseError RPC_UNANSWERED, RPC_UNREADABLE or RPC_REFUSED. */
export interface ChainNode {
  readonly name: string
  /** Requests sent since the start. */
  requests(): number
  chainId(signal: AbortSignal): Promise<bigint>
  latest(signal: AbortSignal): Promise<BlockRow>
  gasPrice(signal: AbortSignal): Promise<GasPrice>
  /** Balance of the native coin in the latest block, wei. */
  nativeBalance(account: Address, signal: AbortSignal): Promise<bigint>
  /** Latest and final block, and the hash that each number given has now; undefined above the head. */
  heads(
    numbers: readonly bigint[],
    signal: AbortSignal,
  ): Promise<Heads & { readonly hashes: readonly (Hex | undefined)[] }>
  /** Reads whether digests were used, at each of the blocks given by hash: one row a block. Fails when one of them is replaced. */
  digestsAt(
    digests: readonly DigestAt[],
    blocks: readonly Hex[],
    signal: AbortSignal,
  ): Promise<readonly (readonly boolean[])[]>
  /**
   * Reads whether each digest was used at two blocks given by hash. Undefined where the endpoint refuses one of them, because it was replaced or is
   * too old.
   */
  usesAt(
    wanted: readonly { readonly digest: DigestAt; readonly before: Hex; readonly at: Hex }[],
    signal: AbortSignal,
  ): Promise<readonly ({ readonly before: boolean; readonly at: boolean } | undefined)[]>
  /** Reads whether one digest was used at the block that has a number now. */
  digestAtNumber(digest: DigestAt, number: bigint, signal: AbortSignal): Promise<boolean>
  logs(
    filter: {
      readonly address: Address
      readonly topics: readonly unknown[]
      readonly from: bigint
      readonly to: bigint
    },
    signal: AbortSignal,
  ): Promise<readonly LogRow[]>
  blockByNumber(number: bigint, signal: AbortSignal): Promise<BlockRow>
  /** Blocks by hash, in the order asked. */
  blocks(hashes: readonly Hex[], signal: AbortSignal): Promise<readonly BlockRow[]>
  fullBlock(number: bigint, signal: AbortSignal): Promise<FullBlock>
  /** Transactions by hash, in the order asked; undefined where the endpoint knows none, or not its block yet. */
  transactions(hashes: readonly Hex[], signal: AbortSignal): Promise<readonly (TransactionRow | undefined)[]>
  /** Receipts by transaction and block, in the order asked; undefined where the endpoint has none of that block. */
  receipts(
    wanted: readonly { readonly transactionHash: Hex; readonly blockHash: Hex }[],
    signal: AbortSignal,
  ): Promise<readonly (ReceiptRow | undefined)[]>
  /** Forgets what the chain took back. */
  forget(): void
  close(): void
}

/** Makes the questions to an endpoint. */
export function createChainNode(
  client: RpcClient,
  chain: { readonly multicall: Address },
  finality: Finality,
): ChainNode {
  const rows = createRowReader(client.name)
  const blocksByHash = createBoundedMap<BlockRow>(BLOCKS_KEPT)
  const transactionsByHash = createBoundedMap<TransactionRow>(TRANSACTIONS_KEPT)
  const receiptsByPlace = createBoundedMap<ReceiptRow>(RECEIPTS_KEPT)

  /** Results of calls; a refusal of one is a fault of the whole question. */
  async function ask(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    if (calls.length === 0) return []
    const answers: readonly RpcAnswer[] = await client.request(calls, signal)
    return calls.map(({ method }, index) => rows.resultOf(answers[index], method))
  }

  /** Turns a decoder's complaint into a fault of the endpoint: the unreadable data is its own. */
  function reading<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (error instanceof BaseError) throw error
      throw unreadable(
        client.name,
        error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it does not decode',
      )
    }
  }

  function tagged(number: bigint | string, full = false): RpcCall {
    const tag = typeof number === 'string' ? number : `0x${number.toString(16)}`
    return { method: 'eth_getBlockByNumber', params: [tag, full] }
  }

  async function blockByNumber(number: bigint, signal: AbortSignal): Promise<BlockRow> {
    const [value] = await ask([tagged(number)], signal)
    const block = rows.block(value)
    if (block.number !== number) throw unreadable(client.name, 'a block has another number than was asked')
    return block
  }

  /** The block of a tag. An endpoint whose node does not know the tag answers null, or refuses, as it answers all else. */
  function taggedBlock(tag: string, answer: RpcAnswer | undefined): BlockRow {
    const isRefused = answer !== undefined && 'refused' in answer
    const value = isRefused ? null : rows.resultOf(answer, 'eth_getBlockByNumber')
    if (value !== null) return rows.block(value)
    const words = isRefused ? ` (it says "${answer.refused.message}", ${answer.refused.code})` : ''
    throw unreadable(
      client.name,
      `it knows no block as ${tag}${words}; rpc.finality takes another tag, or a number of blocks behind the newest`,
    )
  }

  /** Reads what is not remembered, in one batch. */
  async function remembered<T, R>(
    wanted: readonly T[],
    known: (one: T) => R | undefined,
    call: (one: T) => RpcCall,
    keep: (one: T, value: unknown) => R | undefined,
    signal: AbortSignal,
  ): Promise<readonly (R | undefined)[]> {
    const found = wanted.map(known)
    const missing = wanted.filter((_one, index) => found[index] === undefined)
    const values = await ask(missing.map(call), signal)
    let at = 0
    return wanted.map((one, index) => {
      const old = found[index]
      if (old !== undefined) return old
      const value = values[at]
      at += 1
      return keep(one, value)
    })
  }

  return {
    name: client.name,
    requests: () => client.requests(),
    async chainId(signal) {
      const [value] = await ask([{ method: 'eth_chainId', params: [] }], signal)
      return rows.quantity(value, 'the chain id')
    },
    async latest(signal) {
      const [value] = await ask([tagged('latest')], signal)
      return rows.block(value)
    },
    async gasPrice(signal) {
      const calls = ['eth_gasPrice', 'eth_maxPriorityFeePerGas'].map((method) => ({ method, params: [] }))
      const [price, priority] = await client.request(calls, signal)
      const networkGasPrice = rows.quantity(rows.resultOf(price, 'eth_gasPrice'), 'the gas price')
      // Chains without tips need not know the call.
      const priorityFee =
        priority === undefined || 'refused' in priority
          ? 0n
          : rows.quantity(priority.result, 'the priority fee')
      if (networkGasPrice === 0n || networkGasPrice > MOST_GAS_PRICE || priorityFee > MOST_GAS_PRICE)
        throw unreadable(client.name, `${networkGasPrice} and ${priorityFee} wei are no gas price`)
      return { networkGasPrice, priorityFee }
    },
    async nativeBalance(account, signal) {
      const [answer] = await client.request(
        [{ method: 'eth_getBalance', params: [account, 'latest'] }],
        signal,
      )
      return rows.quantity(rows.resultOf(answer, 'eth_getBalance'), 'the balance')
    },
    async heads(numbers, signal) {
      const named = typeof finality === 'string' ? [tagged(finality)] : []
      const calls = [tagged('latest'), ...named, ...numbers.map((number) => tagged(number))]
      const answers = await client.request(calls, signal)
      const valueAt = (index: number) => rows.resultOf(answers[index], 'eth_getBlockByNumber')
      const latest = rows.block(valueAt(0))
      const hashes = numbers.map((_number, index) => {
        const value = valueAt(1 + named.length + index)
        return value === null ? undefined : rows.block(value).hash
      })
      let final: BlockRow
      if (typeof finality === 'string') {
        final = taggedBlock(finality, answers[1])
      } else {
        const depth = BigInt(finality.depth)
        final = await blockByNumber(latest.number > depth ? latest.number - depth : 0n, signal)
      }
      if (final.number > latest.number || final.timestampSeconds > latest.timestampSeconds) {
        throw unreadable(client.name, 'its final block is newer than its latest')
      }
      return { latest, final, hashes }
    },
    async digestsAt(digests, blocks, signal) {
      if (digests.length === 0) return blocks.map(() => [])
      const perBlock = blocks.map((hash) => digestCalls(digests, chain.multicall, pinnedTo(hash)))
      const values = await ask(perBlock.flat(), signal)
      let at = 0
      return perBlock.map((calls) => {
        const returned = values
          .slice(at, at + calls.length)
          .map((value) => rows.bytes(value, 'what a call returned'))
        at += calls.length
        return reading(() => readDigests(returned, digests.length))
      })
    },
    async usesAt(wanted, signal) {
      if (wanted.length === 0) return []
      const calls = wanted.flatMap(({ digest, before, at }) =>
        [before, at].map((hash) => digestCall(digest, pinnedTo(hash))),
      )
      const answers = await client.request(calls, signal)
      const used = answers.map((answer) =>
        'refused' in answer
          ? undefined
          : reading(() => readDigest(rows.bytes(answer.result, 'what a call returned'))),
      )
      return wanted.map((_one, index) => {
        const [before, at] = [used[index * 2], used[index * 2 + 1]]
        return before === undefined || at === undefined ? undefined : { before, at }
      })
    },
    async digestAtNumber(digest, number, signal) {
      const [value] = await ask([digestCall(digest, `0x${number.toString(16)}`)], signal)
      return reading(() => readDigest(rows.bytes(value, 'what a call returned')))
    },
    async logs({ address, topics, from, to }, signal) {
      const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }
      const [value] = await ask([{ method: 'eth_getLogs', params: [{ address, topics, ...range }] }], signal)
      const logs = rows.logs(value, MAX_LOGS)
      if (logs.some(({ blockNumber }) => blockNumber < from || blockNumber > to)) {
        throw unreadable(client.name, 'a log is of a block that was not asked for')
      }
      return logs
    },
    blockByNumber,
    async blocks(hashes, signal) {
      const found = await remembered(
        hashes,
        (hash) => blocksByHash.get(hash),
        (hash) => ({ method: 'eth_getBlockByHash', params: [hash, false] }),
        (hash, value) => {
          const block = value === null ? undefined : rows.block(value)
          if (block !== undefined && block.hash !== hash) {
            throw unreadable(client.name, 'a block has another hash than was asked')
          }
          if (block !== undefined) blocksByHash.set(hash, block)
          return block
        },
        signal,
      )
      return found.map((block) => {
        if (block === undefined)
          throw unreadable(client.name, 'it does not know the block of a log that it returned')
        return block
      })
    },
    async fullBlock(number, signal) {
      const [value] = await ask([tagged(number, true)], signal)
      const block = rows.fullBlock(value)
      if (block.number !== number) throw unreadable(client.name, 'a block has another number than was asked')
      return block
    },
    transactions: (hashes, signal) =>
      remembered(
        hashes,
        (hash) => transactionsByHash.get(hash),
        (hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }),
        (hash, value) => {
          const transaction = rows.transaction(value)
          if (transaction === undefined) return undefined
          if (transaction.hash !== hash)
            throw unreadable(client.name, 'a transaction has another hash than was asked')
          // Not mined yet, or about to move to another block: worth asking again.
          if (transaction.blockHash !== undefined) transactionsByHash.set(hash, transaction)
          return transaction
        },
        signal,
      ),
    receipts: (wanted, signal) =>
      remembered(
        wanted,
        ({ transactionHash, blockHash }) => receiptsByPlace.get(`${transactionHash}:${blockHash}`),
        ({ transactionHash }) => ({ method: 'eth_getTransactionReceipt', params: [transactionHash] }),
        ({ transactionHash, blockHash }, value) => {
          const receipt = rows.receipt(value)
          if (receipt === undefined) return undefined
          if (receipt.transactionHash !== transactionHash) {
            throw unreadable(client.name, 'a receipt is of another transaction than was asked')
          }
          if (receipt.blockHash !== blockHash) return undefined
          receiptsByPlace.set(`${transactionHash}:${blockHash}`, receipt)
          return receipt
        },
        signal,
      ),
    forget() {
      transactionsByHash.clear()
    },
    close: () => client.close(),
  }
}
