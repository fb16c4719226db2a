/**
 * From the EventEmitter's logs to what happened to a market's amounts (contract `MarketEventUtils`): pools, open interest, impact pools, borrowing and
 * funding, and the oracle's prices that funding was paid at. Each log names the amount before and after it, so that one that is missing shows.
 */
import { type Address, type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import type { LogRow } from '../node/blockRows.ts'
import { decodeEventData, type EventItems } from './decodeEventData.ts'
import { topicOfName } from './orderLogs.ts'

/** First topic of events with one indexed word (contract `EventEmitter`, `EventLogData`). */
const EVENT_LOG_1: Hex = '0x137a44067c8961cd7e1d876f4754a5a3a75989b4552f1843fc69c3b372def160'

/** Tokens of a market by slot; one that has a single token has it twice. */
export interface LoggedMarket {
  readonly marketToken: Address
  readonly longToken: Address
  readonly shortToken: Address
}

/** A change of one amount, or a price that was used. */
export interface MarketChange {
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly logIndex: number
  /** Amount: `pool.long`, `swapImpact.short`, `positionImpact`, `interestUsd.long.short` (side, then collateral), `borrowing.short`, or `price.long`. */
  readonly field: string
  readonly before: bigint
  readonly value: bigint
}

/** Reads one event: its field's name, and where the value after it stands. */
interface EventRow {
  readonly field: (items: EventItems, market: LoggedMarket) => string
  readonly after: 'nextValue' | 'value'
}

const sideOf = ({ bools }: EventItems): 'long' | 'short' => {
  const isLong = bools.get('isLong')
  if (isLong === undefined) throw new RangeError('an event of a market has no side')
  return isLong ? 'long' : 'short'
}

function slotOf(items: EventItems, key: string, { longToken, shortToken }: LoggedMarket): 'long' | 'short' {
  const token = items.addresses.get(key)
  if (token !== undefined && sameHex(token, longToken)) return 'long'
  if (token !== undefined && sameHex(token, shortToken)) return 'short'
  throw new RangeError('an event of a market is of a token that is none of its')
}

const bySlot =
  (name: string): EventRow['field'] =>
  (items, market) =>
    `${name}.${slotOf(items, 'token', market)}`
const bySideAndSlot =
  (name: string): EventRow['field'] =>
  (items, market) =>
    `${name}.${sideOf(items)}.${slotOf(items, 'collateralToken', market)}`

const events: Readonly<Record<string, EventRow>> = {
  PoolAmountUpdated: { field: bySlot('pool'), after: 'nextValue' },
  SwapImpactPoolAmountUpdated: { field: bySlot('swapImpact'), after: 'nextValue' },
  PositionImpactPoolAmountUpdated: { field: () => 'positionImpact', after: 'nextValue' },
  OpenInterestUpdated: { field: bySideAndSlot('interestUsd'), after: 'nextValue' },
  OpenInterestInTokensUpdated: { field: bySideAndSlot('interestInTokens'), after: 'nextValue' },
  CumulativeBorrowingFactorUpdated: { field: (items) => `borrowing.${sideOf(items)}`, after: 'nextValue' },
  FundingFeeAmountPerSizeUpdated: { field: bySideAndSlot('funding'), after: 'value' },
}
const PRICE = 'OraclePriceUpdate'
const names = [...Object.keys(events), PRICE]
const nameOfTopic: ReadonlyMap<string, string> = new Map(names.map((name) => [topicOfName(name), name]))

const addressTopic = (address: Address): Hex => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`

/** Topics of the events of a market's amounts, and of the prices of its collateral tokens. */
export function marketTopics({ marketToken, longToken, shortToken }: LoggedMarket): readonly unknown[] {
  const indexed = [...new Set([marketToken, longToken, shortToken].map(addressTopic))]
  return [EVENT_LOG_1, [...nameOfTopic.keys()], indexed]
}

/**
 * The changes of logs that were asked for with `marketTopics`, in chain order. Of prices those remain that stand in a transaction which paid funding.
 *
 * @throws RangeError for logs that were not asked for, that contradict themselves or that stand in one place
 */
export function marketChangesOf(
  logs: readonly LogRow[],
  emitter: Address,
  market: LoggedMarket,
): readonly MarketChange[] {
  const ordered = logs.toSorted((one, other) =>
    one.blockNumber === other.blockNumber
      ? one.logIndex - other.logIndex
      : Number(one.blockNumber - other.blockNumber),
  )
  const changes = ordered.flatMap((log, at) => {
    const last = ordered[at - 1]
    if (last?.blockNumber === log.blockNumber && last.logIndex === log.logIndex)
      throw new RangeError('two logs have one place')
    return changesOf(log, emitter, market)
  })
  const paid = new Set(
    changes.flatMap(({ field, transactionHash }) => (field.startsWith('funding.') ? [transactionHash] : [])),
  )
  return changes.filter(
    ({ field, transactionHash }) => !field.startsWith('price.') || paid.has(transactionHash),
  )
}

function changesOf(log: LogRow, emitter: Address, market: LoggedMarket): readonly MarketChange[] {
  const [kind, topic = '', indexed] = log.topics
  const name = nameOfTopic.get(topic)
  if (!sameHex(log.address, emitter) || kind !== EVENT_LOG_1 || name === undefined)
    throw new RangeError('a log is none of those that were asked for')
  const items = decodeEventData(log.data)
  if (items.eventName !== name) throw new RangeError('a log has another name in its data than in its topics')
  const { blockNumber, blockHash, transactionHash, logIndex } = log
  const at = { blockNumber, blockHash, transactionHash, logIndex }
  if (name === PRICE) return pricesOf(items, market).map((change) => ({ ...at, ...change }))
  const event = events[name]
  const owner = items.addresses.get('market')
  if (event === undefined || owner === undefined || hexKey(owner) !== hexKey(market.marketToken))
    throw new RangeError('an event is of another market than was asked for')
  if (indexed !== addressTopic(owner)) throw new RangeError('a log has another market in its topics')
  const value = items.uints.get(event.after)
  const delta = items.ints.get('delta') ?? items.uints.get('delta')
  if (value === undefined || delta === undefined || delta > value)
    throw new RangeError(`${name} has no amounts that fit`)
  return [{ ...at, field: event.field(items, market), before: value - delta, value }]
}

/** The highest price of a token, for each slot that it is in. */
function pricesOf(items: EventItems, { longToken, shortToken }: LoggedMarket) {
  const [token, value] = [items.addresses.get('token'), items.uints.get('maxPrice')]
  if (token === undefined || value === undefined) throw new RangeError('a price is of no token')
  const slots = [['long', longToken] as const, ['short', shortToken] as const]
  return slots.flatMap(([slot, own]) =>
    sameHex(own, token) ? [{ field: `price.${slot}`, before: value, value }] : [],
  )
}
