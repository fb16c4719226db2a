/** Encoding of the event emitter's logs: topics and EventLogData (contract `EventEmitter`, `EventLogData`). */
import type { Hex } from 'viem'
import { keccak256, stringToHex } from 'viem/utils'
import type { Address } from '../../protocol/address.ts'
import type { ChainLog, EventValue } from './blockChain.ts'

/** First topic by the number of indexed words after the name's hash. */
const signatureTopics: Readonly<Record<number, Hex>> = {
  0: '0x7e3bde2ba7aca4a8499608ca57f3b0c1c1c93ace63ffd3741a9fab204146fc9a',
  1: '0x137a44067c8961cd7e1d876f4754a5a3a75989b4552f1843fc69c3b372def160',
  2: '0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5',
}

/** EventLogData groups its items by type, in this order. */
const groups = ['address', 'uint256', 'int256', 'bool', 'bytes32', 'bytes', 'string'] as const
type ItemType = (typeof groups)[number]

type Schema = Readonly<Partial<Record<ItemType | `${ItemType}[]`, readonly string[]>>>

const sizeItems = [
  'sizeInUsd',
  'sizeInTokens',
  'collateralAmount',
  'borrowingFactor',
  'fundingFeeAmountPerSize',
  'longTokenClaimableFundingAmountPerSize',
  'shortTokenClaimableFundingAmountPerSize',
  'executionPrice',
  'indexTokenPrice.max',
  'indexTokenPrice.min',
  'collateralTokenPrice.max',
  'collateralTokenPrice.min',
  'sizeDeltaUsd',
  'sizeDeltaInTokens',
]
const endedOrder: Schema = {
  address: ['account'],
  bytes32: ['key'],
  bytes: ['reasonBytes'],
  string: ['reason'],
}

const positionFees: Schema = {
  address: ['market', 'collateralToken', 'affiliate', 'trader', 'uiFeeReceiver'],
  uint256: [
    'collateralTokenPrice.min',
    'collateralTokenPrice.max',
    'tradeSizeUsd',
    'fundingFeeAmount',
    'claimableLongTokenAmount',
    'claimableShortTokenAmount',
    'latestFundingFeeAmountPerSize',
    'latestLongTokenClaimableFundingAmountPerSize',
    'latestShortTokenClaimableFundingAmountPerSize',
    'borrowingFeeUsd',
    'borrowingFeeAmount',
    'borrowingFeeReceiverFactor',
    'borrowingFeeAmountForFeeReceiver',
    'positionFeeFactor',
    'protocolFeeAmount',
    'positionFeeReceiverFactor',
    'feeReceiverAmount',
    'feeAmountForPool',
    'positionFeeAmountForPool',
    'positionFeeAmount',
    'totalCostAmount',
    'uiFeeReceiverFactor',
    'uiFeeAmount',
    // Present only when it is charged.
    'liquidationFeeAmount',
  ],
  bool: ['isIncrease'],
  bytes32: ['orderKey', 'positionKey', 'referralCode'],
}

// Contract `MarketEventUtils`.
const poolAmount: Schema = { address: ['market', 'token'], uint256: ['nextValue'], int256: ['delta'] }
const openInterest: Schema = {
  address: ['market', 'collateralToken'],
  uint256: ['nextValue'],
  int256: ['delta'],
  bool: ['isLong'],
}
const perSize: Schema = {
  address: ['market', 'collateralToken'],
  uint256: ['delta', 'value'],
  bool: ['isLong'],
}

/** Items of each event by type, in the contract's order. */
export const eventSchemas = {
  OrderCreated: {
    address: [
      'account',
      'receiver',
      'callbackContract',
      'uiFeeReceiver',
      'market',
      'initialCollateralToken',
      'cancellationReceiver',
    ],
    'address[]': ['swapPath'],
    uint256: [
      'orderType',
      'decreasePositionSwapType',
      'sizeDeltaUsd',
      'initialCollateralDeltaAmount',
      'triggerPrice',
      'acceptablePrice',
      'executionFee',
      'callbackGasLimit',
      'minOutputAmount',
      'updatedAtTime',
      'validFromTime',
      'srcChainId',
    ],
    bool: ['isLong', 'shouldUnwrapNativeToken', 'autoCancel'],
    bytes32: ['key'],
    'bytes32[]': ['dataList'],
  },
  OrderExecuted: { address: ['account'], uint256: ['secondaryOrderType'], bytes32: ['key'] },
  OrderCancelled: endedOrder,
  OrderFrozen: endedOrder,
  OrderUpdated: {
    address: ['account'],
    uint256: [
      'sizeDeltaUsd',
      'acceptablePrice',
      'triggerPrice',
      'minOutputAmount',
      'updatedAtTime',
      'validFromTime',
    ],
    bool: ['autoCancel'],
    bytes32: ['key'],
    'bytes32[]': ['dataList'],
  },
  OrderSizeDeltaAutoUpdated: { uint256: ['sizeDeltaUsd', 'nextSizeDeltaUsd'], bytes32: ['key'] },
  PositionIncrease: {
    address: ['account', 'market', 'collateralToken'],
    uint256: [...sizeItems, 'orderType', 'increasedAtTime'],
    int256: ['collateralDeltaAmount', 'pendingPriceImpactUsd', 'pendingPriceImpactAmount'],
    bool: ['isLong'],
    bytes32: ['orderKey', 'positionKey'],
  },
  PositionDecrease: {
    address: ['account', 'market', 'collateralToken'],
    uint256: [
      ...sizeItems,
      'collateralDeltaAmount',
      'values.priceImpactDiffUsd',
      'orderType',
      'decreasedAtTime',
    ],
    int256: [
      'priceImpactUsd',
      'basePnlUsd',
      'uncappedBasePnlUsd',
      'proportionalPendingImpactUsd',
      'totalImpactUsd',
    ],
    bool: ['isLong'],
    bytes32: ['orderKey', 'positionKey'],
  },
  OrderCollateralDeltaAmountAutoUpdated: {
    uint256: ['collateralDeltaAmount', 'nextCollateralDeltaAmount'],
    bytes32: ['key'],
  },
  PositionFeesCollected: positionFees,
  PositionFeesInfo: positionFees,
  InsolventClose: {
    uint256: ['positionCollateralAmount', 'remainingCostUsd'],
    int256: ['basePnlUsd'],
    bytes32: ['orderKey'],
    string: ['step'],
  },
  OraclePriceUpdate: { address: ['token', 'provider'], uint256: ['minPrice', 'maxPrice', 'timestamp'] },
  KeeperExecutionFee: { address: ['keeper'], uint256: ['executionFeeAmount'] },
  ExecutionFeeRefund: { address: ['receiver'], uint256: ['refundFeeAmount'] },
  SwapInfo: {
    address: ['market', 'receiver', 'tokenIn', 'tokenOut'],
    uint256: ['tokenInPrice', 'tokenOutPrice', 'amountIn', 'amountInAfterFees', 'amountOut'],
    int256: ['priceImpactUsd', 'priceImpactAmount', 'tokenInPriceImpactAmount'],
    bytes32: ['orderKey'],
  },
  PoolAmountUpdated: poolAmount,
  SwapImpactPoolAmountUpdated: poolAmount,
  PositionImpactPoolAmountUpdated: { address: ['market'], uint256: ['nextValue'], int256: ['delta'] },
  OpenInterestUpdated: openInterest,
  OpenInterestInTokensUpdated: openInterest,
  CumulativeBorrowingFactorUpdated: {
    address: ['market'],
    uint256: ['delta', 'nextValue'],
    bool: ['isLong'],
  },
  FundingFeeAmountPerSizeUpdated: perSize,
  ClaimableFundingAmountPerSizeUpdated: perSize,
} as const satisfies Readonly<Record<string, Schema>>

/** Names of the events the venue emits. */
export type EventName = keyof typeof eventSchemas

// --- encoding ------------------------------------------------------------------------------------------------------
// Packed by hand: a query answers thousands of logs, and general ABI encoders take a millisecond for each. The tests
// hold every event against viem's own encoder.

/** 64 digits in place, or digits behind an offset. */
type Part = string | { readonly tail: string }

const WORDS = 2n ** 256n

function word(value: bigint | number): string {
  return value.toString(16).padStart(64, '0')
}

function tuple(parts: readonly Part[]): string {
  let offset = parts.length * 32
  let heads = ''
  let tails = ''
  for (const part of parts) {
    if (typeof part === 'string') heads += part
    else {
      heads += word(offset)
      tails += part.tail
      offset += part.tail.length / 2
    }
  }
  return heads + tails
}

function list(parts: readonly Part[]): Part {
  return { tail: word(parts.length) + tuple(parts) }
}

function bytes(digits: string): Part {
  return { tail: word(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0') }
}

const texts = new Map<string, Part>()

/** A text that comes back all the time: the name of an event or an item. */
function name(text: string): Part {
  let part = texts.get(text)
  if (part === undefined) {
    part = bytes(Buffer.from(text).toString('hex'))
    texts.set(text, part)
  }
  return part
}

function one(type: ItemType, value: EventValue): Part {
  if (typeof value === 'bigint') return word(value < 0n ? value + WORDS : value)
  if (typeof value === 'boolean') return word(value ? 1 : 0)
  if (typeof value !== 'string') throw new RangeError(`a list is no ${type}`)
  if (type === 'string') return bytes(Buffer.from(value).toString('hex'))
  const digits = value.slice(2).toLowerCase()
  if (type === 'bytes') return bytes(digits)
  return digits.padStart(64, '0')
}

function valuePart(type: ItemType, value: EventValue): Part {
  return typeof value === 'object' ? list(value.map((single) => one(type, single))) : one(type, value)
}

function items(type: ItemType, log: ChainLog, keys: readonly string[] | undefined): Part {
  const parts: Part[] = []
  for (const key of keys ?? []) {
    const value = log.items[key]
    if (value !== undefined) parts.push({ tail: tuple([name(key), valuePart(type, value)]) })
  }
  return list(parts)
}

const encoded = new WeakMap<ChainLog, Hex>()

/** Data of a log: abi.encode(msgSender, eventName, eventData). Encoded once a log. */
export function logDataOf(log: ChainLog, msgSender: Address): Hex {
  if (log.plain !== undefined) return log.plain.data
  const known = encoded.get(log)
  if (known !== undefined) return known
  const schema: Schema = eventSchemas[log.eventName as EventName]
  const eventData = tuple(
    groups.map((type) => ({
      tail: tuple([items(type, log, schema[type]), items(type, log, schema[`${type}[]`])]),
    })),
  )
  const sender = msgSender.slice(2).toLowerCase().padStart(64, '0')
  const data: Hex = `0x${tuple([sender, name(log.eventName), { tail: eventData }])}`
  encoded.set(log, data)
  return data
}

const nameHashes = new Map<string, Hex>()

/** Topics of a log: kind, hash of the name, indexed words. */
export function topicsOf(log: ChainLog): readonly Hex[] {
  if (log.plain !== undefined) return log.plain.topics
  let nameHash = nameHashes.get(log.eventName)
  if (nameHash === undefined) {
    nameHash = keccak256(stringToHex(log.eventName))
    nameHashes.set(log.eventName, nameHash)
  }
  const signature = signatureTopics[log.topics.length]
  if (signature === undefined) throw new RangeError(`${log.eventName} has ${log.topics.length} indexed words`)
  return [signature, nameHash, ...log.topics]
}
