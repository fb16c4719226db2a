/** From the EventEmitter's logs of a transaction to the figures of an order's execution, and to what it did to a position. */
import { defined, ifDefined } from '../../base/defined.ts'
import type { PositionChange, PositionChangeQuery } from '../../domain/machine/chainReader.ts'
import type { Settlement } from '../../domain/order/intent.ts'
import { type Address, type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { priceOfContractPrice } from '../../protocol/units.ts'
import type { LogRow } from '../node/blockRows.ts'
import { decodeEventData, type EventItems } from './decodeEventData.ts'
import { EVENT_LOG_2, topicOfName } from './orderLogs.ts'

/** First topic of events with one indexed word (contract `EventEmitter`, `EventLogData`). */
export const EVENT_LOG_1: Hex = '0x137a44067c8961cd7e1d876f4754a5a3a75989b4552f1843fc69c3b372def160'

const positionTopics = {
  increase: topicOfName('PositionIncrease'),
  decrease: topicOfName('PositionDecrease'),
  fees: topicOfName('PositionFeesCollected'),
}
const swapTopic = topicOfName('SwapInfo')
/** Name of the events by which the oracle sets a token's price for a transaction. */
export const priceTopic = topicOfName('OraclePriceUpdate')
const executedTopic = topicOfName('OrderExecuted')
const cancelledTopic = topicOfName('OrderCancelled')
/** `Order.SecondaryOrderType.Adl`. */
const SECONDARY_ADL = 1n
const keeperFeeTopic = topicOfName('KeeperExecutionFee')
const refundTopic = topicOfName('ExecutionFeeRefund')

/** The tokens that the venue pays funding of a market in, by lower-case market token; of other markets nobody knows what was received. */
export type FundingTokens = ReadonlyMap<string, { readonly longToken: Address; readonly shortToken: Address }>

/** Facts about one execution from a position event and its fees. Prices are contract prices of the index token. */
export interface Execution {
  /** Absent for swaps, which move no position. */
  readonly marketToken?: Address
  readonly executionContractPrice?: bigint
  readonly sizeDeltaUsd?: bigint
  readonly sizeDeltaInTokens?: bigint
  readonly priceImpactUsd?: bigint
  /** PnL of a decrease: `basePnlUsd` of the price alone, `pnlUsd` after impact and costs. */
  readonly basePnlUsd?: bigint
  readonly pnlUsd?: bigint
  /** Position fee, borrowing and funding, and the cost of swaps on the way into the position or out of it. */
  readonly feesUsd?: bigint
  /** The two parts of it; absent: none. */
  readonly borrowingFeeUsd?: bigint
  readonly fundingFeeUsd?: bigint
  /**
   * Funding paid by others that the venue put aside for the account, USD at the oracle's prices of that moment. Absent: none, or the transaction does
   * not show a price of its tokens.
   */
  readonly fundingReceivedUsd?: bigint
  /** Result of a swap: output less input, at the oracle's own prices of that moment, USD, signed. */
  readonly swapResultUsd?: bigint
  /** Part of the execution fee that the keeper kept, wei. */
  readonly executionFeePaid?: bigint
  /** The rest of it that came back, wei; absent: the transaction shows no refund. */
  readonly executionFeeReturned?: bigint
  /** The same, USD at the oracle's price of that moment; absent: the transaction shows no refund, or no price of the native token. */
  readonly executionFeeReturnedUsd?: bigint
}

/**
 * The figures of an order's execution, from the logs of its transaction (contract `EventEmitter`, `EventLogData`). The
 * figures are those of the account's trades: `settlementOf` in `domain/machine/apiEvidence.ts` says the same of the same
 * fill, but for the funding that was received, which trades do not show.
 *
 * @throws RangeError for a position or price event that does not decode
 */
export function executionOf(
  logs: readonly LogRow[],
  emitter: Address,
  orderKey: Hex,
  markets: FundingTokens,
  wrappedNative: Address,
): Execution {
  /** Lowest oracle prices that were set so far, contract prices by token. */
  const prices = new Map<string, bigint>()
  const { paid: executionFeePaid, returned = 0n } = keeperFeeOf(logs, emitter, orderKey)
  let execution: Execution = defined({ executionFeePaid, executionFeeReturned: returned || undefined })
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
    if (name === priceTopic) {
      const { addresses, uints } = decodeEventData(data)
      const [token, minPrice] = [addresses.get('token'), uints.get('minPrice')]
      if (token !== undefined && minPrice !== undefined) prices.set(token, minPrice)
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
        ...defined({
          borrowingFeeUsd: borrowing * price || undefined,
          fundingFeeUsd: funding * price || undefined,
        }),
        ...receivedOf(items, markets, prices),
      }
      costsUsd = amount('totalCostAmount') * price
      continue
    }
    const marketToken = addresses.get('market')
    const executionContractPrice = uints.get('executionPrice')
    const sizeDeltaUsd = uints.get('sizeDeltaUsd')
    const sizeDeltaInTokens = uints.get('sizeDeltaInTokens')
    const priceImpactUsd = ints.get(isIncrease ? 'pendingPriceImpactUsd' : 'priceImpactUsd')
    const basePnlUsd = isIncrease ? undefined : ints.get('basePnlUsd')
    const impactUsd = (ints.get('totalImpactUsd') ?? 0n) - amount('values.priceImpactDiffUsd')
    execution = {
      ...execution,
      ...defined({ marketToken, executionContractPrice, sizeDeltaUsd, sizeDeltaInTokens, priceImpactUsd }),
      ...defined({ basePnlUsd, pnlUsd: ifDefined(basePnlUsd, (base) => base + impactUsd) }),
    }
  }
  const returnedUsd = returned * (prices.get(hexKey(wrappedNative)) ?? 0n)
  if (returnedUsd > 0n) execution = { ...execution, executionFeeReturnedUsd: returnedUsd }
  const { pnlUsd, marketToken, feesUsd } = execution
  if (marketToken === undefined) return { ...execution, ...defined({ swapResultUsd }) }
  // A swap of what is paid in, of the profit or of the output is a fee of the fill: no figure of the position has it.
  const swapCostUsd = -(swapResultUsd ?? 0n)
  return {
    ...execution,
    ...defined({
      feesUsd: swapCostUsd === 0n ? feesUsd : (feesUsd ?? 0n) + swapCostUsd,
      pnlUsd: ifDefined(pnlUsd, (beforeUsd) => beforeUsd - costsUsd - swapCostUsd),
    }),
  }
}

/** Both tokens that funding is paid in, at the lower of their prices; nothing where a price or the market is not known. */
function receivedOf(
  { addresses, uints }: EventItems,
  markets: FundingTokens,
  prices: ReadonlyMap<string, bigint>,
): { readonly fundingReceivedUsd?: bigint } {
  const market = markets.get(addresses.get('market') ?? '')
  if (market === undefined) return {}
  let receivedUsd = 0n
  for (const side of ['long', 'short'] as const) {
    const amount = uints.get(side === 'long' ? 'claimableLongTokenAmount' : 'claimableShortTokenAmount') ?? 0n
    if (amount === 0n) continue
    const price = prices.get(hexKey(side === 'long' ? market.longToken : market.shortToken))
    if (price === undefined) return {}
    receivedUsd += amount * price
  }
  return defined({ fundingReceivedUsd: receivedUsd === 0n ? undefined : receivedUsd })
}

/**
 * Reads the change that an order made to a position of the account from its transaction's logs; undefined when they hold no such event.
 *
 * @throws RangeError for a position event that does not decode
 */
export function positionChangeOf(
  logs: readonly LogRow[],
  emitter: Address,
  { account, orderKey }: PositionChangeQuery,
  markets: FundingTokens,
  wrappedNative: Address,
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
    const { pnlUsd, fundingReceivedUsd } = isIncrease
      ? {}
      : executionOf(logs, emitter, orderKey, markets, wrappedNative)
    return {
      marketToken,
      direction: isLong ? 'long' : 'short',
      isIncrease,
      sizeDeltaUsd,
      ...defined({ pnlUsd, fundingReceivedUsd }),
      orderType: Number(orderType),
      isDeleveraging: isDeleveraging(logs, emitter, orderKey),
    }
  }
  return undefined
}

/** Tells whether the order's own `OrderExecuted` says that the protocol made it to deleverage (`OrderEventUtils.emitOrderExecuted`). */
function isDeleveraging(logs: readonly LogRow[], emitter: Address, orderKey: Hex): boolean {
  const log = logs[placeOf(logs, emitter, orderKey, [executedTopic])]
  return log !== undefined && decodeEventData(log.data).uints.get('secondaryOrderType') === SECONDARY_ADL
}

/** Place of the order's own event of one of these names among the logs of its transaction; -1 for none. */
function placeOf(logs: readonly LogRow[], emitter: Address, orderKey: Hex, names: readonly Hex[]): number {
  return logs.findIndex(
    ({ address, topics: [kind, name = '0x', key] }) =>
      sameHex(address, emitter) && kind === EVENT_LOG_2 && names.includes(name) && key === hexKey(orderKey),
  )
}

/**
 * The keeper's part of the fee and the rest that came back: the first such events after the order's own end. Exits that end with their
 * position are paid for in the same transaction, each after its own cancel (`ExecuteOrderUtils.executeOrder`, `OrderUtils.cancelOrder`;
 * `GasUtils.payExecutionFee` emits the refund after the payment).
 */
function keeperFeeOf(
  logs: readonly LogRow[],
  emitter: Address,
  orderKey: Hex,
): { readonly paid?: bigint | undefined; readonly returned?: bigint | undefined } {
  const own = placeOf(logs, emitter, orderKey, [executedTopic, cancelledTopic])
  if (own < 0) return {}
  const [paid, next] = logs
    .slice(own)
    .filter(
      ({ address, topics: [kind, name = ''] }) =>
        sameHex(address, emitter) &&
        kind === EVENT_LOG_1 &&
        (name === keeperFeeTopic || name === refundTopic),
    )
  if (paid?.topics[1] !== keeperFeeTopic) return {}
  const refund = next?.topics[1] === refundTopic ? next : undefined
  return {
    paid: decodeEventData(paid.data).uints.get('executionFeeAmount'),
    returned: refund && decodeEventData(refund.data).uints.get('refundFeeAmount'),
  }
}

/**
 * The part of an execution fee that came back, USD: at the oracle's price of the transaction, else at `boughtAt`, the contract price at which
 * the order's message bought the native token for its fees. Undefined where nothing came back, or no price is known.
 */
function returnedUsdOf(
  { executionFeeReturnedUsd, executionFeeReturned }: Execution,
  boughtAt: bigint | undefined,
): bigint | undefined {
  if (executionFeeReturnedUsd !== undefined || boughtAt === undefined) return executionFeeReturnedUsd
  return ifDefined(executionFeeReturned, (amount) => amount * boughtAt)
}

/**
 * The part of a cancelled order's execution fee that came back; undefined: the transaction shows none, or no price of it is known. The keeper's
 * part is left out: it says nothing about what executing such an order costs.
 *
 * @param boughtAt as of `settlementOf`
 */
export function cancelSettlementOf(execution: Execution, boughtAt?: bigint): Settlement | undefined {
  const executionFeeReturnedUsd = returnedUsdOf(execution, boughtAt)
  return executionFeeReturnedUsd === undefined ? undefined : { executionFeeReturnedUsd }
}

/**
 * An execution as a settlement of the attempt that trades `market`; the price of another market has unknown decimals.
 *
 * @param boughtAt contract price at which the order's message bought the native token for its fees; absent: not known
 */
export function settlementOf(
  execution: Execution,
  market: { readonly marketToken: Address; readonly indexTokenDecimals: number },
  at: { readonly transactionHash: Hex; readonly timestampSeconds: number },
  boughtAt?: bigint,
): Settlement {
  const {
    executionContractPrice: price,
    marketToken,
    sizeDeltaUsd,
    sizeDeltaInTokens,
    feesUsd,
    borrowingFeeUsd,
    fundingFeeUsd,
    fundingReceivedUsd,
    priceImpactUsd,
    basePnlUsd,
    pnlUsd,
    swapResultUsd,
    executionFeePaid,
  } = execution
  const isOurs = marketToken !== undefined && sameHex(marketToken, market.marketToken)
  return {
    ...defined({
      executionPrice:
        price === undefined || !isOurs ? undefined : priceOfContractPrice(price, market.indexTokenDecimals),
      sizeDeltaUsd,
      sizeDeltaInTokens,
      feesUsd,
      borrowingFeeUsd,
      fundingFeeUsd,
      fundingReceivedUsd,
      priceImpactUsd,
      basePnlUsd,
      pnlUsd,
      swapResultUsd,
      executionFeePaid,
      executionFeeReturnedUsd: returnedUsdOf(execution, boughtAt),
    }),
    ...at,
  }
}
