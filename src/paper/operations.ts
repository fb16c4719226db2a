/**
 * Signed batches on the chain: a batch lands whole or reverts whole, uses its digest once, and not after its deadline
 * (wire: eip712-and-chain, sections 2 and 4).
 */

import { type Batch, type CreateOrderParams, orderKeyOf, type RelayParams } from '../chains/relayRouter.ts'
import type { Address } from '../domain/address.ts'
import { type Hex, hexKey, ZERO_ADDRESS } from '../domain/address.ts'
import { mine, useDigest } from './chain.ts'
import { revertBytes } from './customErrors.ts'
import { givenError } from './givenError.ts'
import { cancelOrder } from './keeper.ts'
import { ProtocolRevert } from './model/revert.ts'
import { bringsCollateral, isMarketOrder, orderTypes } from './orderTypes.ts'
import { unit } from './random.ts'
import { relayInput, routerOf } from './relayCall.ts'
import { checkSubaccount, type SubaccountUse } from './subaccounts.ts'
import { MAX_SWAP_PATH } from './swaps.ts'
import { recordTrade } from './trades.ts'
import { pullTokens } from './wallet.ts'
import {
  accountOf,
  madeHash,
  nextTransactionHash,
  type Operation,
  type OrderRecord,
  schedule,
  type World,
} from './world.ts'

/** Takes an operation in; it lands after the relay's delay. The signature has been checked by the caller. */
export function acceptOperation(
  world: World,
  options: {
    readonly account: Address
    readonly requestId: string | null
    readonly batch: Batch
    readonly relayParams: RelayParams
    readonly subaccount?: SubaccountUse | undefined
    readonly digest: Hex
    readonly signature?: Hex
    readonly calldata?: Hex
    readonly nowMs: number
  },
): Operation {
  world.counters.task += 1
  const operation: Operation = {
    taskId: madeHash(world, 'task', world.counters.task),
    account: options.account,
    requestId: options.requestId,
    batch: options.batch,
    relayParams: options.relayParams,
    ...(options.subaccount === undefined ? {} : { subaccount: options.subaccount }),
    digest: options.digest,
    ...(options.signature === undefined ? {} : { signature: options.signature }),
    ...(options.calldata === undefined ? {} : { calldata: options.calldata }),
    acceptedAtMs: options.nowMs,
    landsAtMs: options.nowMs + world.settings.relayDelayMs,
    status: 'pending',
    orderKeys: [],
    updatedAtMs: options.nowMs,
  }
  world.operations.set(operation.taskId, operation)
  schedule(world, { atMs: operation.landsAtMs, kind: 'land', taskId: operation.taskId })
  return operation
}

/** The transaction of an operation is mined: its orders exist, or nothing happened. */
export function landOperation(world: World, taskId: string, nowMs: number): void {
  const operation = world.operations.get(taskId)
  if (operation === undefined || operation.status !== 'pending') return
  if (world.dataFaults.relay === 'never-lands') return
  operation.updatedAtMs = nowMs
  if (world.dataFaults.relay === 'fails') {
    operation.status = 'failed'
    operation.error = { code: 'RELAY_FAILED', message: 'The relay gave up; nothing was sent', data: '0x' }
    return
  }
  operation.txHash = nextTransactionHash(world)
  const transaction = mine(world.blockChain, {
    hash: operation.txHash,
    sender: 'relayer',
    to: routerOf(world, operation),
    input: relayInput(operation),
  })
  const undo = snapshotOf(world, operation.account)
  try {
    requireValid(world, operation, nowMs)
    if (world.dataFaults.relayReverts !== '') throw givenError(world.dataFaults.relayReverts)
    const keepSubaccount = checkSubaccount(world, operation, nowMs)
    payRelayFee(world, operation)
    for (const params of operation.batch.createOrderParamsList) createOrder(world, operation, params, nowMs)
    for (const update of operation.batch.updateOrderParamsList) updateOrder(world, operation, update, nowMs)
    for (const key of operation.batch.cancelOrderKeys) cancelByUser(world, operation, key, nowMs)
    keepSubaccount()
    operation.status = 'executed'
    world.usedDigests.add(hexKey(operation.digest))
    useDigest(world.blockChain, transaction, operation.digest)
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    undo()
    operation.orderKeys = []
    operation.status = 'reverted'
    operation.error = { code: error.errorName, message: error.message, data: revertBytes(error) }
    transaction.logs = []
    transaction.revertData = operation.error.data
  }
}

/** What a revert must put back: the account's money, the order store, the history and work that was added. */
function snapshotOf(world: World, address: Address): () => void {
  const account = accountOf(world, address)
  const balances = new Map(account.balances)
  const allowances = new Map(account.allowances)
  const orders = [...world.orders].map(([key, order]) => [key, { ...order }] as const)
  const trades = world.trades.length
  const due = [...world.due]
  return () => {
    account.balances.clear()
    for (const [key, value] of balances) account.balances.set(key, value)
    account.allowances.clear()
    for (const [key, value] of allowances) account.allowances.set(key, value)
    world.orders.clear()
    for (const [key, order] of orders) world.orders.set(key, order)
    world.trades.length = trades
    world.due.splice(0, world.due.length, ...due)
  }
}

function requireValid(world: World, operation: Operation, nowMs: number): void {
  const { batch, relayParams, digest } = operation
  const blockTime = BigInt(Math.floor(nowMs / 1000))
  if (relayParams.desChainId !== BigInt(world.chain.chainId)) {
    throw new ProtocolRevert('InvalidDestinationChainId', [relayParams.desChainId])
  }
  if (blockTime > relayParams.deadline) {
    throw new ProtocolRevert('DeadlinePassed', [blockTime, relayParams.deadline])
  }
  if (world.usedDigests.has(hexKey(digest))) throw new ProtocolRevert('InvalidUserDigest', [digest])
  const actions =
    batch.createOrderParamsList.length + batch.updateOrderParamsList.length + batch.cancelOrderKeys.length
  if (actions === 0) throw new ProtocolRevert('RelayEmptyBatch')
}

function payRelayFee(world: World, operation: Operation): void {
  const { feeToken, feeAmount, feeSwapPath } = operation.relayParams.fee
  const wrappedNative = world.chain.contracts.wrappedNative
  const allowed = world.chain.gasPaymentTokens.some((token) => hexKey(token) === hexKey(feeToken))
  const isWrappedNative = hexKey(feeToken) === hexKey(wrappedNative)
  if (!allowed || (!isWrappedNative && feeSwapPath.length === 0)) {
    throw new ProtocolRevert('UnexpectedRelayFeeToken', [feeToken, wrappedNative])
  }
  pullTokens(world, operation.account, feeToken, feeAmount)
}

function createOrder(world: World, operation: Operation, params: CreateOrderParams, nowMs: number): void {
  const type = Number(params.orderType)
  if (type > 8 || type === orderTypes.liquidation) {
    throw new ProtocolRevert('OrderTypeCannotBeCreated', [params.orderType])
  }
  if (hexKey(params.addresses.receiver) === hexKey(ZERO_ADDRESS)) throw new ProtocolRevert('EmptyReceiver')
  if (params.addresses.swapPath.length > MAX_SWAP_PATH) {
    throw new ProtocolRevert('MaxSwapPathLengthExceeded', [
      BigInt(params.addresses.swapPath.length),
      BigInt(MAX_SWAP_PATH),
    ])
  }
  if (bringsCollateral(type)) {
    pullTokens(
      world,
      operation.account,
      params.addresses.initialCollateralToken,
      params.numbers.initialCollateralDeltaAmount,
    )
  }
  world.counters.order += 1
  const key = orderKeyOf(world.chain.contracts.dataStore, BigInt(world.counters.order))
  const seconds = Math.floor(nowMs / 1000)
  const order: OrderRecord = {
    key,
    account: operation.account,
    params,
    isFrozen: false,
    updatedAtSeconds: seconds,
    requestId: operation.requestId,
  }
  world.orders.set(hexKey(key), order)
  world.outcomes.set(hexKey(key), { status: 'created', updatedAtMs: nowMs })
  operation.orderKeys.push(key)
  recordTrade(world, order, 'OrderCreated', seconds, operation.txHash ?? '0x')
  if (isMarketOrder(type)) {
    const { keeperDelayMs, keeperJitterMs, relayDelayMs } = world.settings
    const jitter = keeperJitterMs * unit(world.seed, world.counters.order)
    const wait =
      Math.max(1, Math.round(keeperDelayMs - relayDelayMs + jitter)) + world.dataFaults.keeperExtraDelayMs
    schedule(world, { atMs: nowMs + wait, kind: 'execute', orderKey: key })
  }
}

function ownOrder(world: World, operation: Operation, key: Hex): OrderRecord {
  const order = world.orders.get(hexKey(key))
  if (order === undefined) throw new ProtocolRevert('OrderNotFound', [key])
  if (hexKey(order.account) !== hexKey(operation.account)) {
    throw new ProtocolRevert('Unauthorized', [operation.account, 'account'])
  }
  return order
}

function updateOrder(
  world: World,
  operation: Operation,
  update: Batch['updateOrderParamsList'][number],
  nowMs: number,
): void {
  const order = ownOrder(world, operation, update.key)
  if (isMarketOrder(Number(order.params.orderType))) {
    throw new ProtocolRevert('OrderNotUpdatable', [order.params.orderType])
  }
  order.params = {
    ...order.params,
    autoCancel: update.autoCancel,
    numbers: {
      ...order.params.numbers,
      sizeDeltaUsd: update.sizeDeltaUsd,
      acceptablePrice: update.acceptablePrice,
      triggerPrice: update.triggerPrice,
      minOutputAmount: update.minOutputAmount,
      validFromTime: update.validFromTime,
      executionFee: order.params.numbers.executionFee + update.executionFeeIncrease,
    },
  }
  order.isFrozen = false
  order.updatedAtSeconds = Math.floor(nowMs / 1000)
  recordTrade(world, order, 'OrderUpdated', order.updatedAtSeconds, operation.txHash ?? '0x')
}

function cancelByUser(world: World, operation: Operation, key: Hex, nowMs: number): void {
  const order = ownOrder(world, operation, key)
  if (isMarketOrder(Number(order.params.orderType))) {
    const age = BigInt(Math.floor(nowMs / 1000) - order.updatedAtSeconds)
    const expiration = BigInt(world.chain.requestExpirationSeconds)
    if (age < expiration) {
      throw new ProtocolRevert('RequestNotYetCancellable', [age, expiration, 'Order'])
    }
  }
  cancelOrder(world, order, 'USER_INITIATED_CANCEL', nowMs, operation.txHash)
}
