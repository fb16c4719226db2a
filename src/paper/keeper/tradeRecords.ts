/** The trade history: one row an order event, in wire names. */
import { type Hex, hexKey } from '../../protocol/address.ts'
import { notePositionTrade } from '../pools/ledger.ts'
import type { OrderRecord, TradeRow } from '../state/venueRecords.ts'
import { madeHash, type VenueState } from '../state/venueState.ts'
import { emitOrderEvent } from './events.ts'

/** The beginning of the metadata word of an order that is no part of a twap: `gmxo:1:0:`. */
const WHOLE_ORDER = `0x${Buffer.from('gmxo:1:0:').toString('hex')}`

/** Fields of a part of a twap, from the metadata word of its order (quote.ts); none for any other order. */
function twapOf({ account, params }: OrderRecord): TradeRow['fields'] {
  const [word = '0x'] = params.dataList
  if (word.startsWith(WHOLE_ORDER)) return {}
  const text = Buffer.from(word.slice(2), 'hex').toString('ascii')
  const [, parts = '', twapId = ''] = /^gmxo:1:(\d{1,2}):([0-9a-f]{4}):/.exec(text) ?? []
  return Number(parts) > 0 ? { numberOfParts: Number(parts), twapGroupId: `${account}:${twapId}` } : {}
}

/** Appends a row, and its event to the chain; `fields` win over the order's own figures. */
export function recordTrade(
  venueState: VenueState,
  order: OrderRecord,
  eventName: TradeRow['eventName'],
  seconds: number,
  transactionHash: Hex,
  fields: TradeRow['fields'] = {},
): void {
  venueState.counters.trade += 1
  emitOrderEvent(venueState, order, eventName, transactionHash, fields)
  const { addresses, numbers } = order.params
  const market =
    eventName === 'OrderExecuted' ? venueState.marketByKey.get(hexKey(addresses.market)) : undefined
  if (market !== undefined && !market.settings.isSpotOnly) {
    notePositionTrade(venueState, order.account, market, order.params.isLong, {
      sizeDeltaUsd: numbers.sizeDeltaUsd,
      ...fields,
    })
  }
  if (venueState.traders.has(order.account)) venueState.populationTrades += 1
  venueState.trades.push({
    id: madeHash(venueState, 'trade', venueState.counters.trade),
    account: order.account,
    orderKey: order.key,
    eventName,
    orderType: Number(order.params.orderType),
    timestamp: seconds,
    fields: {
      transactionHash,
      marketAddress: addresses.market,
      swapPath: addresses.swapPath,
      initialCollateralTokenAddress: addresses.initialCollateralToken,
      initialCollateralDeltaAmount: numbers.initialCollateralDeltaAmount,
      sizeDeltaUsd: numbers.sizeDeltaUsd,
      acceptablePrice: numbers.acceptablePrice,
      triggerPrice: numbers.triggerPrice,
      minOutputAmount: numbers.minOutputAmount,
      isLong: order.params.isLong,
      shouldUnwrapNativeToken: order.params.shouldUnwrapNativeToken,
      decreasePositionSwapType: order.params.decreasePositionSwapType.toString(),
      ...twapOf(order),
      ...fields,
    },
  })
}
