/** Ends or freezes an order: its outcome, its collateral, its row and its event. */
import { defined } from '../../base/defined.ts'
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import { positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import { revertBytes } from '../blocks/customErrors.ts'
import type { ProtocolRevert } from '../math/protocolRevert.ts'
import { accountOf, addTo } from '../state/accounts.ts'
import { bringsCollateral } from '../state/orderTypes.ts'
import type { OrderRecord } from '../state/venueRecords.ts'
import { nextTransactionHash, type VenueState } from '../state/venueState.ts'
import { payExecutionFee } from './executionFees.ts'
import { recordTrade } from './tradeRecords.ts'

/**
 * Cancels an order and returns its collateral; the reason is a custom error or a word of the protocol. `hash` is the
 * transaction it happens in; absent: one of the keeper's own.
 */
export function cancelOrder(
  venueState: VenueState,
  order: OrderRecord,
  reason: ProtocolRevert | string,
  nowMs: number,
  hash: Hex = nextTransactionHash(venueState),
): void {
  const type = Number(order.params.orderType)
  const { initialCollateralToken } = order.params.addresses
  const amount = order.params.numbers.initialCollateralDeltaAmount
  if (bringsCollateral(type) && amount > 0n) {
    addTo(accountOf(venueState, order.account).balances, initialCollateralToken, amount)
  }
  endOrder(venueState, order, 'cancelled', hash, nowMs, typeof reason === 'string' ? reason : reason.message)
  recordTrade(venueState, order, 'OrderCancelled', Math.floor(nowMs / 1000), hash, {
    reason: typeof reason === 'string' ? reason : '',
    reasonBytes: typeof reason === 'string' ? '0x' : revertBytes(reason),
  })
  payExecutionFee(
    venueState,
    order,
    reason === 'USER_INITIATED_CANCEL' ? 'own-cancel' : 'cancel',
    hash,
    nowMs,
  )
}

/** Freezes a resting order that failed: it stays in the store, with what the work left of its fee, until it is edited or cancelled. */
export function freezeOrder(
  venueState: VenueState,
  order: OrderRecord,
  revert: ProtocolRevert,
  nowMs: number,
): void {
  if (order.isFrozen) return
  order.isFrozen = true
  const hash = nextTransactionHash(venueState)
  recordTrade(venueState, order, 'OrderFrozen', Math.floor(nowMs / 1000), hash, {
    reason: '',
    reasonBytes: revertBytes(revert),
  })
  payExecutionFee(venueState, order, 'freeze', hash, nowMs)
}

/** Takes an order out of the store with its outcome. */
export function endOrder(
  venueState: VenueState,
  order: OrderRecord,
  status: 'executed' | 'cancelled',
  executionTxnHash: Hex,
  nowMs: number,
  reason?: string,
): void {
  venueState.orders.delete(hexKey(order.key))
  venueState.outcomes.set(hexKey(order.key), {
    status,
    executionTxnHash,
    updatedAtMs: nowMs,
    ...defined({ reason }),
  })
}

/**
 * Cancels the auto-cancel orders of the position that an order closed, in the same transaction, after its own fee was paid (contract
 * `ExecuteOrderUtils`, `clearAutoCancelOrders`); nothing while the position is there. The order itself has left the store.
 */
export function cancelWithPosition(
  venueState: VenueState,
  { account, params }: OrderRecord,
  nowMs: number,
  hash: Hex,
): void {
  const closed = positionOf(account, params)
  if (venueState.positions.has(closed)) return
  for (const order of [...venueState.orders.values()]) {
    if (!order.params.autoCancel || bringsCollateral(Number(order.params.orderType))) continue
    if (positionOf(order.account, order.params) === closed)
      cancelOrder(venueState, order, 'AUTO_CANCEL', nowMs, hash)
  }
}

function positionOf(account: Address, { addresses, isLong }: OrderRecord['params']): string {
  return positionKeyOf(account, addresses.market, addresses.initialCollateralToken, isLong)
}
