/** Classic payloads: a transaction to the exchange router that the account sends itself; classicRun.ts runs it. */
import type { Hex } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { sameHex } from '../../protocol/address.ts'
import type { Json } from '../http/http.ts'
import { bringsCollateral } from '../state/orderTypes.ts'
import type { VenueState } from '../state/venueState.ts'
import { exchangeRouterAbi } from '../transactions/exchangeRouterAbi.ts'
import type { BatchActions } from './batchParams.ts'

/** The transaction of a batch; `paysNative` sends the pay amount of wrapped native orders as value. */
export function classicPayload(
  venueState: VenueState,
  actions: BatchActions,
  paysNative: boolean,
): { readonly [name: string]: Json } {
  const { contracts } = venueState.chain
  const abi = exchangeRouterAbi
  const calls: Hex[] = []
  let value = 0n
  for (const order of actions.creates) {
    const { initialCollateralToken } = order.addresses
    const { executionFee, initialCollateralDeltaAmount } = order.numbers
    const brings = bringsCollateral(Number(order.orderType)) && initialCollateralDeltaAmount > 0n
    const asValue = brings && paysNative && sameHex(initialCollateralToken, contracts.wrappedNative)
    const native = executionFee + (asValue ? initialCollateralDeltaAmount : 0n)
    value += native
    calls.push(encodeFunctionData({ abi, functionName: 'sendWnt', args: [contracts.orderVault, native] }))
    if (brings && !asValue) {
      calls.push(
        encodeFunctionData({
          abi,
          functionName: 'sendTokens',
          args: [initialCollateralToken, contracts.orderVault, initialCollateralDeltaAmount],
        }),
      )
    }
    calls.push(
      encodeFunctionData({
        abi,
        functionName: 'createOrder',
        args: [
          {
            ...order,
            orderType: Number(order.orderType),
            decreasePositionSwapType: Number(order.decreasePositionSwapType),
          },
        ],
      }),
    )
  }
  for (const update of actions.updates) {
    if (update.executionFeeIncrease > 0n) {
      value += update.executionFeeIncrease
      calls.push(
        encodeFunctionData({
          abi,
          functionName: 'sendWnt',
          args: [contracts.orderVault, update.executionFeeIncrease],
        }),
      )
    }
    calls.push(
      encodeFunctionData({
        abi,
        functionName: 'updateOrder',
        args: [
          update.key,
          update.sizeDeltaUsd,
          update.acceptablePrice,
          update.triggerPrice,
          update.minOutputAmount,
          update.validFromTime,
          update.autoCancel,
        ],
      }),
    )
  }
  for (const key of actions.cancels) {
    calls.push(encodeFunctionData({ abi, functionName: 'cancelOrder', args: [key] }))
  }
  return {
    to: contracts.exchangeRouter,
    data: encodeFunctionData({ abi, functionName: 'multicall', args: [calls] }),
    value: value.toString(),
  }
}
