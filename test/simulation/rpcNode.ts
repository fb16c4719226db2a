/**
 * One node of the modelled chain behind JSON-RPC: the methods that `src/chain` asks, answered from one branch up to a newest
 * block. How a node is ill decides what it is made of; what happens to its bytes on the way is `rpcFetch.ts`.
 */
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Branch, ModelChain } from './chainModel.ts'
import {
  branchWith,
  headerOf,
  type LogRow,
  orderRow,
  quantity,
  receiptRow,
  rowsOf,
  transactionRow,
} from './rpcRows.ts'

/** A call as the client wrote it. */
export interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** A node's refusal. */
export class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** What a node stands on, and what it cannot do. */
export interface NodeState {
  readonly chain: ModelChain
  readonly branch: Branch
  /** Its newest block. */
  readonly tip: bigint
  /** The newest block that it calls safe. */
  readonly final: bigint
  readonly account: string
  readonly chainId?: number
  /** It finds no transaction and no event. */
  readonly isBlind?: boolean
  /** Its index of events ends here; the blocks after it have none. */
  readonly indexedTo?: bigint
  /** It keeps no state of blocks before this one. */
  readonly stateFrom?: bigint
  /** Widest range of one question for logs, blocks. */
  readonly maxSpan?: bigint
  /** What it says of every digest, whatever is so. */
  readonly says?: 'used' | 'unused'
}

type Params = readonly unknown[]

const multicall = arbitrum.contracts.multicall.toLowerCase()
const routers = new Set(
  [arbitrum.contracts.gelatoRelayRouter, arbitrum.contracts.subaccountGelatoRelayRouter].map((one) =>
    one.toLowerCase(),
  ),
)
const AGGREGATE3 = '0x82ad56cb'
const DIGESTS = '0x01ac4293'

const unknownBlock = () => new Refusal(-32000, 'header not found')

/** The answer of a node to one call. Throws Refusal. */
export function answerOf(node: NodeState, { method, params }: Call): unknown {
  switch (method) {
    case 'eth_chainId':
      return quantity(node.chainId ?? arbitrum.chainId)
    case 'eth_getBlockByNumber':
      return blockRow(node, numberOf(node, params[0]), params[1] === true)
    case 'eth_getBlockByHash':
      return blockByHash(node, params[0] as Hex)
    case 'eth_call':
      return called(node, params)
    case 'eth_getLogs':
      return logsOf(node, params[0] as Filter)
    case 'eth_getTransactionByHash': {
      const mined = minedOf(node, params)
      return mined === undefined ? null : transactionRow(mined)
    }
    case 'eth_getTransactionReceipt': {
      const mined = minedOf(node, params)
      return mined === undefined ? null : receiptRow(node.branch, mined, node.account)
    }
    default:
      throw new Refusal(-32601, `the method ${method} does not exist/is not available`)
  }
}

function minedOf(node: NodeState, params: Params) {
  const mined = node.isBlind === true ? undefined : rowsOf(node.branch).mined(params[0] as Hex)
  return mined === undefined || mined.block.number > node.tip ? undefined : mined
}

function numberOf({ tip, final }: NodeState, tag: unknown): bigint {
  if (tag === 'latest') return tip
  if (tag === 'safe' || tag === 'finalized') return final
  if (typeof tag !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]*)$/.test(tag))
    throw new Refusal(-32602, 'invalid argument: hex string without 0x prefix')
  return BigInt(tag)
}

function blockRow(node: NodeState, number: bigint, isFull: boolean): unknown {
  const header = number > node.tip ? undefined : headerOf(node.branch, number)
  if (header === undefined) return null
  const { hash, parentHash, seconds } = header
  const txs = node.isBlind === true ? [] : (rowsOf(node.branch).block(number)?.txs ?? [])
  return {
    number: quantity(number),
    hash,
    parentHash,
    timestamp: quantity(seconds),
    transactions: txs.map((tx) => {
      const mined = isFull ? rowsOf(node.branch).mined(tx.hash) : undefined
      return mined === undefined ? tx.hash : transactionRow(mined)
    }),
  }
}

/** Nodes keep blocks that were left behind, and give them by their hash. */
function blockByHash(node: NodeState, hash: Hex): unknown {
  const found = branchWith(node.chain, node.branch, hash)
  if (found === undefined || (found.branch === node.branch && found.block.number > node.tip)) return null
  return blockRow({ ...node, branch: found.branch, tip: found.block.number }, found.block.number, false)
}

// --- calls ---------------------------------------------------------------------------------------------------------

/** The block that a call reads. Throws Refusal when the node has it not, or no longer. */
function stateAt(node: NodeState, at: unknown): bigint {
  let number: bigint
  if (typeof at === 'string') number = numberOf(node, at)
  else {
    const { blockHash, requireCanonical } = at as { blockHash?: Hex; requireCanonical?: boolean }
    if (blockHash === undefined) throw new Refusal(-32602, 'invalid argument: no block')
    const found = branchWith(node.chain, node.branch, blockHash)
    if (found === undefined) throw unknownBlock()
    if (found.branch !== node.branch || found.block.number > node.tip) {
      // A node reads the state of a block that was left, unless it is told that it must not.
      throw requireCanonical === true
        ? new Refusal(-32000, 'hash is not currently canonical')
        : unknownBlock()
    }
    number = found.block.number
  }
  if (number > node.tip) throw unknownBlock()
  if (node.stateFrom !== undefined && number < node.stateFrom)
    throw new Refusal(-32000, `missing trie node ${'ab'.repeat(32)} (path ) state is not available`)
  return number
}

function called(node: NodeState, [call, at]: Params): Hex {
  const { to, data } = call as { to: string; data: Hex }
  const number = stateAt(node, at)
  if (to.toLowerCase() !== multicall) return digestWord(node, to, data, number)
  if (!data.startsWith(AGGREGATE3)) throw new Refusal(3, 'execution reverted')
  const asked = aggregated(data)
  const results = asked.map(([target, callData]) => digestWord(node, target, callData, number).slice(2))
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const heads = results.map((_one, index) => word(results.length * 32 + index * 128))
  const tuples = results.map((result) => word(1) + word(64) + word(32) + result)
  return `0x${word(32)}${word(results.length)}${heads.join('')}${tuples.join('')}`
}

function digestWord({ branch, says }: NodeState, to: string, data: Hex, number: bigint): Hex {
  if (!routers.has(to.toLowerCase())) throw new Refusal(3, `execution reverted: no digests at ${to}`)
  if (!data.startsWith(DIGESTS) || data.length !== 74) throw new Refusal(3, 'execution reverted')
  const use = branch.uses.get(`0x${data.slice(10)}`)
  const isUsed = says === undefined ? use !== undefined && use.block.number <= number : says === 'used'
  return `0x${(isUsed ? '1' : '0').padStart(64, '0')}`
}

/** Targets and data of an `aggregate3`, read by the offsets of its encoding. */
function aggregated(data: Hex): readonly (readonly [string, Hex])[] {
  const digits = data.slice(10)
  const number = (at: number) => Number.parseInt(digits.slice(at * 2, at * 2 + 64), 16)
  const list = number(0)
  const count = number(list)
  return Array.from({ length: count }, (_none, index) => {
    const tuple = list + 32 + number(list + 32 + index * 32)
    const bytes = tuple + number(tuple + 64)
    const target = `0x${digits.slice(tuple * 2 + 24, tuple * 2 + 64)}`
    return [target, `0x${digits.slice(bytes * 2 + 64, bytes * 2 + 64 + number(bytes) * 2)}`] as const
  })
}

// --- logs ----------------------------------------------------------------------------------------------------------

interface Filter {
  readonly address?: string
  readonly topics?: readonly (Hex | readonly Hex[] | null)[]
  readonly fromBlock: Hex
  readonly toBlock: Hex
}

/** Whether a log is one that was asked for. */
export function passes(row: LogRow, { address, topics = [] }: Pick<Filter, 'address' | 'topics'>): boolean {
  if (address !== undefined && row.address !== address.toLowerCase()) return false
  return topics.every((wanted, index) => {
    const topic = row.topics[index]
    return wanted === null || (typeof wanted === 'string' ? wanted === topic : wanted.includes(topic ?? '0x'))
  })
}

/** Ranges above the head are cut to it without a word, as common nodes do. */
function logsOf(node: NodeState, filter: Filter): readonly LogRow[] {
  const from = numberOf(node, filter.fromBlock)
  const to = numberOf(node, filter.toBlock)
  if (from > to) throw new Refusal(-32602, 'invalid block range params')
  if (node.maxSpan !== undefined && to - from >= node.maxSpan)
    throw new Refusal(-32005, 'query returned more than 10000 results')
  if (node.isBlind === true) return []
  const known = node.indexedTo === undefined || node.indexedTo > node.tip ? node.tip : node.indexedTo
  const rows = rowsOf(node.branch).logs(from, to < known ? to : known)
  return rows.map((log) => orderRow(log, node.account)).filter((row) => passes(row, filter))
}
