/** The trade history: one row an order event, in wire names. */
import { type Hex, hexKey } from '../domain/address.ts'
import { emitOrderEvent } from './events.ts'
import { notePositionTrade } from './ledger.ts'
import { madeHash, type World } from './world.ts'
import type { OrderRecord, TradeRow } from './worldRecords.ts'

/** Appends a row, and its event to the chain; `fields` win over the order's own figures. */
export function recordTrade(
  world: World,
  order: OrderRecord,
  eventName: TradeRow['eventName'],
  seconds: number,
  transactionHash: Hex,
  fields: TradeRow['fields'] = {},
): void {
  world.counters.trade += 1
  emitOrderEvent(world, order, eventName, transactionHash, fields)
  const { addresses, numbers } = order.params
  const market = eventName === 'OrderExecuted' ? world.marketByKey.get(hexKey(addresses.market)) : undefined
  if (market !== undefined && !market.settings.isSpotOnly) {
    notePositionTrade(world, order.account, market, order.params.isLong, {
      sizeDeltaUsd: numbers.sizeDeltaUsd,
      ...fields,
    })
  }
  if (world.traders.has(order.account)) world.populationTrades += 1
  world.trades.push({
    id: madeHash(world, 'trade', world.counters.trade),
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
      ...fields,
    },
  })
}
