/**
 * Computes gas prices on the paper chain and the fees that follow from them. Prepare requests the amounts that the venue's client computes by the
 * protocol's formula. The router and the keeper take the amounts that the contracts take (GasUtils, BaseGelatoRelayRouter).
 */

import { type Address, hexKey } from '../../protocol/address.ts'
import {
  executionFeeOf,
  executionGasOf,
  expressGasPrice,
  type FeePrices,
  type GasMessage,
  type GasOrder,
  type GasPrice,
  messageFeesOf,
} from '../../protocol/chains/feeFormula.ts'
import { type ChainGas, chainGas } from '../../protocol/chains/gas.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { headAt } from '../blocks/blockChain.ts'
import { baseFeeOf, priorityFeeOf } from '../blocks/rpcGas.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import type { PricePair } from '../math/marketState.ts'
import { bringsCollateral, orderTypes } from '../state/orderTypes.ts'
import type { SignedBatch } from '../state/venueRecords.ts'
import { tokenPrice, type VenueState } from '../state/venueState.ts'

/** The gas facts of a world's chain. */
export function gasOf(venueState: VenueState): ChainGas {
  return chainGas[venueState.chain.name]
}

/** Returns the gas price that the endpoints report at a moment (Unix ms): that of the next block, wei. */
function gasPriceAt(venueState: VenueState, nowMs: number): GasPrice {
  const { blockChain } = venueState
  return {
    networkGasPrice: baseFeeOf(blockChain, headAt(blockChain, nowMs) + 1),
    priorityFee: priorityFeeOf(venueState.chain.name),
  }
}

/** Returns the gas price that prepare uses; a fault can raise or lower it. */
function askedGasPrice(venueState: VenueState, nowMs: number): GasPrice {
  const { networkGasPrice, priorityFee } = gasPriceAt(venueState, nowMs)
  const share = BigInt(venueState.dataFaults.askedFeePercent)
  return { networkGasPrice: (networkGasPrice * share) / 100n, priorityFee: (priorityFee * share) / 100n }
}

/** Returns the price that a transaction pays per unit of gas at a moment, wei: no buffer, no premium. */
export function transactionGasPrice(venueState: VenueState, nowMs: number): bigint {
  const { networkGasPrice, priorityFee } = gasPriceAt(venueState, nowMs)
  return networkGasPrice + priorityFee
}

/** Returns the kind of order for the gas formula. */
export function gasOrderOf(order: CreateOrderParams): GasOrder {
  const type = Number(order.orderType)
  const swaps = order.addresses.swapPath.length
  if (type === orderTypes.marketSwap || type === orderTypes.limitSwap) return { kind: 'swap', swaps }
  if (bringsCollateral(type)) return { kind: 'increase', swaps }
  return { kind: 'decrease', swaps, isDecreaseWithSwapType: order.decreasePositionSwapType !== 0n }
}

/**
 * Gives orders the execution fees that the venue's client asks for. `bufferBps`: what the request puts on the gas price,
 * undefined: the chain's. A classic order is without the buffer of the relay.
 */
export function withExecutionFees(
  venueState: VenueState,
  orders: readonly CreateOrderParams[],
  asked: {
    readonly bufferBps: number | undefined
    readonly mode: 'express' | 'classic'
    readonly nowMs: number
  },
): CreateOrderParams[] {
  const gas = gasOf(venueState)
  const buffer = asked.bufferBps ?? gas.bufferBps
  const price = expressGasPrice(
    gas,
    askedGasPrice(venueState, asked.nowMs),
    asked.mode === 'express' ? buffer : buffer - gas.expressBufferBps,
  )
  return orders.map((order) => ({
    ...order,
    numbers: { ...order.numbers, executionFee: executionFeeOf(gas, price, gasOrderOf(order)) },
  }))
}

/** Sum of the orders' execution fees, wei. */
export function executionFeesOf(orders: readonly CreateOrderParams[]): bigint {
  return orders.reduce((sum, order) => sum + order.numbers.executionFee, 0n)
}

/** Execution fee that the venue's client reckons for an order now, wei. */
export function executionFeeNow(venueState: VenueState, order: CreateOrderParams, nowMs: number): bigint {
  const gas = gasOf(venueState)
  return executionFeeOf(gas, expressGasPrice(gas, gasPriceAt(venueState, nowMs)), gasOrderOf(order))
}

/** Least execution fee that the order handler takes at a moment, wei (GasUtils, validateAndCapExecutionFee). */
export function leastExecutionFee(venueState: VenueState, order: CreateOrderParams, nowMs: number): bigint {
  return executionGasOf(gasOf(venueState), gasOrderOf(order)) * transactionGasPrice(venueState, nowMs)
}

function wrappedNativeOf(venueState: VenueState): CatalogToken {
  const token = venueState.catalog.tokenByAddress.get(hexKey(venueState.chain.contracts.wrappedNative))
  if (token === undefined) throw new RangeError(`no wrapped native token on ${venueState.chain.name}`)
  return token
}

function feePricesOf(venueState: VenueState, feeToken: CatalogToken, seconds: number): FeePrices {
  const perToken = (price: bigint, token: CatalogToken) => price * 10n ** BigInt(token.decimals)
  const native = wrappedNativeOf(venueState)
  return {
    native: perToken(tokenPrice(venueState, native, seconds).max, native) as FeePrices['native'],
    feeToken: perToken(tokenPrice(venueState, feeToken, seconds).min, feeToken) as FeePrices['feeToken'],
    feeTokenDecimals: feeToken.decimals,
  }
}

/** A message as the fee formula counts it. */
function gasMessageOf(
  actions: {
    readonly creates: readonly CreateOrderParams[]
    readonly updates: readonly unknown[]
    readonly cancels: readonly unknown[]
  },
  feeSwapPath: readonly Address[],
  isSubaccount: boolean,
): GasMessage {
  return {
    creates: actions.creates.map(gasOrderOf),
    updates: actions.updates.length,
    cancels: actions.cancels.length,
    isSubaccount,
    feeSwaps: feeSwapPath.length,
  }
}

/**
 * Fee of a message in the fee token, base units: execution fees, what its updates add to them, and the relay's gas, with the
 * client's buffers and the cost of the fee's own swap.
 */
export function messageFee(
  venueState: VenueState,
  message: {
    readonly creates: readonly CreateOrderParams[]
    readonly updates: readonly { readonly executionFeeIncrease: bigint }[]
    readonly cancels: readonly unknown[]
    readonly feeToken: CatalogToken
    readonly feeSwapPath: readonly Address[]
    readonly isSubaccount: boolean
    readonly nowMs: number
  },
): bigint {
  const { feeToken, feeSwapPath, nowMs } = message
  const gas = gasOf(venueState)
  const price = expressGasPrice(gas, askedGasPrice(venueState, nowMs))
  const counted = gasMessageOf(message, feeSwapPath, message.isSubaccount)
  const prices = feePricesOf(venueState, feeToken, Math.floor(nowMs / 1000))
  const reckoned = messageFeesOf(gas, price, prices, counted).executionFees
  const asked = message.updates.reduce(
    (sum, update) => sum + update.executionFeeIncrease,
    executionFeesOf(message.creates),
  )
  // The orders may carry other fees than the formula's own: a request may ask for another buffer.
  const executionFeeIncreases = asked - reckoned.reduce((sum, fee) => sum + fee, 0n)
  return messageFeesOf(gas, price, prices, { ...counted, executionFeeIncreases }).feeAmount
}

/**
 * Splits a message's fee when it is mined, wei: its worth after the swap, and the relay's part for gas. `prices` are the oracle's prices of the swap;
 * without a swap there are none.
 */
export function relayedFee(
  venueState: VenueState,
  signed: SignedBatch,
  nowMs: number,
): {
  readonly availableWei: bigint
  readonly relayWei: bigint
  readonly prices: ReadonlyMap<Address, PricePair>
} {
  const gas = gasOf(venueState)
  const { batch, relayParams, subaccount } = signed
  const { feeToken, feeAmount, feeSwapPath } = relayParams.fee
  const token = venueState.catalog.tokenByAddress.get(hexKey(feeToken))
  if (token === undefined) throw new RangeError(`no fee token ${feeToken} on ${venueState.chain.name}`)
  const seconds = Math.floor(nowMs / 1000)
  const native = wrappedNativeOf(venueState)
  const isSwapped = feeSwapPath.length > 0
  const paid = tokenPrice(venueState, token, seconds)
  const received = tokenPrice(venueState, native, seconds)
  const swapped = feeAmount - (feeAmount * gas.feeSwapFactor) / 10n ** 30n
  const availableWei = isSwapped ? (swapped * paid.min) / received.max : feeAmount
  const counted = gasMessageOf(
    {
      creates: batch.createOrderParamsList,
      updates: batch.updateOrderParamsList,
      cancels: batch.cancelOrderKeys,
    },
    feeSwapPath,
    subaccount !== undefined,
  )
  const { relayFee } = messageFeesOf(
    gas,
    transactionGasPrice(venueState, nowMs),
    feePricesOf(venueState, token, seconds),
    counted,
  )
  // The formula holds the client's buffer; the relay takes its gas alone.
  const relayWei = (relayFee * 10_000n) / BigInt(10_000 + gas.relayBufferBps)
  const prices = new Map(
    isSwapped
      ? [
          [token.address, paid],
          [native.address, received],
        ]
      : [],
  )
  return { availableWei, relayWei, prices }
}
