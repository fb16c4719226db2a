/**
 * Settles an order's execution fee. The sender of the executing transaction is paid for the gas, the rest returns to the account in native coin
 * (contracts: GasUtils, payExecutionFee).
 */
import { type Hex, hexKey, ZERO_ADDRESS } from '../../protocol/address.ts'
import { executionGasOf } from '../../protocol/chains/feeFormula.ts'
import { accountOf, addTo } from '../state/accounts.ts'
import type { OrderRecord } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'
import { emitExecutionFee } from './events.ts'
import { gasOf, gasOrderOf, transactionGasPrice } from './gasFees.ts'

/** Gas of a work on an order, percent of what its execution is counted as. */
const gasPercent = { execution: 80n, freeze: 80n, cancel: 40n, 'own-cancel': 10n } as const

/**
 * Pays the work on an order out of its execution fee. What is left returns to the account, but for a freeze: a frozen order
 * keeps it.
 */
export function payExecutionFee(
  venueState: VenueState,
  order: OrderRecord,
  work: keyof typeof gasPercent,
  hash: Hex,
  nowMs: number,
): void {
  const { addresses, numbers } = order.params
  const { executionFee } = numbers
  if (executionFee === 0n) return
  const gas = (executionGasOf(gasOf(venueState), gasOrderOf(order.params)) * gasPercent[work]) / 100n
  const cost = gas * transactionGasPrice(venueState, nowMs)
  const paid = cost < executionFee ? cost : executionFee
  const left = executionFee - paid
  if (work === 'freeze') {
    order.params = { ...order.params, numbers: { ...numbers, executionFee: left } }
    emitExecutionFee(venueState, order, hash, { paid, refund: undefined })
    return
  }
  const { cancellationReceiver } = addresses
  const receiver =
    hexKey(cancellationReceiver) === hexKey(ZERO_ADDRESS) ? order.account : cancellationReceiver
  const native = venueState.catalog.catalog.tokens.find((one) => one.isNative)
  if (left > 0n && native !== undefined) addTo(accountOf(venueState, receiver).balances, native.address, left)
  emitExecutionFee(venueState, order, hash, {
    paid,
    refund: left > 0n ? { receiver, amount: left } : undefined,
  })
}
