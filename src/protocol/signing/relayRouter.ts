/**
 * The relay router: what its EIP-712 messages look like and how they hash.
 *
 * Types, field order and hashing are the contract's (contract `GelatoRelayRouter`, `batch`; contract `RelayUtils`). Hashes
 * are packed by hand, word by word, because signing is on the hot path and general ABI encoders cost ten times as much;
 * the tests hold every hash against constants taken from the contract's type strings and against viem's own hashing.
 */
import type { Address, Hex } from 'viem'
import type {
  CreateOrderAddresses,
  CreateOrderNumbers,
  CreateOrderParams,
  UpdateOrderParams,
} from '../batch.ts'
import {
  addressWord,
  boolWord,
  bytes32Word,
  encodeBytes,
  encodeDynamicList,
  encodeList,
  encodeTuple,
  type Part,
  uintWord,
} from '../crypto/abiWords.ts'
import { EMPTY_DIGITS, keccakOfBytes, keccakOfWords } from '../crypto/keccak.ts'

export type { CreateOrderParams, UpdateOrderParams } from '../batch.ts'

/** The message that is signed: creates, updates and cancels that happen in that order, all or nothing. */
export interface Batch {
  /** Zero address when the account itself signs, the account when a subaccount signs. */
  readonly account: Address
  readonly createOrderParamsList: readonly CreateOrderParams[]
  readonly updateOrderParamsList: readonly UpdateOrderParams[]
  readonly cancelOrderKeys: readonly Hex[]
  /** `hashRelayParams` of the relay parameters. */
  readonly relayParams: Hex
  /** Zero hash when the account itself signs. */
  readonly subaccountApproval: Hex
}

/** A permit that lets the router pull a token. */
export interface TokenPermit {
  readonly owner: Address
  readonly spender: Address
  readonly value: bigint
  readonly deadline: bigint
  readonly v: number
  readonly r: Hex
  readonly s: Hex
  readonly token: Address
}

/** Parameters around a batch: fee, nonce, deadline, and the powers that a payload mismatch would abuse. */
export interface RelayParams {
  readonly oracleParams: {
    readonly tokens: readonly Address[]
    readonly providers: readonly Address[]
    readonly data: readonly Hex[]
  }
  readonly externalCalls: {
    readonly sendTokens: readonly Address[]
    readonly sendAmounts: readonly bigint[]
    readonly externalCallTargets: readonly Address[]
    readonly externalCallDataList: readonly Hex[]
    readonly refundTokens: readonly Address[]
    readonly refundReceivers: readonly Address[]
  }
  readonly tokenPermits: readonly TokenPermit[]
  readonly fee: {
    readonly feeToken: Address
    readonly feeAmount: bigint
    readonly feeSwapPath: readonly Address[]
  }
  readonly userNonce: bigint
  /** Unix seconds of block time; the operation may land in a block of exactly this time, not later. */
  readonly deadline: bigint
  readonly desChainId: bigint
}

/** Name and version of the domain of every relay router. */
export const relayRouterDomainName = 'GmxBaseGelatoRelayRouter'
export const relayRouterDomainVersion = '1'

/** Type hashes (keccak of the full encodeType), from the contract's type strings. */
export const typeHashes = {
  Domain: '0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f',
  Batch: '0xb3d187f3e26421ccfc4fe22d93fb77752a06f980569e871d0d45a463bbecec3c',
  CreateOrderParams: '0xecb4e62822794d96c966a87e6a23708e814c6256ee7bde019caaac8ed6ba557a',
  CreateOrderAddresses: '0xde704835c57129426155af0162e85abf288035e1b0a3852c3fce9a24af66508d',
  CreateOrderNumbers: '0xeb86c2c0ab6cd8ca4087c84503a7b3ce29a1bcd4c762b59237fc7f4fa529c36b',
  UpdateOrderParams: '0x7f1e50afa2d7bcdaa78b463b7ee3cd9130ed183bc7223f8b25ce12d536930525',
} as const satisfies Record<string, Hex>

const typeHashWords = {
  Domain: typeHashes.Domain.slice(2),
  Batch: typeHashes.Batch.slice(2),
  CreateOrderParams: typeHashes.CreateOrderParams.slice(2),
  CreateOrderAddresses: typeHashes.CreateOrderAddresses.slice(2),
  CreateOrderNumbers: typeHashes.CreateOrderNumbers.slice(2),
  UpdateOrderParams: typeHashes.UpdateOrderParams.slice(2),
}

/** The EIP-712 domain of a relay router. */
export function relayRouterDomain(chainId: number, verifyingContract: Address) {
  return { name: relayRouterDomainName, version: relayRouterDomainVersion, chainId, verifyingContract }
}

function keccakHex(words: readonly string[]): Hex {
  return `0x${keccakOfWords(words)}`
}

/** The hash of the words of a list; most lists of an order are empty. */
function keccakList<Item>(items: readonly Item[], wordOf: (item: Item) => string): string {
  return items.length === 0 ? EMPTY_DIGITS : keccakOfWords(items.map(wordOf))
}

// --- struct hashes -------------------------------------------------------------------------------------------------

function hashAddresses(value: CreateOrderAddresses): string {
  return keccakOfWords([
    typeHashWords.CreateOrderAddresses,
    addressWord(value.receiver),
    addressWord(value.cancellationReceiver),
    addressWord(value.callbackContract),
    addressWord(value.uiFeeReceiver),
    addressWord(value.market),
    addressWord(value.initialCollateralToken),
    keccakList(value.swapPath, addressWord),
  ])
}

function hashNumbers(value: CreateOrderNumbers): string {
  return keccakOfWords([
    typeHashWords.CreateOrderNumbers,
    uintWord(value.sizeDeltaUsd),
    uintWord(value.initialCollateralDeltaAmount),
    uintWord(value.triggerPrice),
    uintWord(value.acceptablePrice),
    uintWord(value.executionFee),
    uintWord(value.callbackGasLimit),
    uintWord(value.minOutputAmount),
    uintWord(value.validFromTime),
  ])
}

function createOrderWord(value: CreateOrderParams): string {
  return keccakOfWords([
    typeHashWords.CreateOrderParams,
    hashAddresses(value.addresses),
    hashNumbers(value.numbers),
    uintWord(value.orderType),
    uintWord(value.decreasePositionSwapType),
    boolWord(value.isLong),
    boolWord(value.shouldUnwrapNativeToken),
    boolWord(value.autoCancel),
    bytes32Word(value.referralCode),
    keccakList(value.dataList, bytes32Word),
  ])
}

/** hashStruct(CreateOrderParams). */
export function hashCreateOrderParams(value: CreateOrderParams): Hex {
  return `0x${createOrderWord(value)}`
}

/** The words of an update: the same in the signed message and in calldata. Without 0x. */
export function updateOrderWords(value: UpdateOrderParams): string {
  return [
    bytes32Word(value.key),
    uintWord(value.sizeDeltaUsd),
    uintWord(value.acceptablePrice),
    uintWord(value.triggerPrice),
    uintWord(value.minOutputAmount),
    uintWord(value.validFromTime),
    boolWord(value.autoCancel),
    uintWord(value.executionFeeIncrease),
  ].join('')
}

function updateOrderWord(value: UpdateOrderParams): string {
  return keccakOfWords([typeHashWords.UpdateOrderParams, updateOrderWords(value)])
}

function batchWord(value: Batch): string {
  return keccakOfWords([
    typeHashWords.Batch,
    addressWord(value.account),
    keccakList(value.createOrderParamsList, createOrderWord),
    keccakList(value.updateOrderParamsList, updateOrderWord),
    keccakList(value.cancelOrderKeys, bytes32Word),
    bytes32Word(value.relayParams),
    bytes32Word(value.subaccountApproval),
  ])
}

/** hashStruct(Batch). */
export function hashBatch(value: Batch): Hex {
  return `0x${batchWord(value)}`
}

const nameHashWord = keccakOfBytes(Buffer.from(relayRouterDomainName)).slice(2)
const versionHashWord = keccakOfBytes(Buffer.from(relayRouterDomainVersion)).slice(2)

/** The domain separator of a relay router. */
export function domainSeparator(chainId: number, verifyingContract: Address): Hex {
  return keccakHex([
    typeHashWords.Domain,
    nameHashWord,
    versionHashWord,
    uintWord(BigInt(chainId)),
    addressWord(verifyingContract),
  ])
}

/** The digest of a batch at a router: what is signed, and what the router can use once. */
export function digestOf(separator: Hex, batch: Batch): Hex {
  return keccakHex(['1901', bytes32Word(separator), batchWord(batch)])
}

// --- relay parameters ----------------------------------------------------------------------------------------------
// keccak256(abi.encode(oracleParams, externalCalls, tokenPermits, fee, userNonce, deadline, desChainId)):
// seven top-level parameters, the signature excluded.

function encodePermit(permit: TokenPermit): string {
  return (
    addressWord(permit.owner) +
    addressWord(permit.spender) +
    uintWord(permit.value) +
    uintWord(permit.deadline) +
    uintWord(BigInt(permit.v)) +
    bytes32Word(permit.r) +
    bytes32Word(permit.s) +
    addressWord(permit.token)
  )
}

/** The parts of the relay parameters that come first in the hashed encoding and in calldata alike. */
function surroundingParts(value: RelayParams): readonly Part[] {
  const { oracleParams, externalCalls, tokenPermits, fee } = value
  return [
    {
      tail: encodeTuple([
        encodeList(oracleParams.tokens, addressWord),
        encodeList(oracleParams.providers, addressWord),
        encodeDynamicList(oracleParams.data, encodeBytes),
      ]),
    },
    {
      tail: encodeTuple([
        encodeList(externalCalls.sendTokens, addressWord),
        encodeList(externalCalls.sendAmounts, uintWord),
        encodeList(externalCalls.externalCallTargets, addressWord),
        encodeDynamicList(externalCalls.externalCallDataList, encodeBytes),
        encodeList(externalCalls.refundTokens, addressWord),
        encodeList(externalCalls.refundReceivers, addressWord),
      ]),
    },
    encodeList(tokenPermits, encodePermit),
    {
      tail: encodeTuple([
        addressWord(fee.feeToken),
        uintWord(fee.feeAmount),
        encodeList(fee.feeSwapPath, addressWord),
      ]),
    },
    uintWord(value.userNonce),
    uintWord(value.deadline),
  ]
}

function relayParamsDigits(value: RelayParams): string {
  return encodeTuple([...surroundingParts(value), uintWord(value.desChainId)])
}

/** The relay parameters with their signature, as the router's functions take them: an ABI tuple without 0x. */
export function relayParamsTuple(value: RelayParams, signature: Hex): string {
  return encodeTuple([...surroundingParts(value), encodeBytes(signature), uintWord(value.desChainId)])
}

/** The ABI encoding that `hashRelayParams` hashes, for tests that pin its length and first word. */
export function encodeRelayParams(value: RelayParams): Hex {
  return `0x${relayParamsDigits(value)}`
}

/** The hash of the relay parameters that a Batch carries in `relayParams`. */
export function hashRelayParams(value: RelayParams): Hex {
  return keccakHex([relayParamsDigits(value)])
}

/** The protocol's key of a position: keccak256(abi.encode(account, market, collateralToken, isLong)). */
export function positionKeyOf(
  account: Address,
  market: Address,
  collateralToken: Address,
  isLong: boolean,
): Hex {
  return keccakHex([
    addressWord(account),
    addressWord(market),
    addressWord(collateralToken),
    boolWord(isLong),
  ])
}

/** The protocol's key of an order: keccak256(abi.encode(dataStore, nonce)). */
export function orderKeyOf(dataStore: Address, nonce: bigint): Hex {
  return keccakHex([addressWord(dataStore), uintWord(nonce)])
}
