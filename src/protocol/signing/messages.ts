/**
 * Digests of any message that the venue's routers take, by its type: for messages that are signed once in a while. Batches
 * on the hot path have `digestOf` of relayRouter.ts; the tests hold both against each other and against viem's.
 *
 * Values come from files and hosts, so every one is judged: an address is 0x and 40 hex digits, an integer a bigint, a whole
 * number or its digits, and a struct has the fields of its type and no other.
 */
import type { Hex } from '../address.ts'
import { bytes32Word, uintWord } from '../crypto/abiWords.ts'
import { keccakOfBytes, keccakOfWords } from '../crypto/keccak.ts'
import { fieldsOfStruct, type PrimaryType } from './messageTypes.ts'
import { typeHashes } from './relayRouter.ts'
import { approvalTypeHash } from './subaccountApproval.ts'

/** Type hashes (keccak of the full encodeType) of every struct, from the contract's type strings. */
export const messageTypeHashes = {
  ...typeHashes,
  SubaccountApproval: approvalTypeHash,
  BridgeOut: '0x2fd57925f10606572fd9787c471d4da62db8e9b3b4c1dc49335e65e6dce953c0',
  CreateOrder: '0x781a77007b52cd3aa5b96051a970c8802ab8933799563988b2d2b90d285a6b13',
  UpdateOrder: '0x32636ceee1a62b1a1cf66a1d98d9857fd380df48841a7b61d4f1d0b42ea67b7d',
  CancelOrder: '0x221798a0c323a0b194db95c22c0491ba65b111c920951471337679547c844ccd',
  RemoveSubaccount: '0xe13d761cda747965af6924f96ade5992f9181e93b29afaaa7f5a5a6eae247a67',
  SetTraderReferralCode: '0xdef0fa0b13af96c1c4c879766421d669f4155f58c5aec8c5bccee09fc883d534',
  RegisterCode: '0x260b6f896e2526aaabef03dc1f93a44f6a0231fb55ee3a785098651c55d35ca1',
  Minified: '0x628dc8f0a85eab83d09660a94c931f2eb72f3de1accdc60a72d68a75b8c0a787',
} as const satisfies Readonly<Record<string, Hex>>

/** A message as it was read: names and values, not judged yet. */
export type Message = Readonly<Record<string, unknown>>

/**
 * The digest of a message at the domain separator of a router: what is signed.
 *
 * @throws RangeError that names the field, when the message is none of that type
 */
export function messageDigestOf(separator: Hex, primaryType: PrimaryType, message: Message): Hex {
  return `0x${keccakOfWords(['1901', bytes32Word(separator), structWord(primaryType, message, 'message')])}`
}

/** The digest of `Minified(digest)`, which the routers take too: for wallets that cannot show a whole message. */
export function minifiedDigestOf(separator: Hex, digest: Hex): Hex {
  return messageDigestOf(separator, 'Minified', { digest })
}

function structWord(name: string, value: unknown, path: string): string {
  const fields = fieldsOfStruct(name)
  const typeHash = messageTypeHashes[name as keyof typeof messageTypeHashes]
  if (fields === undefined) throw new RangeError(`${path}: no struct ${name}`)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, name)
  const known = new Set<string>(fields.map((field) => field.name))
  const other = Object.keys(value).find((each) => !known.has(each))
  if (other !== undefined) throw new RangeError(`${path}.${other}: ${name} has no such field`)
  const given = value as Message
  const words = fields.map((field) => wordOf(field.type, given[field.name], `${path}.${field.name}`))
  return keccakOfWords([typeHash.slice(2), ...words])
}

function wordOf(type: string, value: unknown, path: string): string {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) throw wrong(path, 'list')
    const item = type.slice(0, -2)
    return keccakOfWords(value.map((each, at) => wordOf(item, each, `${path}[${at}]`)))
  }
  switch (type) {
    case 'address':
      return digitsOf(value, /^0x[0-9a-fA-F]{40}$/, path, type).padStart(64, '0')
    case 'bytes32':
      return digitsOf(value, /^0x[0-9a-fA-F]{64}$/, path, type)
    case 'bytes':
      return keccakOfBytes(Buffer.from(digitsOf(value, /^0x(?:[0-9a-fA-F]{2})*$/, path, type), 'hex')).slice(
        2,
      )
    case 'bool':
      if (typeof value !== 'boolean') throw wrong(path, type)
      return uintWord(value ? 1n : 0n)
    case 'uint256':
      return uintWord(integerOf(value, path))
    default:
      return structWord(type, value, path)
  }
}

function digitsOf(value: unknown, form: RegExp, path: string, type: string): string {
  if (typeof value === 'string' && form.test(value)) return value.slice(2).toLowerCase()
  throw wrong(path, type)
}

function integerOf(value: unknown, path: string): bigint {
  const isText = typeof value === 'string' && /^(?:0|[1-9]\d{0,77}|0x[0-9a-fA-F]{1,64})$/.test(value)
  const integer =
    typeof value === 'bigint'
      ? value
      : isText || (typeof value === 'number' && Number.isSafeInteger(value))
        ? BigInt(value)
        : undefined
  if (integer === undefined || integer < 0n || integer >= 2n ** 256n) throw wrong(path, 'uint256')
  return integer
}

function wrong(path: string, type: string): RangeError {
  return new RangeError(`${path} is no ${type}`)
}
