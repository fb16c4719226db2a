/** Raw transactions as `eth_sendRawTransaction` takes them: decoded, their signer recovered, and what no pool would take refused. */
import type { Hex, TransactionSerializable, TransactionSerializedGeneric } from 'viem'
import { getAddress, keccak256, parseTransaction, serializeTransaction } from 'viem/utils'
import type { Address } from '../../protocol/address.ts'
import { recoverSigner } from '../../protocol/crypto/secp256k1.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import type { SignedTransaction } from '../blocks/blockChain.ts'
import { invalidParams, RpcError, readBytes, rpcCodes } from '../blocks/rpcError.ts'
import { BLOCK_GAS_LIMIT, intrinsicGas } from '../blocks/rpcGas.ts'

/** Longest raw transaction, bytes, as the nodes take it. */
export const MAX_TRANSACTION_BYTES = 131_072
/** Half the order of the curve: a signature whose s is above it is refused (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const GAS_PER_LISTED_ADDRESS = 2400
const GAS_PER_LISTED_KEY = 1900

const typeNumbers = { legacy: '0x0', eip2930: '0x1', eip1559: '0x2' } as const

/** A transaction that an account signed, on its way to the chain. */
export interface SentTransaction {
  readonly hash: Hex
  readonly to: Address
  readonly nonce: number
  readonly input: Hex
  readonly signed: SignedTransaction
}

/** -32000 with a text of the nodes. */
export function refusedBecause(message: string): RpcError {
  return new RpcError(rpcCodes.invalidInput, message)
}

/** Gas that a transaction needs before it does anything. */
export function intrinsicGasOf(input: Hex, accessList: SignedTransaction['accessList'] = []): number {
  return accessList.reduce(
    (sum, { storageKeys }) => sum + GAS_PER_LISTED_ADDRESS + storageKeys.length * GAS_PER_LISTED_KEY,
    intrinsicGas(input),
  )
}

type Parsed = ReturnType<typeof parseTransaction>

function parsed(raw: Hex): Parsed {
  try {
    return parseTransaction(raw as TransactionSerializedGeneric)
  } catch (error) {
    // viem checks these two of a transaction that decodes.
    const name = error instanceof Error ? error.name : ''
    if (name === 'TipAboveFeeCapError') {
      throw refusedBecause('max priority fee per gas higher than max fee per gas')
    }
    if (name === 'FeeCapTooHighError') throw refusedBecause('max fee per gas higher than 2^256-1')
    throw refusedBecause('rlp: the transaction does not decode')
  }
}

/** Recovers who signed, and holds the encoding to the one that there is of a transaction. */
function signerOf(raw: Hex, transaction: Parsed): Address {
  const { r, s, v, yParity, ...unsigned } = transaction as Parsed & { readonly yParity?: number }
  if (r === undefined || s === undefined || v === undefined || yParity === undefined) {
    throw refusedBecause('invalid transaction v, r, s values')
  }
  const word = (value: Hex): string => value.slice(2).padStart(64, '0')
  try {
    if (BigInt(s) > HALF_ORDER) throw new RangeError('its s is in the upper half')
    const content = unsigned as TransactionSerializable
    if (serializeTransaction(content, { r, s, v, yParity }) !== raw) throw new RangeError('another encoding')
    const digest = keccak256(serializeTransaction(content))
    return recoverSigner(digest, `0x${word(r)}${word(s)}${yParity === 0 ? '1b' : '1c'}`)
  } catch {
    throw refusedBecause('invalid sender')
  }
}

/**
 * Reads a raw transaction of type 0 (EIP-155), 1 or 2 for a chain.
 *
 * @throws RpcError -32602 for what is no hex, -32000 for what no node of the chain would take, whatever its state
 */
export function readTransaction(value: unknown, chainId: number): SentTransaction {
  if (typeof value !== 'string') throw invalidParams('invalid argument: the transaction must be hex bytes')
  if (value.length > 2 + MAX_TRANSACTION_BYTES * 2) throw refusedBecause('oversized data')
  const raw = readBytes(value, 'the transaction')
  const first = Number.parseInt(raw.slice(2, 4), 16)
  if (Number.isNaN(first)) throw refusedBecause('typed transaction too short')
  if (first < 0xc0 && first !== 1 && first !== 2) throw refusedBecause('transaction type not supported')
  const transaction = parsed(raw)
  if (transaction.type === 'legacy' && transaction.chainId === undefined) {
    throw refusedBecause('only replay-protected (EIP-155) transactions allowed over RPC')
  }
  if (transaction.chainId !== chainId) {
    throw refusedBecause(`invalid chain id for signer: have ${transaction.chainId} want ${chainId}`)
  }
  const type =
    transaction.type === 'legacy' || transaction.type === 'eip2930' || transaction.type === 'eip1559'
      ? typeNumbers[transaction.type]
      : undefined
  if (type === undefined) throw refusedBecause('transaction type not supported')
  const { gas = 0n, nonce = 0, value: amount = 0n, data: input = '0x', to } = transaction
  const maxFeePerGas = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n
  const maxPriorityFeePerGas = transaction.maxPriorityFeePerGas ?? (type === '0x2' ? 0n : maxFeePerGas)
  const from = signerOf(raw, transaction)
  const { v = 0n, yParity = 0 } = transaction as { readonly v?: bigint; readonly yParity?: number }
  if (to === undefined || to === null) {
    throw refusedBecause('the paper chain runs no contracts of others: a transaction without to is refused')
  }
  if (amount > MAX_UINT256 || maxFeePerGas > MAX_UINT256)
    throw refusedBecause('rlp: value larger than uint256')
  if (gas > BigInt(BLOCK_GAS_LIMIT)) throw refusedBecause('exceeds block gas limit')
  const accessList = transaction.accessList ?? []
  const least = intrinsicGasOf(input, accessList)
  if (gas < BigInt(least)) {
    throw refusedBecause(`intrinsic gas too low: gas ${gas}, minimum needed ${least}`)
  }
  return {
    hash: keccak256(raw),
    to: getAddress(to),
    nonce,
    input,
    signed: {
      from,
      type,
      gasLimit: Number(gas),
      maxFeePerGas,
      maxPriorityFeePerGas,
      value: amount,
      accessList,
      r: transaction.r as Hex,
      s: transaction.s as Hex,
      v: type === '0x0' ? v : BigInt(yParity),
      yParity,
    },
  }
}
