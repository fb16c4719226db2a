/**
 * The exchange router as an account calls it: money is sent to the order vault, and the order that is created takes what the
 * vault received since the last (ExchangeRouter, OrderUtils.createOrder, OrderVault.recordTransferIn).
 */
import type { Hex } from 'viem'
import { encodeAbiParameters } from 'viem/utils'
import { type Address, hexKey, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { orderKeyOf, type UpdateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { emitTransfer } from '../blocks/plainLogs.ts'
import {
  cancelByUser,
  type OrderRun,
  requireCreatable,
  requireExecutionFee,
  storeOrder,
  updateOrder,
} from '../keeper/relayBatch.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { isContract, tokenAt } from '../state/contracts.ts'
import { bringsCollateral, isMarketOrder, orderTypes } from '../state/orderTypes.ts'
import { contractHolding, nativeAddress } from '../state/purse.ts'
import type { VenueState } from '../state/venueState.ts'
import { pullTokens } from '../state/wallets.ts'
import { type CallFrame, emptyRevert, passedOn, spendGas, textRevert, workGas } from './callFrame.ts'
import { claimFunding, claimRewards } from './claimCalls.ts'
import type { RouterCall } from './classicCalls.ts'
import { readSimulation } from './classicCalls.ts'
import { type SimulatedPrices, simulateOrder } from './classicSimulate.ts'

/** Most words of an order's data list (contract setting). */
const MAX_DATA_LIST = 18n

/** A contract call of the exchange router with what the orders' own functions need. */
interface RouterRun {
  readonly frame: CallFrame
  readonly orders: OrderRun
}

/** Runs calls of the exchange router one after the other; what each returns. Throws ProtocolRevert, OutOfGas. */
export function runRouter(frame: CallFrame, calls: readonly RouterCall[]): Hex[] {
  const { venueState, from, nowMs, transaction } = frame
  const orders: OrderRun = {
    venueState,
    account: from,
    requestId: null,
    nowMs,
    txHash: transaction.hash,
    orderKeys: [],
  }
  return calls.map((call) => runOne({ frame, orders }, call))
}

function runOne(run: RouterRun, call: RouterCall): Hex {
  const { frame } = run
  switch (call.functionName) {
    case 'sendWnt':
      sendWnt(frame, ...call.args)
      return '0x'
    case 'sendTokens':
      sendTokens(frame, ...call.args)
      return '0x'
    case 'createOrder':
      return encodeAbiParameters([{ type: 'bytes32' }], [createOrder(run, call.args[0])])
    case 'updateOrder':
      editOrder(run, call.args)
      return '0x'
    case 'cancelOrder':
      cancelOrder(run, call.args[0])
      return '0x'
    case 'claimFundingFees':
      return claimFunding(frame, call.args)
    case 'claimAffiliateRewards':
      return claimRewards(frame, call.args)
    case 'makeExternalCalls':
      return callOthers(frame, call.args)
    case 'simulateExecuteOrder':
      return simulate(frame, call.args[0], call.args[1], frame.venueState.chain.contracts.exchangeRouter)
    case 'simulateExecuteLatestOrder':
      return simulateLatest(frame, call.args[0], frame.venueState.chain.contracts.exchangeRouter)
    case 'multicall':
      throw emptyRevert()
  }
}

function requireReceiver(receiver: Address): void {
  if (sameHex(receiver, ZERO_ADDRESS)) throw new ProtocolRevert('EmptyReceiver')
}

/** Wraps coins that the router holds, this call's value among them, and sends them on. */
function sendWnt(frame: CallFrame, receiver: Address, amount: bigint): void {
  const { venueState, purse } = frame
  const { exchangeRouter, wrappedNative } = venueState.chain.contracts
  spendGas(frame, workGas.sendWnt)
  requireReceiver(receiver)
  if (amount === 0n) return
  if (!purse.take(exchangeRouter, nativeAddress(venueState), amount)) throw emptyRevert()
  purse.give(receiver, wrappedNative, amount)
  emitTransfer(frame, wrappedNative, exchangeRouter, receiver, amount)
}

function sendTokens(frame: CallFrame, token: Address, receiver: Address, amount: bigint): void {
  const { venueState, from, purse } = frame
  spendGas(frame, workGas.sendTokens)
  requireReceiver(receiver)
  if (tokenAt(venueState, token) === undefined) throw textRevert('Address: call to non-contract')
  pullTokens(venueState, from, token, amount)
  purse.give(receiver, token, amount)
  emitTransfer(frame, token, from, receiver, amount)
}

/** Returns the amount of a token that the order vault received since the last call. */
function recordTransferIn({ venueState, purse }: CallFrame, token: Address): bigint {
  const { orderVault } = venueState.chain.contracts
  if (tokenAt(venueState, token) === undefined) throw emptyRevert()
  const amount = contractHolding(venueState, orderVault, token)
  purse.take(orderVault, token, amount)
  return amount
}

type CreateParams = Extract<RouterCall, { functionName: 'createOrder' }>['args'][0]

function createOrder({ frame, orders }: RouterRun, given: CreateParams): Hex {
  const { venueState, from, nowMs } = frame
  const { orderVault, wrappedNative } = venueState.chain.contracts
  const { addresses, numbers } = given
  const type = given.orderType
  spendGas(frame, workGas.createOrder)
  if (type > orderTypes.stopIncrease || type === orderTypes.liquidation) {
    throw new ProtocolRevert('OrderTypeCannotBeCreated', [BigInt(type)])
  }
  let { executionFee, initialCollateralDeltaAmount } = numbers
  const brings = bringsCollateral(type)
  const paysFeeApart = !(brings && sameHex(addresses.initialCollateralToken, wrappedNative))
  if (brings) initialCollateralDeltaAmount = recordTransferIn(frame, addresses.initialCollateralToken)
  const wrapped = paysFeeApart ? recordTransferIn(frame, wrappedNative) : initialCollateralDeltaAmount
  if (wrapped < executionFee) {
    throw new ProtocolRevert('InsufficientWntAmountForExecutionFee', [wrapped, executionFee])
  }
  // An amount sent beyond the fee adds to the fee, or to the collateral where both are the wrapped native token.
  if (paysFeeApart) executionFee = wrapped
  else initialCollateralDeltaAmount -= executionFee
  const params = {
    ...given,
    orderType: BigInt(type),
    decreasePositionSwapType: BigInt(given.decreasePositionSwapType),
    numbers: { ...numbers, executionFee, initialCollateralDeltaAmount },
  }
  requirePositionMarket(venueState, type, addresses.market)
  requireCreatable(venueState, from, params)
  if (sameHex(addresses.cancellationReceiver, orderVault)) {
    throw new ProtocolRevert('InvalidReceiver', [addresses.cancellationReceiver])
  }
  if (numbers.validFromTime !== 0n && isMarketOrder(type)) {
    throw new ProtocolRevert('UnexpectedValidFromTime', [BigInt(type)])
  }
  const words = BigInt(given.dataList.length)
  if (words > MAX_DATA_LIST) throw new ProtocolRevert('MaxDataListLengthExceeded', [words, MAX_DATA_LIST])
  requireExecutionFee(venueState, params, executionFee, nowMs)
  requireNonEmpty(numbers.sizeDeltaUsd, initialCollateralDeltaAmount)
  return storeOrder(orders, params)
}

function requirePositionMarket(venueState: VenueState, type: number, address: Address): void {
  if (type === orderTypes.marketSwap || type === orderTypes.limitSwap) return
  const market = venueState.marketByKey.get(hexKey(address))
  if (market === undefined) throw new ProtocolRevert('EmptyMarket')
  if (market.settings.isSpotOnly) throw new ProtocolRevert('InvalidPositionMarket', [address])
}

function requireNonEmpty(sizeDeltaUsd: bigint, collateralAmount: bigint): void {
  if (sizeDeltaUsd === 0n && collateralAmount === 0n) throw new ProtocolRevert('EmptyOrder')
}

type UpdateArgs = Extract<RouterCall, { functionName: 'updateOrder' }>['args']

function editOrder({ frame, orders }: RouterRun, args: UpdateArgs): void {
  const { venueState, from } = frame
  const [key, sizeDeltaUsd, acceptablePrice, triggerPrice, minOutputAmount, validFromTime, autoCancel] = args
  spendGas(frame, workGas.updateOrder)
  const order = venueState.orders.get(hexKey(key))
  if (order === undefined || !sameHex(order.account, from)) {
    throw new ProtocolRevert('Unauthorized', [from, 'account for updateOrder'])
  }
  const executionFeeIncrease = recordTransferIn(frame, venueState.chain.contracts.wrappedNative)
  const update: UpdateOrderParams = {
    key,
    sizeDeltaUsd,
    acceptablePrice,
    triggerPrice,
    minOutputAmount,
    validFromTime,
    autoCancel,
    executionFeeIncrease,
  }
  updateOrder(orders, update)
  requireNonEmpty(sizeDeltaUsd, order.params.numbers.initialCollateralDeltaAmount)
}

function cancelOrder({ frame, orders }: RouterRun, key: Hex): void {
  const { venueState, from } = frame
  spendGas(frame, workGas.cancelOrder)
  const order = venueState.orders.get(hexKey(key))
  if (order === undefined) throw new ProtocolRevert('EmptyOrder')
  if (!sameHex(order.account, from)) {
    throw new ProtocolRevert('Unauthorized', [from, 'account for cancelOrder'])
  }
  cancelByUser(orders, key)
}

function simulate(frame: CallFrame, key: Hex, prices: SimulatedPrices, caller: Address): never {
  spendGas(frame, workGas.simulate)
  return simulateOrder(frame.venueState, key, prices, caller, frame.nowMs)
}

/** Simulates the newest order of the chain, whoever's it is. Throws ProtocolRevert always, or OutOfGas. */
export function simulateLatest(frame: CallFrame, prices: SimulatedPrices, caller: Address): never {
  const { venueState } = frame
  const key = orderKeyOf(venueState.chain.contracts.dataStore, BigInt(venueState.counters.order))
  return simulate(frame, key, prices, caller)
}

type OtherCalls = Extract<RouterCall, { functionName: 'makeExternalCalls' }>['args']

/** ExternalHandler.makeExternalCalls: the only other contract that is served is the SimulationRouter. */
function callOthers(frame: CallFrame, [targets, dataList, refundTokens, refundReceivers]: OtherCalls): Hex {
  const { venueState } = frame
  const { simulationRouter } = venueState.chain.contracts
  spendGas(frame, workGas.makeExternalCalls)
  if (targets.length !== dataList.length) {
    throw new ProtocolRevert('InvalidExternalCallInput', [BigInt(targets.length), BigInt(dataList.length)])
  }
  if (refundTokens.length !== refundReceivers.length) {
    throw new ProtocolRevert('InvalidExternalReceiversInput', [
      BigInt(refundTokens.length),
      BigInt(refundReceivers.length),
    ])
  }
  for (const [i, target] of targets.entries()) {
    if (!isContract(venueState, target)) throw new ProtocolRevert('InvalidExternalCallTarget', [target])
    try {
      if (!sameHex(target, simulationRouter)) throw emptyRevert()
      simulateLatest(frame, readSimulation(dataList[i] ?? '0x'), simulationRouter)
    } catch (error) {
      throw error instanceof ProtocolRevert ? passedOn(error) : error
    }
  }
  return '0x'
}
