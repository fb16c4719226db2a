/** The trade history: one row an order event, in wire names. */
import type { Hex } from '../domain/address.ts'
import { madeHash, type OrderRecord, type TradeRow, type World } from './world.ts'

/** Appends a row; `fields` win over the order's own figures. */
export function recordTrade(
  world: World,
  order: OrderRecord,
  eventName: TradeRow['eventName'],
  seconds: number,
  transactionHash: Hex,
  fields: TradeRow['fields'] = {},
): void {
  world.counters.trade += 1
  const { addresses, numbers } = order.params
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
