/** Deliberate faults that a prepare response may have. */
import type { Address, Hex } from '../../protocol/address.ts'
import type { CreateOrderParams, RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { BatchActions } from './batchParams.ts'

/** Kinds of payload mismatch, as the `prepare` fault names them. */
export type PayloadMismatch = 'foreign-receiver' | 'batch-copy' | 'relay-copy'

/** Somebody else: where a payload mismatch sends the money. */
const thirdParty: Address = '0x00000000000000000000000000000000DeaDBeef'

/** An order that pays somebody else. */
export function payingSomebodyElse(order: CreateOrderParams): CreateOrderParams {
  return { ...order, addresses: { ...order.addresses, receiver: thirdParty } }
}

/** The actions as a copy that contradicts the message tells them: other receivers, other sizes, other keys. */
export function disagreeing(actions: BatchActions): BatchActions {
  return {
    ...actions,
    creates: actions.creates.map(payingSomebodyElse),
    updates: actions.updates.map((update) => ({ ...update, sizeDeltaUsd: update.sizeDeltaUsd + 1n })),
    cancels: actions.cancels.map((key): Hex => `0x${'5'.repeat(8)}${key.slice(10)}`),
  }
}

/** Relay parameters that ask for another fee than the message's hash stands for. */
export function dearer(relayParams: RelayParams): RelayParams {
  return { ...relayParams, fee: { ...relayParams.fee, feeAmount: relayParams.fee.feeAmount + 1n } }
}
