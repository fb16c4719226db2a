/**
 * A signed batch as the router runs it: creates, updates and cancels, in this order and all or none; its digest is used
 * once, and not after its deadline (contract `GelatoRelayRouter`, `batch`; contract `BaseGelatoRelayRouter`, `digests`).
 */
import { type Address, type Hex, hexKey, ZERO_ADDRESS } from '../../protocol/address.ts'
import { type Batch, type CreateOrderParams, orderKeyOf } from '../../protocol/signing/relayRouter.ts'
import { type ChainTransaction, mine, type Sender, useDigest } from '../blocks/blockChain.ts'
import { revertBytes } from '../blocks/customErrors.ts'
import { emitTransfer } from '../blocks/plainLogs.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { unit } from '../math/random.ts'
import { MAX_SWAP_PATH } from '../pools/swaps.ts'
import { accountOf, addTo } from '../state/accounts.ts'
import { requireEnabled } from '../state/enabled.ts'
import { bringsCollateral, isMarketOrder, orderTypes } from '../state/orderTypes.ts'
import { rememberHoldings } from '../state/pastHoldings.ts'
import { rememberFor } from '../state/rollback.ts'
import type { OrderRecord, SignedBatch } from '../state/venueRecords.ts'
import { nextTransactionHash, schedule, type VenueState } from '../state/venueState.ts'
import { pullTokens } from '../state/wallets.ts'
import { requireAutoCancelSlot } from './autoCancel.ts'
import { emitPrices } from './events.ts'
import { executionFeesOf, leastExecutionFee, relayedFee } from './gasFees.ts'
import { cancelOrder } from './orderEnds.ts'
import { relayInput, routerOf } from './relayCall.ts'
import { checkSubaccount, removeSubaccount } from './subaccountKeys.ts'
import { recordTrade } from './tradeRecords.ts'

/** Result of a batch on the chain. */
export interface Landing {
  readonly txHash: Hex
  /** Orders that were created; empty after a revert. */
  readonly orderKeys: readonly Hex[]
  readonly revert?: ProtocolRevert
}

/** A transaction while it works on the orders of an account. */
export interface OrderRun {
  readonly venueState: VenueState
  readonly account: Address
  /** Request at the order chain that it came from; null for everything else. */
  readonly requestId: string | null
  /** Moment of the block, Unix ms. */
  readonly nowMs: number
  readonly txHash: Hex
  /** Orders that were created so far. */
  readonly orderKeys: Hex[]
}

/** A batch while it runs. */
interface Run extends OrderRun {
  readonly signed: SignedBatch
  readonly transaction: ChainTransaction
}

/** Mines the transaction of a batch: its actions are done, or nothing is. `mustRevert` is thrown on purpose. */
export function runBatch(
  venueState: VenueState,
  signed: SignedBatch,
  options: { readonly sender: Sender; readonly nowMs: number; readonly mustRevert?: ProtocolRevert },
): Landing {
  const { batch, digest } = signed
  const { sender, nowMs } = options
  const txHash = nextTransactionHash(venueState)
  const transaction = mine(venueState.blockChain, {
    hash: txHash,
    sender,
    to: routerOf(venueState, signed),
    input: relayInput(signed),
  })
  rememberHoldings(venueState, signed.account, nowMs)
  const named = [...batch.updateOrderParamsList.map(({ key }) => key), ...batch.cancelOrderKeys]
  const undo = rememberFor(venueState, signed.account, named)
  const { account, requestId } = signed
  const run: Run = { venueState, signed, transaction, account, requestId, nowMs, txHash, orderKeys: [] }
  try {
    requireValid(run)
    if (options.mustRevert !== undefined) throw options.mustRevert
    const keepSubaccount = checkSubaccount(venueState, signed, nowMs)
    payRelayFee(run)
    for (const params of batch.createOrderParamsList) createOrder(run, params)
    for (const update of batch.updateOrderParamsList) updateOrder(run, update)
    for (const key of batch.cancelOrderKeys) cancelByUser(run, key)
    keepSubaccount()
    if (signed.removes !== undefined) removeSubaccount(venueState, signed.account, signed.removes)
    venueState.usedDigests.add(hexKey(digest))
    useDigest(venueState.blockChain, transaction, digest)
    return { txHash, orderKeys: run.orderKeys }
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    undo()
    transaction.logs = []
    transaction.revertData = revertBytes(error)
    return { txHash, orderKeys: [], revert: error }
  }
}

function requireValid({ venueState, signed, nowMs }: Run): void {
  const { batch, relayParams, digest, removes } = signed
  const blockTime = BigInt(Math.floor(nowMs / 1000))
  if (relayParams.desChainId !== BigInt(venueState.chain.chainId)) {
    throw new ProtocolRevert('InvalidDestinationChainId', [relayParams.desChainId])
  }
  if (blockTime > relayParams.deadline) {
    throw new ProtocolRevert('DeadlinePassed', [blockTime, relayParams.deadline])
  }
  if (venueState.usedDigests.has(hexKey(digest))) throw new ProtocolRevert('InvalidUserDigest', [digest])
  const actions =
    batch.createOrderParamsList.length + batch.updateOrderParamsList.length + batch.cancelOrderKeys.length
  if (actions === 0 && removes === undefined) throw new ProtocolRevert('RelayEmptyBatch')
}

/**
 * Takes the fee. What neither the orders nor the relay need returns, in the wrapped native token; the fee is swapped at the oracle's
 * prices, which the transaction shows.
 */
function payRelayFee({ venueState, signed, transaction, nowMs }: Run): void {
  const { feeToken, feeAmount, feeSwapPath } = signed.relayParams.fee
  const wrappedNative = venueState.chain.contracts.wrappedNative
  const allowed = venueState.chain.gasPaymentTokens.some((token) => hexKey(token) === hexKey(feeToken))
  const isWrappedNative = hexKey(feeToken) === hexKey(wrappedNative)
  if (!allowed || (!isWrappedNative && feeSwapPath.length === 0)) {
    throw new ProtocolRevert('UnexpectedRelayFeeToken', [feeToken, wrappedNative])
  }
  const { batch, account } = signed
  const wanted = batch.updateOrderParamsList.reduce(
    (sum, update) => sum + update.executionFeeIncrease,
    executionFeesOf(batch.createOrderParamsList),
  )
  const { availableWei, relayWei, prices } = relayedFee(venueState, signed, nowMs)
  if (availableWei < wanted + relayWei) {
    throw new ProtocolRevert('InsufficientRelayFee', [wanted + relayWei, availableWei])
  }
  pullTokens(venueState, account, feeToken, feeAmount)
  emitPrices(venueState, transaction, prices, Math.floor(nowMs / 1000))
  const left = availableWei - wanted - relayWei
  if (left === 0n) return
  addTo(accountOf(venueState, account).balances, wrappedNative, left)
  emitTransfer({ transaction }, wrappedNative, transaction.to, account, left)
}

function createOrder(run: Run, params: CreateOrderParams): void {
  const { venueState, account, nowMs } = run
  requireCreatable(venueState, account, params)
  requireExecutionFee(venueState, params, params.numbers.executionFee, nowMs)
  if (bringsCollateral(Number(params.orderType))) {
    pullTokens(
      venueState,
      account,
      params.addresses.initialCollateralToken,
      params.numbers.initialCollateralDeltaAmount,
    )
  }
  storeOrder(run, params)
}

/** Puts an order whose money has arrived into the store, and tells the keeper of a market order; its key. */
export function storeOrder(run: OrderRun, params: CreateOrderParams): Hex {
  const { venueState, account, requestId, nowMs } = run
  venueState.counters.order += 1
  const key = orderKeyOf(venueState.chain.contracts.dataStore, BigInt(venueState.counters.order))
  const seconds = Math.floor(nowMs / 1000)
  const order: OrderRecord = {
    key,
    account,
    params,
    isFrozen: false,
    updatedAtSeconds: seconds,
    requestId,
  }
  venueState.orders.set(hexKey(key), order)
  venueState.outcomes.set(hexKey(key), { status: 'created', updatedAtMs: nowMs })
  run.orderKeys.push(key)
  recordTrade(venueState, order, 'OrderCreated', seconds, run.txHash)
  if (isMarketOrder(Number(params.orderType))) {
    const { keeperDelayMs, keeperJitterMs, keeperDelaysMs, relayDelayMs } = venueState.settings
    const draw = unit(venueState.seed, venueState.counters.order)
    const delayMs =
      keeperDelaysMs[Math.floor(draw * keeperDelaysMs.length)] ?? keeperDelayMs + keeperJitterMs * draw
    const wait = Math.max(1, Math.round(delayMs - relayDelayMs)) + venueState.dataFaults.keeperExtraDelayMs
    schedule(venueState, { atMs: nowMs + wait, kind: 'execute', orderKey: key })
  }
  return key
}

/** An order pays for its execution at today's gas, when it is made and when it is updated. Throws ProtocolRevert. */
export function requireExecutionFee(
  venueState: VenueState,
  params: CreateOrderParams,
  executionFee: bigint,
  nowMs: number,
): void {
  const least = leastExecutionFee(venueState, params, nowMs)
  if (executionFee < least) throw new ProtocolRevert('InsufficientExecutionFee', [least, executionFee])
}

/** Refuses an order that the protocol refuses whatever was paid for it. Throws ProtocolRevert. */
export function requireCreatable(venueState: VenueState, account: Address, params: CreateOrderParams): void {
  const type = Number(params.orderType)
  const { addresses } = params
  if (type > 8 || type === orderTypes.liquidation) {
    throw new ProtocolRevert('OrderTypeCannotBeCreated', [params.orderType])
  }
  if (hexKey(addresses.receiver) === hexKey(ZERO_ADDRESS)) throw new ProtocolRevert('EmptyReceiver')
  if (addresses.swapPath.length > MAX_SWAP_PATH) {
    throw new ProtocolRevert('MaxSwapPathLengthExceeded', [
      BigInt(addresses.swapPath.length),
      BigInt(MAX_SWAP_PATH),
    ])
  }
  requireEnabled(venueState, [addresses.market, ...addresses.swapPath])
  if (params.autoCancel) requireAutoCancelSlot(venueState, account, params)
}

function ownOrder({ venueState, account }: OrderRun, key: Hex): OrderRecord {
  const order = venueState.orders.get(hexKey(key))
  if (order === undefined) throw new ProtocolRevert('OrderNotFound', [key])
  if (hexKey(order.account) !== hexKey(account)) {
    throw new ProtocolRevert('Unauthorized', [account, 'account'])
  }
  return order
}

/** Gives a resting order new terms and unfreezes it. Throws ProtocolRevert. */
export function updateOrder(run: OrderRun, update: Batch['updateOrderParamsList'][number]): void {
  const order = ownOrder(run, update.key)
  if (isMarketOrder(Number(order.params.orderType))) {
    throw new ProtocolRevert('OrderNotUpdatable', [order.params.orderType])
  }
  const executionFee = order.params.numbers.executionFee + update.executionFeeIncrease
  requireExecutionFee(run.venueState, order.params, executionFee, run.nowMs)
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
      executionFee,
    },
  }
  order.isFrozen = false
  order.updatedAtSeconds = Math.floor(run.nowMs / 1000)
  recordTrade(run.venueState, order, 'OrderUpdated', order.updatedAtSeconds, run.txHash)
}

/** Cancels an order of the account; a market order only once it has expired. Throws ProtocolRevert. */
export function cancelByUser(run: OrderRun, key: Hex): void {
  const { venueState, nowMs } = run
  const order = ownOrder(run, key)
  if (isMarketOrder(Number(order.params.orderType))) {
    const age = BigInt(Math.floor(nowMs / 1000) - order.updatedAtSeconds)
    const expiration = BigInt(venueState.chain.requestExpirationSeconds)
    if (age < expiration) {
      throw new ProtocolRevert('RequestNotYetCancellable', [age, expiration, 'Order'])
    }
  }
  cancelOrder(venueState, order, 'USER_INITIATED_CANCEL', nowMs, run.txHash)
}
