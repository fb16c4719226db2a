/** Errors of the JSON-RPC endpoint, and its reading of parameters. */
import type { Hex } from '../../protocol/address.ts'
import { parseAddress } from '../http/http.ts'

/** Codes of JSON-RPC 2.0, of the nodes (EIP-1474) and of EIP-1898. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  invalidInput: -32000,
  notFound: -32001,
  limitExceeded: -32005,
  reverted: 3,
} as const

/** A refused call, thrown by methods and written by the endpoint. */
export class RpcError extends Error {
  readonly code: number
  readonly data: Hex | undefined

  constructor(code: number, message: string, data?: Hex) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

/** -32602 with a text. */
export function invalidParams(message: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, message)
}

/** A number as the wire writes it. */
export function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}

/** Reads a quantity that fits a JavaScript integer. Throws RpcError -32602. */
export function readQuantity(value: unknown, name: string): number {
  if (typeof value !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]*)$/i.test(value)) {
    throw invalidParams(`invalid argument: ${name} must be a hex quantity without leading zeros`)
  }
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw invalidParams(`invalid argument: ${name} is too large`)
  return number
}

/** Reads 32 bytes. Throws RpcError -32602. */
export function readHash(value: unknown, name: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value)) {
    throw invalidParams(`invalid argument: ${name} must be 32 bytes of hex`)
  }
  return value.toLowerCase() as Hex
}

/** Reads an address; lower case comes back. Throws RpcError -32602. */
export function readAddress(value: unknown, name: string): Hex {
  const address = parseAddress(value)
  if (address === undefined) throw invalidParams(`invalid argument: ${name} must be an address`)
  return address.toLowerCase() as Hex
}

/** Reads bytes; lower case comes back; absent is `0x`. Throws RpcError -32602. */
export function readBytes(value: unknown, name: string): Hex {
  if (value === undefined || value === null) return '0x'
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) {
    throw invalidParams(`invalid argument: ${name} must be hex bytes`)
  }
  return value.toLowerCase() as Hex
}
