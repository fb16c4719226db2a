/** The orders inside a signed message (contract `RelayUtils`): what the relay router creates and updates. */
import type { Address, Hex } from './address.ts'

/** Addresses of one created order. */
export interface CreateOrderAddresses {
  readonly receiver: Address
  readonly cancellationReceiver: Address
  readonly callbackContract: Address
  readonly uiFeeReceiver: Address
  readonly market: Address
  readonly initialCollateralToken: Address
  readonly swapPath: readonly Address[]
}

/** Numbers of one created order. Prices are contract prices of the index token. */
export interface CreateOrderNumbers {
  readonly sizeDeltaUsd: bigint
  readonly initialCollateralDeltaAmount: bigint
  readonly triggerPrice: bigint
  readonly acceptablePrice: bigint
  readonly executionFee: bigint
  readonly callbackGasLimit: bigint
  readonly minOutputAmount: bigint
  readonly validFromTime: bigint
}

/** One order to create. */
export interface CreateOrderParams {
  readonly addresses: CreateOrderAddresses
  readonly numbers: CreateOrderNumbers
  readonly orderType: bigint
  readonly decreasePositionSwapType: bigint
  readonly isLong: boolean
  readonly shouldUnwrapNativeToken: boolean
  readonly autoCancel: boolean
  readonly referralCode: Hex
  readonly dataList: readonly Hex[]
}

/** One order to update. */
export interface UpdateOrderParams {
  readonly key: Hex
  readonly sizeDeltaUsd: bigint
  readonly acceptablePrice: bigint
  readonly triggerPrice: bigint
  readonly minOutputAmount: bigint
  readonly validFromTime: bigint
  readonly autoCancel: boolean
  readonly executionFeeIncrease: bigint
}

/** A message of the caller's own. */
export interface BatchTerms {
  readonly createOrderParamsList: readonly CreateOrderParams[]
  readonly updateOrderParamsList: readonly UpdateOrderParams[]
  readonly cancelOrderKeys: readonly Hex[]
}
