/** Transactions that accounts sent themselves, as the JSON-RPC endpoint writes them. */
import type { Hex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import {
  type BlockChain,
  blockHash,
  type ChainTransaction,
  type Inclusion,
  type SignedTransaction,
} from '../blocks/blockChain.ts'
import { quantity } from '../blocks/rpcError.ts'

/** The part of a transaction that a row shows; one that waits has no more. */
export type ShownTransaction = Pick<ChainTransaction, 'hash' | 'nonce' | 'to' | 'input' | 'paid'>

function feesOf(signed: SignedTransaction, paid: ChainTransaction['paid']): Record<string, Hex> {
  const { maxFeePerGas, maxPriorityFeePerGas, type } = signed
  if (type !== '0x2') return { gasPrice: quantity(maxFeePerGas) }
  return {
    gasPrice: quantity(paid?.gasPrice ?? maxFeePerGas),
    maxFeePerGas: quantity(maxFeePerGas),
    maxPriorityFeePerGas: quantity(maxPriorityFeePerGas),
  }
}

/** A signed transaction in a block, or on its way when `place` is undefined. */
export function signedRow(
  { blocks, chain }: { readonly blocks: BlockChain; readonly chain: Chain },
  transaction: ShownTransaction,
  signed: SignedTransaction,
  place: { readonly block: Inclusion; readonly index: number } | undefined,
) {
  const isLegacy = signed.type === '0x0'
  return {
    hash: transaction.hash,
    type: signed.type,
    chainId: quantity(chain.chainId),
    nonce: quantity(transaction.nonce),
    from: signed.from.toLowerCase(),
    to: transaction.to.toLowerCase(),
    value: quantity(signed.value),
    input: transaction.input,
    gas: quantity(signed.gasLimit),
    ...feesOf(signed, transaction.paid),
    ...(isLegacy ? {} : { accessList: signed.accessList, yParity: quantity(signed.yParity) }),
    r: quantity(BigInt(signed.r)),
    s: quantity(BigInt(signed.s)),
    v: quantity(signed.v),
    blockHash: place === undefined ? null : blockHash(blocks, place.block),
    blockNumber: place === undefined ? null : quantity(place.block.number),
    transactionIndex: place === undefined ? null : quantity(place.index),
  }
}
