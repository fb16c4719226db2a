/**
 * The copy of a message that a prepare answer carries beside it, `payload.batchParams`: what the venue builds the call of the
 * relay router from. Its `orderPayload` and `updatePayload` have every field of what is signed, some by another name; the
 * builder's inputs next to them (`params`, `tokenTransfersParams`) are in no hash, and some of them say the same once more.
 */
import type { Hex } from '../../protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../protocol/signing/relayRouter.ts'
import {
  address,
  boolean,
  bytes32,
  type Decoder,
  inside,
  list,
  object,
  optional,
  uint,
} from '../decode/decode.ts'
import { createOrderParams } from './typedData.ts'

const addresses = (value: unknown, name: string) => list(value, name, address)

/** Fields of an order's `params` that a message or an intent says too. */
const orderInputs = {
  chainId: uint,
  receiver: address,
  marketAddress: address,
  indexTokenAddress: address,
  collateralTokenAddress: address,
  payTokenAddress: address,
  payTokenAmount: uint,
  receiveTokenAddress: address,
  swapPath: addresses,
  isLong: boolean,
  orderType: uint,
  decreasePositionSwapType: uint,
  sizeDeltaUsd: uint,
  /** USD with 30 decimals per whole token; "any" without a scale. */
  triggerPrice: uint,
  executionFeeAmount: uint,
  validFromTime: uint,
  autoCancel: boolean,
} as const

/** Fields of an order's `tokenTransfersParams`: what a wallet would send for it. */
const transferInputs = {
  isNativePayment: boolean,
  isNativeReceive: boolean,
  initialCollateralTokenAddress: address,
  initialCollateralDeltaAmount: uint,
  payTokenAddress: address,
  payTokenAmount: uint,
  swapPath: addresses,
  value: uint,
  tokenTransfers: (value: unknown, name: string) =>
    list(value, name, (row) => {
      const { tokenAddress, amount } = object(row)
      return { tokenAddress: address(tokenAddress, 'tokenAddress'), amount: uint(amount, 'amount') }
    }),
} as const

/** Fields of an update's `params`. */
const updateInputs = {
  chainId: uint,
  indexTokenAddress: address,
  orderKey: bytes32,
  sizeDeltaUsd: uint,
  /** USD with 30 decimals per whole token. */
  triggerPrice: uint,
  minOutputAmount: uint,
  validFromTime: uint,
  autoCancel: boolean,
  executionFeeTopUp: uint,
} as const

type Inputs<T extends Readonly<Record<string, Decoder<unknown>>>> = {
  readonly [K in keyof T]?: ReturnType<T[K]>
}

/** A builder's inputs of one order; absent is what a host does not show. */
export interface OrderInputs {
  readonly params: Inputs<typeof orderInputs>
  readonly tokenTransfersParams: Inputs<typeof transferInputs>
}

/** A builder's inputs of one update. */
export interface UpdateInputs {
  readonly params: Inputs<typeof updateInputs>
}

/** A message as its copy says it. */
export interface BatchCopy {
  readonly createOrderParamsList: readonly CreateOrderParams[]
  readonly updateOrderParamsList: readonly UpdateOrderParams[]
  readonly cancelOrderKeys: readonly Hex[]
  /** The builder's inputs, in the order of the lists; absent: none are shown. */
  readonly orderInputs?: readonly OrderInputs[]
  readonly updateInputs?: readonly UpdateInputs[]
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
    orderInputs: list(fields.createOrderParams, 'createOrderParams', (row) => ({
      params: inputs(row, 'params', orderInputs),
      tokenTransfersParams: inputs(row, 'tokenTransfersParams', transferInputs),
    })),
    updateInputs: list(fields.updateOrderParams, 'updateOrderParams', (row) => ({
      params: inputs(row, 'params', updateInputs),
    })),
  }
}

/** The fields of a table that stand in an object of a row; none where the row has no such object. */
function inputs<T extends Readonly<Record<string, Decoder<unknown>>>>(
  row: unknown,
  name: string,
  table: T,
): Inputs<T> {
  const given = object(row)[name]
  if (given === undefined || given === null) return {}
  return inside(given, name, (value) => {
    const fields = object(value)
    const found: Record<string, unknown> = {}
    for (const [field, decode] of Object.entries(table)) {
      const decoded = optional(fields[field], field, decode)
      if (decoded !== undefined) found[field] = decoded
    }
    return found as Inputs<T>
  })
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
