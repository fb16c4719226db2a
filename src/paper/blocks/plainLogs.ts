/** Logs of contracts that are not the event emitter. */
import { keccak256, pad, stringToHex, toHex } from 'viem/utils'
import type { Address, Hex } from '../../protocol/address.ts'
import type { ChainTransaction } from './blockChain.ts'

/** Anything that holds the transaction that is open. */
interface Open {
  readonly transaction: ChainTransaction
}

const TRANSFER = keccak256(stringToHex('Transfer(address,address,uint256)'))

/** Writes a log of a contract that is not the event emitter. */
export function emitPlain({ transaction }: Open, address: Address, topics: readonly Hex[], data: Hex): void {
  transaction.logs.push({ eventName: '', topics: [], items: {}, plain: { address, topics, data } })
}

/** Emits `Transfer` of a token. */
export function emitTransfer(open: Open, token: Address, from: Address, to: Address, amount: bigint): void {
  emitPlain(open, token, [TRANSFER, pad(from), pad(to)], pad(toHex(amount)))
}
