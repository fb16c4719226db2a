/**
 * What gas costs on the paper chain, and the fees that follow from it: prepare asks for what the venue's client reckons by
 * the protocol's formula, the router and the keeper take what the contracts take (GasUtils, BaseGelatoRelayRouter).
 */

import {
  executionFeeOf,
  executionGasOf,
  expressGasPrice,
  type FeePrices,
  type GasMessage,
  type GasOrder,
  type GasPrice,
  messageFeesOf,
} from '../chains/feeFormula.ts'
import { type ChainGas, chainGas } from '../chains/gas.ts'
import type { CreateOrderParams } from '../chains/relayRouter.ts'
import { type Address, hexKey } from '../domain/address.ts'
import type { CatalogToken } from './catalog.ts'
import { headAt } from './chain.ts'
import { bringsCollateral, orderTypes } from './orderTypes.ts'
import { baseFeeOf, priorityFeeOf } from './rpcGas.ts'
import { tokenPrice, type World } from './world.ts'
import type { SignedBatch } from './worldRecords.ts'

/** The gas facts of a world's chain. */
export function gasOf(world: World): ChainGas {
  return chainGas[world.chain.name]
}

/** What the endpoints say at a moment (Unix ms): the price of the block that comes next, wei. */
export function gasPriceAt(world: World, nowMs: number): GasPrice {
  const { blockChain } = world
  return {
    networkGasPrice: baseFeeOf(blockChain, headAt(blockChain, nowMs) + 1),
    priorityFee: priorityFeeOf(world.chain.name),
  }
}

/** What prepare makes of the gas price: a fault may have it ask for more or less. */
function askedGasPrice(world: World, nowMs: number): GasPrice {
  const { networkGasPrice, priorityFee } = gasPriceAt(world, nowMs)
  const share = BigInt(world.dataFaults.askedFeePercent)
  return { networkGasPrice: (networkGasPrice * share) / 100n, priorityFee: (priorityFee * share) / 100n }
}

/** What a transaction pays for gas at a moment, wei: no buffer, no premium. */
export function transactionGasPrice(world: World, nowMs: number): bigint {
  const { networkGasPrice, priorityFee } = gasPriceAt(world, nowMs)
  return networkGasPrice + priorityFee
}

/** What an order is counted as. */
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
  world: World,
  orders: readonly CreateOrderParams[],
  asked: {
    readonly bufferBps: number | undefined
    readonly mode: 'express' | 'classic'
    readonly nowMs: number
  },
): CreateOrderParams[] {
  const gas = gasOf(world)
  const buffer = asked.bufferBps ?? gas.bufferBps
  const price = expressGasPrice(
    gas,
    askedGasPrice(world, asked.nowMs),
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
export function executionFeeNow(world: World, order: CreateOrderParams, nowMs: number): bigint {
  const gas = gasOf(world)
  return executionFeeOf(gas, expressGasPrice(gas, gasPriceAt(world, nowMs)), gasOrderOf(order))
}

/** Least execution fee that the order handler takes at a moment, wei (GasUtils, validateAndCapExecutionFee). */
export function leastExecutionFee(world: World, order: CreateOrderParams, nowMs: number): bigint {
  return executionGasOf(gasOf(world), gasOrderOf(order)) * transactionGasPrice(world, nowMs)
}

function wrappedNativeOf(world: World): CatalogToken {
  const token = world.catalog.tokenByAddress.get(hexKey(world.chain.contracts.wrappedNative))
  if (token === undefined) throw new RangeError(`no wrapped native token on ${world.chain.name}`)
  return token
}

function feePricesOf(world: World, feeToken: CatalogToken, seconds: number): FeePrices {
  const perToken = (price: bigint, token: CatalogToken) => price * 10n ** BigInt(token.decimals)
  const native = wrappedNativeOf(world)
  return {
    native: perToken(tokenPrice(world, native, seconds).max, native) as FeePrices['native'],
    feeToken: perToken(tokenPrice(world, feeToken, seconds).min, feeToken) as FeePrices['feeToken'],
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
  world: World,
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
  const gas = gasOf(world)
  const price = expressGasPrice(gas, askedGasPrice(world, nowMs))
  const counted = gasMessageOf(message, feeSwapPath, message.isSubaccount)
  const prices = feePricesOf(world, feeToken, Math.floor(nowMs / 1000))
  const reckoned = messageFeesOf(gas, price, prices, counted).executionFees
  const asked = message.updates.reduce(
    (sum, update) => sum + update.executionFeeIncrease,
    executionFeesOf(message.creates),
  )
  // The orders may carry other fees than the formula's own: a request may ask for another buffer.
  const executionFeeIncreases = asked - reckoned.reduce((sum, fee) => sum + fee, 0n)
  return messageFeesOf(gas, price, prices, { ...counted, executionFeeIncreases }).feeAmount
}

/** What becomes of a message's fee when it is mined, wei: its worth after the swap, and what the relay takes for gas. */
export function relayedFee(
  world: World,
  signed: SignedBatch,
  nowMs: number,
): { readonly availableWei: bigint; readonly relayWei: bigint } {
  const gas = gasOf(world)
  const { batch, relayParams, subaccount } = signed
  const { feeToken, feeAmount, feeSwapPath } = relayParams.fee
  const token = world.catalog.tokenByAddress.get(hexKey(feeToken))
  if (token === undefined) throw new RangeError(`no fee token ${feeToken} on ${world.chain.name}`)
  const seconds = Math.floor(nowMs / 1000)
  const native = wrappedNativeOf(world)
  const swapped =
    feeSwapPath.length === 0 ? feeAmount : feeAmount - (feeAmount * gas.feeSwapFactor) / 10n ** 30n
  const availableWei =
    feeSwapPath.length === 0
      ? feeAmount
      : (swapped * tokenPrice(world, token, seconds).min) / tokenPrice(world, native, seconds).max
  const counted = gasMessageOf(
    {
      creates: batch.createOrderParamsList,
      updates: batch.updateOrderParamsList,
      cancels: batch.cancelOrderKeys,
    },
    feeSwapPath,
    subaccount !== undefined,
  )
  const prices = feePricesOf(world, token, seconds)
  const { relayFee } = messageFeesOf(gas, transactionGasPrice(world, nowMs), prices, counted)
  // The formula holds the client's buffer; the relay takes its gas alone.
  return { availableWei, relayWei: (relayFee * 10_000n) / BigInt(10_000 + gas.relayBufferBps) }
}
