/** Encoding of the event emitter's logs: topics and EventLogData (wire: eip712-and-chain, section 8). */
import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters, stringToHex } from 'viem'
import type { Address } from '../domain/address.ts'
import type { ChainLog, EventValue } from './chain.ts'

/** First topic by the number of indexed words after the name's hash. */
const signatureTopics: Readonly<Record<number, Hex>> = {
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
  PositionFeesCollected: {
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
  },
} as const satisfies Readonly<Record<string, Schema>>

/** Names of the events the venue emits. */
export type EventName = keyof typeof eventSchemas

const logData = parseAbiParameters(
  `address msgSender, string eventName, (${groups
    .map(
      (type) =>
        `((string key, ${type} value)[] items, (string key, ${type}[] value)[] arrayItems) ${type}Items`,
    )
    .join(', ')}) eventData`,
)

interface Item {
  readonly key: string
  readonly value: EventValue
}

function itemsOf(log: ChainLog, names: readonly string[] | undefined): Item[] {
  return (names ?? []).flatMap((key) => {
    const value = log.items[key]
    return value === undefined ? [] : [{ key, value }]
  })
}

const encoded = new WeakMap<ChainLog, Hex>()

/** Data of a log: abi.encode(msgSender, eventName, eventData). Encoded once a log. */
export function logDataOf(log: ChainLog, msgSender: Address): Hex {
  const known = encoded.get(log)
  if (known !== undefined) return known
  const schema: Schema = eventSchemas[log.eventName as EventName]
  const eventData = Object.fromEntries(
    groups.map((type) => [
      `${type}Items`,
      { items: itemsOf(log, schema[type]), arrayItems: itemsOf(log, schema[`${type}[]`]) },
    ]),
  )
  // The parameters are made from a list, so their types are known to the encoder only.
  const data = encodeAbiParameters(logData, [msgSender, log.eventName, eventData] as unknown as never)
  encoded.set(log, data)
  return data
}

const nameHashes = new Map<string, Hex>()

/** Topics of a log: kind, hash of the name, indexed words. */
export function topicsOf(log: ChainLog): readonly Hex[] {
  let nameHash = nameHashes.get(log.eventName)
  if (nameHash === undefined) {
    nameHash = keccak256(stringToHex(log.eventName))
    nameHashes.set(log.eventName, nameHash)
  }
  const signature = signatureTopics[log.topics.length]
  if (signature === undefined) throw new RangeError(`${log.eventName} has ${log.topics.length} indexed words`)
  return [signature, nameHash, ...log.topics]
}
