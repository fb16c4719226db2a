/** From the EventEmitter's logs to what happened to an order, and to the figures of its execution. */
import { keccak256, stringToHex } from 'viem'
import type { PositionChange, PositionChangeQuery } from '../../domain/machine/chainReader.ts'
import type { OrderEventName } from '../../domain/machine/chainView.ts'
import type { CreatedOrder } from '../../domain/machine/expected.ts'
import type { Settlement } from '../../domain/order/intent.ts'
import { type Address, type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { reasonOfBytes, reasonText } from '../../protocol/protocolErrors.ts'
import { priceOfContractPrice } from '../../protocol/units.ts'
import type { LogRow } from '../node/blockRows.ts'
import { decodeEventData, type EventItems } from './decodeEventData.ts'

/** First topic of events with one and with two indexed words (contract `EventEmitter`, `EventLogData`). */
const EVENT_LOG_1: Hex = '0x137a44067c8961cd7e1d876f4754a5a3a75989b4552f1843fc69c3b372def160'
const EVENT_LOG_2: Hex = '0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5'

const orderEvents: readonly OrderEventName[] = [
  'OrderCreated',
  'OrderExecuted',
  'OrderCancelled',
  'OrderFrozen',
  'OrderUpdated',
]

const topicOfName = (name: string): Hex => keccak256(stringToHex(name))
const nameOfTopic: ReadonlyMap<string, OrderEventName> = new Map(
  orderEvents.map((name) => [topicOfName(name), name]),
)
const positionTopics = {
  increase: topicOfName('PositionIncrease'),
  decrease: topicOfName('PositionDecrease'),
  fees: topicOfName('PositionFeesCollected'),
}
const swapTopic = topicOfName('SwapInfo')
const executedTopic = topicOfName('OrderExecuted')
/** `Order.SecondaryOrderType.Adl`. */
const SECONDARY_ADL = 1n
const keeperFeeTopic = topicOfName('KeeperExecutionFee')

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
function addressTopic(account: Address): Hex {
  return `0x${'0'.repeat(24)}${account.slice(2).toLowerCase()}`
}

/** Topics of every event of an account's orders. */
export function orderTopics(account: Address): readonly (Hex | readonly Hex[] | null)[] {
  return [EVENT_LOG_2, [...nameOfTopic.keys()] as Hex[], null, addressTopic(account)]
}

/** Whether a log is an event of an account's orders, from the protocol's own emitter: what `orderTopics` asks for. */
export function isOrderLog(
  { address, topics }: Pick<LogRow, 'address' | 'topics'>,
  emitter: Address,
  account: Address,
): boolean {
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
    ...(event === 'OrderCreated' ? { created: createdOf(orderKey, items) } : {}),
    ...(event === 'OrderCancelled' || event === 'OrderFrozen' ? { reason: reasonOf(items) } : {}),
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
    ...(collateralAmount === undefined ? {} : { collateralAmount }),
  }
}

/** The protocol's word where it has one, else the custom error. */
function reasonOf({ strings, bytes }: EventItems): string {
  const said = strings.get('reason') ?? ''
  return said === '' ? reasonOfBytes(bytes.get('reasonBytes') ?? '0x') : reasonText(said)
}

/** What a position event and its fees say of one execution. Prices are contract prices of the index token. */
export interface Execution {
  /** Absent for swaps, which move no position. */
  readonly marketToken?: Address
  readonly executionContractPrice?: bigint
  readonly sizeDeltaUsd?: bigint
  readonly sizeDeltaInTokens?: bigint
  readonly priceImpactUsd?: bigint
  /** Of a decrease: of the price alone, and after impact and costs. */
  readonly basePnlUsd?: bigint
  readonly pnlUsd?: bigint
  /** Position fee, borrowing and funding. */
  readonly feesUsd?: bigint
  /** The two parts of it; absent: none. */
  readonly borrowingFeeUsd?: bigint
  readonly fundingFeeUsd?: bigint
  /** Of a swap: what came out less what went in, at the oracle's own prices of that moment, USD, signed. */
  readonly swapResultUsd?: bigint
  /** What the keeper kept of the execution fee, wei. */
  readonly executionFeePaid?: bigint
}

/**
 * The figures of an order's execution, from the logs of its transaction (contract `EventEmitter`, `EventLogData`). The
 * figures are those of the account's trades: `settlementOf` in `domain/machine/apiEvidence.ts` says the same of the same
 * fill.
 *
 * @throws RangeError for a position event that does not decode
 */
export function executionOf(logs: readonly LogRow[], emitter: Address, orderKey: Hex): Execution {
  const executionFeePaid = keeperFeeOf(logs, emitter, orderKey)
  let execution: Execution = executionFeePaid === undefined ? {} : { executionFeePaid }
  let costsUsd = 0n
  let swapResultUsd: bigint | undefined
  for (const { address, topics, data } of logs) {
    const [kind, name = ''] = topics
    if (!sameHex(address, emitter) || kind !== EVENT_LOG_1) continue
    if (name === swapTopic) {
      const { words, uints } = decodeEventData(data)
      if (words.get('orderKey') !== hexKey(orderKey)) continue
      const worth = (side: 'In' | 'Out'): bigint =>
        (uints.get(`amount${side}`) ?? 0n) * (uints.get(`token${side}Price`) ?? 0n)
      swapResultUsd = (swapResultUsd ?? 0n) + worth('Out') - worth('In')
      continue
    }
    const isIncrease = name === positionTopics.increase
    const isFees = name === positionTopics.fees
    if (!isIncrease && !isFees && name !== positionTopics.decrease) continue
    const items = decodeEventData(data)
    if (items.words.get('orderKey') !== hexKey(orderKey)) continue
    const { uints, ints, addresses } = items
    const amount = (key: string): bigint => uints.get(key) ?? 0n
    if (isFees) {
      const price = amount('collateralTokenPrice.min')
      const [borrowing, funding] = [amount('borrowingFeeAmount'), amount('fundingFeeAmount')]
      // A contract price times an amount in base units is USD with 30 decimals, exactly.
      execution = {
        ...execution,
        feesUsd: (amount('positionFeeAmount') + borrowing + funding) * price,
        ...(borrowing * price === 0n ? {} : { borrowingFeeUsd: borrowing * price }),
        ...(funding * price === 0n ? {} : { fundingFeeUsd: funding * price }),
      }
      costsUsd = amount('totalCostAmount') * price
      continue
    }
    const marketToken = addresses.get('market')
    const executionContractPrice = uints.get('executionPrice')
    const sizeDeltaUsd = uints.get('sizeDeltaUsd')
    const sizeDeltaInTokens = uints.get('sizeDeltaInTokens')
    const priceImpactUsd = ints.get(isIncrease ? 'pendingPriceImpactUsd' : 'priceImpactUsd')
    const basePnlUsd = ints.get('basePnlUsd')
    execution = {
      ...execution,
      ...(marketToken === undefined ? {} : { marketToken }),
      ...(executionContractPrice === undefined ? {} : { executionContractPrice }),
      ...(sizeDeltaUsd === undefined ? {} : { sizeDeltaUsd }),
      ...(sizeDeltaInTokens === undefined ? {} : { sizeDeltaInTokens }),
      ...(priceImpactUsd === undefined ? {} : { priceImpactUsd }),
      ...(isIncrease || basePnlUsd === undefined
        ? {}
        : {
            basePnlUsd,
            pnlUsd: basePnlUsd + (ints.get('totalImpactUsd') ?? 0n) - amount('values.priceImpactDiffUsd'),
          }),
    }
  }
  const { pnlUsd, marketToken } = execution
  if (pnlUsd !== undefined) return { ...execution, pnlUsd: pnlUsd - costsUsd }
  // On the way into a position a swap is a part of what it cost.
  return swapResultUsd === undefined || marketToken !== undefined
    ? execution
    : { ...execution, swapResultUsd }
}

/**
 * What an order did to a position of the account, from the logs of its transaction; undefined when they hold no such event.
 *
 * @throws RangeError for a position event that does not decode
 */
export function positionChangeOf(
  logs: readonly LogRow[],
  emitter: Address,
  { account, orderKey }: Pick<PositionChangeQuery, 'account' | 'orderKey'>,
): PositionChange | undefined {
  for (const { address, topics, data } of logs) {
    const [kind, name = ''] = topics
    const isIncrease = name === positionTopics.increase
    if (!sameHex(address, emitter) || kind !== EVENT_LOG_1) continue
    if (!isIncrease && name !== positionTopics.decrease) continue
    const { words, addresses, uints, bools } = decodeEventData(data)
    const isMeant = words.get('orderKey') === hexKey(orderKey) && addresses.get('account') === hexKey(account)
    const [marketToken, sizeDeltaUsd, orderType, isLong] = [
      addresses.get('market'),
      uints.get('sizeDeltaUsd'),
      uints.get('orderType'),
      bools.get('isLong'),
    ]
    if (!isMeant || marketToken === undefined || sizeDeltaUsd === undefined) continue
    if (isLong === undefined || orderType === undefined || orderType > 255n) continue
    const { pnlUsd } = isIncrease ? {} : executionOf(logs, emitter, orderKey)
    return {
      marketToken,
      direction: isLong ? 'long' : 'short',
      isIncrease,
      sizeDeltaUsd,
      ...(pnlUsd === undefined ? {} : { pnlUsd }),
      orderType: Number(orderType),
      isDeleveraging: isDeleveraging(logs, emitter, orderKey),
    }
  }
  return undefined
}

/** Whether the order's own `OrderExecuted` says that the protocol made it to deleverage (`OrderEventUtils.emitOrderExecuted`). */
function isDeleveraging(logs: readonly LogRow[], emitter: Address, orderKey: Hex): boolean {
  const executed = executedAt(logs, emitter, orderKey)
  const log = logs[executed]
  return log !== undefined && decodeEventData(log.data).uints.get('secondaryOrderType') === SECONDARY_ADL
}

/** Place of the order's own `OrderExecuted` among the logs of its transaction; -1 for none. */
function executedAt(logs: readonly LogRow[], emitter: Address, orderKey: Hex): number {
  return logs.findIndex(
    ({ address, topics }) =>
      sameHex(address, emitter) &&
      topics[0] === EVENT_LOG_2 &&
      topics[1] === executedTopic &&
      topics[2] === hexKey(orderKey),
  )
}

/**
 * What the keeper kept: the first such event after the order's own. Exits that end with their position are paid for in the
 * same transaction, after it (`ExecuteOrderUtils.executeOrder`).
 */
function keeperFeeOf(logs: readonly LogRow[], emitter: Address, orderKey: Hex): bigint | undefined {
  const own = executedAt(logs, emitter, orderKey)
  if (own < 0) return undefined
  const paid = logs
    .slice(own)
    .find(
      ({ address, topics }) =>
        sameHex(address, emitter) && topics[0] === EVENT_LOG_1 && topics[1] === keeperFeeTopic,
    )
  return paid === undefined ? undefined : decodeEventData(paid.data).uints.get('executionFeeAmount')
}

/** An execution as a settlement of the attempt that trades `market`; the price of another market has unknown decimals. */
export function settlementOf(
  execution: Execution,
  market: { readonly marketToken: Address; readonly indexTokenDecimals: number },
  at: { readonly transactionHash: Hex; readonly timestampSeconds: number },
): Settlement {
  const {
    executionContractPrice: price,
    marketToken,
    sizeDeltaUsd,
    sizeDeltaInTokens,
    feesUsd,
    borrowingFeeUsd,
    fundingFeeUsd,
    priceImpactUsd,
    basePnlUsd,
    pnlUsd,
    swapResultUsd,
    executionFeePaid,
  } = execution
  const isOurs = marketToken !== undefined && sameHex(marketToken, market.marketToken)
  return {
    ...(price === undefined || !isOurs
      ? {}
      : { executionPrice: priceOfContractPrice(price, market.indexTokenDecimals) }),
    ...(sizeDeltaUsd === undefined ? {} : { sizeDeltaUsd }),
    ...(sizeDeltaInTokens === undefined ? {} : { sizeDeltaInTokens }),
    ...(feesUsd === undefined ? {} : { feesUsd }),
    ...(borrowingFeeUsd === undefined ? {} : { borrowingFeeUsd }),
    ...(fundingFeeUsd === undefined ? {} : { fundingFeeUsd }),
    ...(priceImpactUsd === undefined ? {} : { priceImpactUsd }),
    ...(basePnlUsd === undefined ? {} : { basePnlUsd }),
    ...(pnlUsd === undefined ? {} : { pnlUsd }),
    ...(swapResultUsd === undefined ? {} : { swapResultUsd }),
    ...(executionFeePaid === undefined ? {} : { executionFeePaid }),
    ...at,
  }
}
