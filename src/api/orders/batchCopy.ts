/**
 * The copy of a message that a prepare answer carries beside it, `payload.batchParams`: what the venue builds the call of the
 * relay router from. Its `orderPayload` and `updatePayload` have every field of what is signed, some by another name; the
 * builder's own inputs beside them (`params`, `tokenTransfersParams`) say the same in other units and are in no hash.
 */
import type { Hex } from '../../protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { boolean, bytes32, inside, list, object, uint } from '../decode/decode.ts'
import { createOrderParams } from './typedData.ts'

/** A message as its copy says it. */
export interface BatchCopy {
  readonly createOrderParamsList: readonly CreateOrderParams[]
  readonly updateOrderParamsList: readonly UpdateOrderParams[]
  readonly cancelOrderKeys: readonly Hex[]
}

/** Decodes `payload.batchParams`. Throws `Malformed`. */
export function batchCopy(value: unknown): BatchCopy {
  const fields = object(value)
  return {
    createOrderParamsList: list(fields.createOrderParams, 'createOrderParams', (row) =>
      inside(object(row).orderPayload, 'orderPayload', createOrderParams),
    ),
    updateOrderParamsList: list(fields.updateOrderParams, 'updateOrderParams', (row) =>
      inside(object(row).updatePayload, 'updatePayload', updateCopy),
    ),
    cancelOrderKeys: list(fields.cancelOrderParams, 'cancelOrderParams', (row) =>
      bytes32(object(row).orderKey, 'orderKey'),
    ),
  }
}

function updateCopy(value: unknown): UpdateOrderParams {
  const row = object(value)
  return {
    key: bytes32(row.orderKey, 'orderKey'),
    sizeDeltaUsd: uint(row.sizeDeltaUsd, 'sizeDeltaUsd'),
    acceptablePrice: uint(row.acceptablePrice, 'acceptablePrice'),
    triggerPrice: uint(row.triggerPrice, 'triggerPrice'),
    minOutputAmount: uint(row.minOutputAmount, 'minOutputAmount'),
    validFromTime: uint(row.validFromTime, 'validFromTime'),
    autoCancel: boolean(row.autoCancel, 'autoCancel'),
    executionFeeIncrease: uint(row.executionFeeTopUp, 'executionFeeTopUp'),
  }
}
