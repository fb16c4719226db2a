/**
 * An endpoint that lies, on the wire: with heads far ahead of every deadline it says that used digests are unused, that a
 * third party used them, or that orders of ours ended that did not. Its story is of one piece.
 */
import { keccak256, stringToHex } from 'viem'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { ModelLog } from './chainModel.ts'
import type { Illness } from './endpoints.ts'
import { answerOf, type Call, type NodeState, passes } from './rpcNode.ts'
import { type LogRow, orderRow, quantity } from './rpcRows.ts'

type Lie = Extract<Illness, { kind: 'liar' }>

/** Seconds that its blocks are ahead. */
const AHEAD_SECONDS = 100_000

const hashOf = (number: bigint): Hex => `0xee${number.toString(16).padStart(62, '0')}`
const numberOf = (hash: string): bigint => (hash.startsWith('0xee') ? BigInt(`0x${hash.slice(4)}`) : -1n)
const theftIn = (number: bigint): Hex => keccak256(stringToHex(`theft ${number}`))

/** What a liar says to a call; undefined where it says what is so. */
export function lieOf(
  { lie, ahead }: Lie,
  node: NodeState,
  call: Call,
): { readonly result: unknown } | undefined {
  const { method, params } = call
  const { branch, account } = node
  const [asked] = params as readonly [string, ...unknown[]]
  const tip = node.tip + ahead
  const truly = branch.blocks.findLast(({ number }) => number <= node.tip) ?? branch.tip

  switch (method) {
    case 'eth_getBlockByNumber': {
      const number = /^0x/.test(asked) ? BigInt(asked) : tip
      if (number > tip) return { result: null }
      return number > node.tip ? { result: block(number, params[1] === true) } : undefined
    }
    case 'eth_getBlockByHash': {
      const number = numberOf(asked)
      return number < 0n ? undefined : { result: block(number, false) }
    }
    case 'eth_call': {
      const [, at] = params
      const hash = typeof at === 'string' ? '' : String((at as { blockHash: Hex }).blockHash)
      const number = typeof at !== 'string' ? numberOf(hash) : /^0x/.test(at) ? BigInt(at) : tip
      const says = lie !== 'unused' && number >= tip ? 'used' : 'unused'
      return { result: answerOf({ ...node, says }, { ...call, params: [asked, 'latest'] }) }
    }
    case 'eth_getTransactionReceipt':
      return { result: receipt(asked as Hex) }
    case 'eth_getTransactionByHash':
      return { result: null }
    case 'eth_getLogs':
      return { result: lie === 'end' ? falseEnds(params[0]) : [] }
    default:
      return undefined
  }

  function block(number: bigint, isFull: boolean): unknown {
    const theft = {
      hash: theftIn(number),
      to: arbitrum.contracts.gelatoRelayRouter,
      input: '0xf2ae372f',
      blockHash: hashOf(number),
    }
    return {
      number: quantity(number),
      hash: hashOf(number),
      parentHash: hashOf(number - 1n),
      timestamp: quantity(truly.timestampSeconds + AHEAD_SECONDS),
      transactions: lie === 'foreign' && isFull ? [theft] : [],
    }
  }

  function receipt(transactionHash: Hex): unknown {
    const isTheft = transactionHash === theftIn(tip)
    if (!isTheft && lie !== 'end') return null
    const blockHash = isTheft ? hashOf(tip) : truly.hash
    return { transactionHash, blockHash, status: '0x1', logs: [] }
  }

  /** Ends of all orders that are open, in the newest block that there is. */
  function falseEnds(filter: unknown): readonly LogRow[] {
    const { fromBlock, toBlock, topics } = filter as { fromBlock: Hex; toBlock: Hex; topics: [] }
    if (truly.number < BigInt(fromBlock) || truly.number > BigInt(toBlock)) return []
    return [...branch.orders.values()]
      .filter(({ state }) => state === 'open' || state === 'frozen')
      .map(({ created }, index): LogRow => {
        const event = index % 2 === 0 ? 'OrderExecuted' : 'OrderCancelled'
        const place = { block: truly, transactionHash: hashOf(BigInt(index)), logIndex: 900 + index }
        const log: ModelLog = { ...created, event, ...place }
        return orderRow(log, account)
      })
      .filter((row) => passes(row, { topics }))
  }
}
