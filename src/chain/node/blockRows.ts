/**
 * Rows of an endpoint's answers, read strictly: blocks, transactions, receipts and logs. A number that is no hex quantity,
 * a hash of another length or a field that is missing throws; nothing is filled in.
 */

import { LAST_TIME_MS } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { BlockRef } from '../../domain/order/intent.ts'
import type { Hex } from '../../protocol/address.ts'
import { hexKey } from '../../protocol/address.ts'
import { type RpcAnswer, refusedBy, unreadable } from '../wire/jsonRpc.ts'

/** Greatest block number or position that is believed. */
const MAX_NUMBER = 2n ** 53n - 1n
/** Longest input or log data that is read, hex digits: a block's whole gas buys less. */
const MAX_HEX = 4 * 1024 * 1024

/** A block with what is needed of it. */
export interface BlockRow extends BlockRef {
  readonly parentHash: Hex
}

/** A block with its transactions. */
export interface FullBlock extends BlockRow {
  readonly transactions: readonly TransactionRow[]
}

/** A transaction; `blockHash` is absent while it is not mined. Texts are lower case. */
export interface TransactionRow {
  readonly hash: Hex
  readonly to?: Hex
  readonly input: Hex
  readonly blockHash?: Hex
}

/** A log as the wire has it. Texts are lower case. */
export interface LogRow {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly logIndex: number
}

/** A receipt. */
export interface ReceiptRow {
  readonly transactionHash: Hex
  readonly blockHash: Hex
  readonly hasSucceeded: boolean
  readonly logs: readonly LogRow[]
}

/** Reads rows in the name of one endpoint, so that faults say whose they are. */
export interface RowReader {
  /** The result of an answer. Throws BaseError RPC_REFUSED when the endpoint refused. */
  resultOf(answer: RpcAnswer | undefined, method: string): unknown
  block(value: unknown): BlockRow
  fullBlock(value: unknown): FullBlock
  /** Undefined for `null`: not known to the endpoint. */
  transaction(value: unknown): TransactionRow | undefined
  receipt(value: unknown): ReceiptRow | undefined
  logs(value: unknown, most: number): readonly LogRow[]
  bytes(value: unknown, name: string): Hex
  quantity(value: unknown, name: string): bigint
}

/** Reads of single values; all throw BaseError RPC_UNREADABLE for another shape. */
function createValueReader(endpoint: string) {
  const wrong = (name: string): Error => unreadable(endpoint, `${name} is not what it must be`)

  function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(name)
    return value as Readonly<Record<string, unknown>>
  }
  function list(value: unknown, name: string): readonly unknown[] {
    if (!Array.isArray(value)) throw wrong(name)
    return value
  }
  function quantity(value: unknown, name: string): bigint {
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw wrong(name)
    return BigInt(value)
  }
  function place(value: unknown, name: string): bigint {
    const number = quantity(value, name)
    if (number > MAX_NUMBER) throw wrong(name)
    return number
  }
  function time(value: unknown): number {
    const seconds = place(value, 'block time')
    if (seconds * 1000n > BigInt(LAST_TIME_MS)) throw wrong('block time')
    return Number(seconds)
  }
  function hex(value: unknown, name: string, digits: number): Hex {
    if (typeof value !== 'string' || value.length !== digits + 2 || !/^0x[0-9a-fA-F]*$/.test(value)) {
      throw wrong(name)
    }
    return hexKey(value) as Hex
  }
  function bytes(value: unknown, name: string): Hex {
    const isBytes =
      typeof value === 'string' &&
      value.length <= MAX_HEX &&
      value.length % 2 === 0 &&
      /^0x[0-9a-fA-F]*$/.test(value)
    if (!isBytes) throw wrong(name)
    return hexKey(value) as Hex
  }

  return { wrong, object, list, quantity, place, time, hex, bytes }
}

/** A reader of one endpoint's rows. All its functions throw BaseError RPC_UNREADABLE for another shape. */
export function createRowReader(endpoint: string): RowReader {
  const { wrong, object, list, quantity, place, time, hex, bytes } = createValueReader(endpoint)

  function block(value: unknown): BlockRow {
    const row = object(value, 'the block')
    return {
      number: place(row.number, 'block number'),
      hash: hex(row.hash, 'block hash', 64),
      parentHash: hex(row.parentHash, 'parent hash', 64),
      timestampSeconds: time(row.timestamp),
    }
  }
  function transactionRow(value: unknown): TransactionRow {
    const row = object(value, 'the transaction')
    const { to, blockHash } = row
    return {
      hash: hex(row.hash, 'transaction hash', 64),
      input: bytes(row.input, 'transaction input'),
      ...defined({ to: to === null || to === undefined ? undefined : hex(to, 'transaction target', 40) }),
      ...defined({
        blockHash:
          blockHash === null || blockHash === undefined
            ? undefined
            : hex(blockHash, 'block hash of the transaction', 64),
      }),
    }
  }
  function log(value: unknown): LogRow {
    const row = object(value, 'the log')
    if (row.removed === true) throw wrong('a log that was taken back')
    const topics = list(row.topics, 'topics')
    if (topics.length > 4) throw wrong('topics')
    return {
      address: hex(row.address, 'log address', 40),
      topics: topics.map((topic) => hex(topic, 'topic', 64)),
      data: bytes(row.data, 'log data'),
      blockNumber: place(row.blockNumber, 'block number of the log'),
      blockHash: hex(row.blockHash, 'block hash of the log', 64),
      transactionHash: hex(row.transactionHash, 'transaction hash of the log', 64),
      logIndex: Number(place(row.logIndex, 'log index')),
    }
  }
  function logs(value: unknown, most: number): readonly LogRow[] {
    const rows = list(value, 'the logs')
    if (rows.length > most) throw wrong(`a list of ${rows.length} logs`)
    return rows.map(log)
  }

  return {
    resultOf(answer, method) {
      if (answer === undefined) throw unreadable(endpoint, 'an answer is missing')
      if ('refused' in answer) {
        throw refusedBy(endpoint, method, answer.refused.code, answer.refused.message)
      }
      return answer.result
    },
    block,
    fullBlock(value) {
      const row = object(value, 'the block')
      return { ...block(value), transactions: list(row.transactions, 'transactions').map(transactionRow) }
    },
    transaction: (value) => (value === null ? undefined : transactionRow(value)),
    receipt(value) {
      if (value === null) return undefined
      const row = object(value, 'the receipt')
      const status = quantity(row.status, 'status of the receipt')
      if (status > 1n) throw wrong('status of the receipt')
      return {
        transactionHash: hex(row.transactionHash, 'transaction hash of the receipt', 64),
        blockHash: hex(row.blockHash, 'block hash of the receipt', 64),
        hasSucceeded: status === 1n,
        logs: logs(row.logs, 10_000),
      }
    },
    logs,
    bytes,
    quantity,
  }
}
