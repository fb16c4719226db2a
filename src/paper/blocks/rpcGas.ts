/** Gas of the paper chain: what a transaction used, and what gas costs a block. Repeatable from the seed. */

import { defined } from '../../base/defined.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import type { ChainName } from '../../protocol/chains/chain.ts'
import { chainGas } from '../../protocol/chains/gas.ts'
import { unit } from '../math/random.ts'
import { type BlockChain, blockNumberAt, type ChainTransaction, transactionsBetween } from './blockChain.ts'
import { quantity } from './rpcError.ts'

/** Gas limit of a block. */
export const BLOCK_GAS_LIMIT = 32_000_000
/** Most blocks that one fee history covers. */
const MAX_FEE_HISTORY = 1024

const BASE_GAS = 21_000
/** Gas for executing an order, in addition to its calldata and logs. */
const ORDER_GAS = 900_000

/** Gas of calldata: 4 a zero byte, 16 any other (EIP-2028), on top of the base of a transaction. */
export function intrinsicGas(input: Hex): number {
  let gas = BASE_GAS
  for (let i = 2; i < input.length; i += 2) gas += input.startsWith('00', i) ? 4 : 16
  return gas
}

const used = new WeakMap<ChainTransaction, number>()

/** Gas a transaction used. */
export function gasUsedOf(transaction: ChainTransaction): number {
  if (transaction.paid !== undefined) return transaction.paid.gasUsed
  let gas = used.get(transaction)
  if (gas === undefined) {
    gas = intrinsicGas(transaction.input) + (transaction.revertData === undefined ? ORDER_GAS : ORDER_GAS / 4)
    for (const log of transaction.logs) gas += 375 * (log.topics.length + 3) + 8 * 2048
    used.set(transaction, gas)
  }
  return gas
}

/**
 * Base fee of a block, wei: around the chain's gas price, from 0.9 to 1.13 times it, drifting over minutes and moving a
 * little from block to block; a spike multiplies it.
 */
export function baseFeeOf(chain: BlockChain, number: number): bigint {
  const stretch = Math.floor(number / 480)
  const share = (number % 480) / 480
  const from = unit(chain.stream ^ 0x6a5, stretch)
  const to = unit(chain.stream ^ 0x6a5, stretch + 1)
  const drift = from + (to - from) * share
  const walk = 0.9 + 0.2 * drift + 0.03 * unit(chain.stream ^ 0x6a6, number)
  const usual = BigInt(Math.max(1, Math.round(chain.gasPriceWei * walk)))
  const spike = chain.gasSpikes.findLast(({ first }) => first <= number)
  return (usual * BigInt(spike?.percent ?? 100)) / 100n
}

/** Tip that the chain's endpoints suggest, wei: what the protocol's fee formula adds at least, 0 where it adds none. */
export function priorityFeeOf(chain: ChainName): bigint {
  return chainGas[chain].leastPriorityFee ?? 0n
}

/** Notes that gas costs another part of its usual price, percent, from the first block on that nobody can have read. */
export function noteGasSpike(chain: BlockChain, percent: number, toldMs: number): void {
  if ((chain.gasSpikes.at(-1)?.percent ?? 100) === percent) return
  const first = blockNumberAt(chain, toldMs)
  if (chain.gasSpikes.at(-1)?.first === first) chain.gasSpikes.pop()
  chain.gasSpikes.push({ first, percent })
}

/** Gas that the transactions of a block used. */
function blockGasUsed(chain: BlockChain, number: number): number {
  return transactionsBetween(chain, number, number).reduce((sum, one) => sum + gasUsedOf(one), 0)
}

/** `eth_feeHistory` up to a block: base fees of one block more, and rewards of 0: the sequencer takes no tips. */
export function feeHistory(chain: BlockChain, count: number, newest: number, percentiles: readonly number[]) {
  const blocks = Math.min(count, MAX_FEE_HISTORY, newest + 1)
  const oldest = newest - blocks + 1
  const numbers = Array.from({ length: blocks }, (_unused, i) => oldest + i)
  return {
    oldestBlock: quantity(oldest),
    baseFeePerGas: [...numbers, newest + 1].map((number) => quantity(baseFeeOf(chain, number))),
    gasUsedRatio: numbers.map((number) => blockGasUsed(chain, number) / BLOCK_GAS_LIMIT),
    ...defined({
      reward: percentiles.length === 0 ? undefined : numbers.map(() => percentiles.map(() => '0x0')),
    }),
  }
}

/** Gas of a call that is not sent: its calldata, and an order's work for the protocol's contracts. */
export function estimateGas(input: Hex, to: Hex | undefined, workers: ReadonlySet<string>): number {
  const works = to !== undefined && workers.has(hexKey(to))
  if (input === '0x' && !works) return BASE_GAS
  return intrinsicGas(input) + (works ? ORDER_GAS : 45_000)
}
