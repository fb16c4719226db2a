/** From the EventEmitter's logs to what happened to an order. */
import { keccak256, stringToHex } from 'viem/utils'
import { defined } from '../../base/defined.ts'
import type { OrderEventName } from '../../domain/machine/chainView.ts'
import type { CreatedOrder } from '../../domain/machine/expected.ts'
import { type Address, type Hex, sameHex } from '../../protocol/address.ts'
import { reasonOfBytes, reasonText } from '../../protocol/protocolErrors.ts'
import type { LogRow } from '../node/blockRows.ts'
import { decodeEventData, type EventItems } from './decodeEventData.ts'

/** First topic of events with two indexed words (contract `EventEmitter`, `EventLogData`). */
export const EVENT_LOG_2: Hex = '0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5'

const orderEvents: readonly OrderEventName[] = [
  'OrderCreated',
  'OrderExecuted',
  'OrderCancelled',
  'OrderFrozen',
  'OrderUpdated',
]

/** Second topic of an event: its name's hash. */
export const topicOfName = (name: string): Hex => keccak256(stringToHex(name))
const nameOfTopic: ReadonlyMap<string, OrderEventName> = new Map(
  orderEvents.map((name) => [topicOfName(name), name]),
)

/** An event of an order as one log shows it; the time of its block is read separately. */
export interface OrderEvent {
  readonly event: OrderEventName
  readonly orderKey: Hex
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly logIndex: number
  readonly created?: CreatedOrder
  readonly reason?: string
}

/** A topic that holds an address. */
export function addressTopic(account: Address): Hex {
  return `0x${'0'.repeat(24)}${account.slice(2).toLowerCase()}`
}

/** Topics of every event of the orders of one or several accounts. */
export function orderTopics(
  account: Address,
  ...others: readonly Address[]
): readonly (Hex | readonly Hex[] | null)[] {
  const names = [...nameOfTopic.keys()] as Hex[]
  const one = addressTopic(account)
  return [EVENT_LOG_2, names, null, others.length === 0 ? one : [one, ...others.map(addressTopic)]]
}

/** Tells whether a log is an event of an account's orders, from the protocol's own emitter; `orderTopics` requests these. */
export function isOrderLog({ address, topics }: LogRow, emitter: Address, account: Address): boolean {
  const [kind, name = '', , of] = topics
  const isOfEmitter = sameHex(address, emitter) && kind === EVENT_LOG_2 && topics.length === 4
  return isOfEmitter && of === addressTopic(account) && nameOfTopic.has(name)
}

/**
 * The order event of a log that was asked for with `orderTopics`.
 *
 * @throws RangeError for a log that was not asked for, or that contradicts itself
 */
export function orderEventOf(log: LogRow, emitter: Address, account: Address): OrderEvent {
  const [, name = '', orderKey] = log.topics
  const event = nameOfTopic.get(name)
  if (!isOrderLog(log, emitter, account) || event === undefined || orderKey === undefined) {
    throw new RangeError('a log was not asked for')
  }
  const items = decodeEventData(log.data)
  if (items.eventName !== event || items.words.get('key') !== orderKey) {
    throw new RangeError('topics and data of a log differ')
  }
  if (!sameHex(items.addresses.get('account') ?? '', account)) {
    throw new RangeError('the account of a log differs from its topic')
  }
  return {
    event,
    orderKey,
    transactionHash: log.transactionHash,
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
    logIndex: log.logIndex,
    ...defined({ created: event === 'OrderCreated' ? createdOf(orderKey, items) : undefined }),
    ...defined({
      reason: event === 'OrderCancelled' || event === 'OrderFrozen' ? reasonOf(items) : undefined,
    }),
  }
}

function createdOf(orderKey: Hex, { uints, addresses, bools }: EventItems): CreatedOrder {
  const orderType = uints.get('orderType')
  const marketToken = addresses.get('market')
  const isLong = bools.get('isLong')
  const sizeDeltaUsd = uints.get('sizeDeltaUsd')
  const collateralAmount = uints.get('initialCollateralDeltaAmount')
  const isWhole =
    orderType !== undefined && marketToken !== undefined && isLong !== undefined && sizeDeltaUsd !== undefined
  if (!isWhole || orderType > 255n) throw new RangeError('a created order lacks its fields')
  return {
    orderKey,
    orderType: Number(orderType),
    marketToken,
    direction: isLong ? 'long' : 'short',
    sizeDeltaUsd,
    ...defined({ collateralAmount }),
  }
}

/** The protocol's word where it has one, else the custom error. */
function reasonOf({ strings, bytes }: EventItems): string {
  const said = strings.get('reason') ?? ''
  return said === '' ? reasonOfBytes(bytes.get('reasonBytes') ?? '0x') : reasonText(said)
}
