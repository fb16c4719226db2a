/**
 * The copy of a batch beside its message, as the venue's client library shapes it: what each order was made from, the order
 * itself, and the transfers that a wallet would do. The express flag of an order's metadata is set in the message alone.
 */

import { defined } from '../../base/defined.ts'
import { type Address, type Hex, hexKey, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import { executionGasOf } from '../../protocol/chains/feeFormula.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import type { Json } from '../http/http.ts'
import { gasOf, gasOrderOf } from '../keeper/gasFees.ts'
import { bringsCollateral, orderTypes } from '../state/orderTypes.ts'
import type { VenueState } from '../state/venueState.ts'

/** Inputs that an order was made from and that the order itself does not state. */
export interface OrderDetails {
  /** Index token units. */
  readonly sizeDeltaInTokens: bigint
  /** Before slippage, USD with 30 decimals per whole token. */
  readonly acceptablePrice: bigint
  /** Change of the position's collateral, token units. */
  readonly collateralDeltaAmount: bigint
  /** Before slippage: token units of a swap, USD of a decrease. */
  readonly minOutput: bigint
  readonly slippageBps: bigint
  readonly collateralToken: Address
  /** Token that a decrease or a swap pays out; the native token by its own address. */
  readonly receiveToken: Address
}

/** Fields of a record with bigints as decimal strings; the nested ones are left to their own functions. */
export function texts(values: object): Record<string, Json> {
  const given = values as Readonly<Record<string, unknown>>
  const shown: Record<string, Json> = {}
  for (const name in given) {
    const value = given[name]
    shown[name] = typeof value === 'bigint' ? value.toString() : (value as Json)
  }
  return shown
}

/** An order in JSON: enums as numbers, amounts as decimal strings. */
export function orderJson(order: CreateOrderParams): Record<string, Json> {
  return {
    ...texts(order),
    numbers: texts(order.numbers),
    orderType: Number(order.orderType),
    decreasePositionSwapType: Number(order.decreasePositionSwapType),
  }
}

/** USD per whole token of a contract price; "any" has no scale. */
function apiPrice(price: bigint, scale: bigint): bigint {
  return price === MAX_UINT256 ? price : price * scale
}

/** The metadata word with its express flag, the last digit, unset. */
function withoutExpressFlag(word: Hex): Hex {
  let end = word.length
  while (word.endsWith('00', end)) end -= 2
  return word.endsWith('31', end) ? (`${word.slice(0, end - 1)}0${word.slice(end)}` as Hex) : word
}

function indexOf(
  venueState: VenueState,
  marketToken: Address,
): { readonly address: Address; readonly scale: bigint } | undefined {
  const market = venueState.marketByKey.get(hexKey(marketToken))
  if (market === undefined || market.settings.isSpotOnly) return undefined
  const { address, decimals } = market.indexToken
  return { address, scale: 10n ** BigInt(decimals) }
}

function createJson(venueState: VenueState, order: CreateOrderParams, details: OrderDetails): Json {
  const { addresses, numbers } = order
  const type = Number(order.orderType)
  const brings = bringsCollateral(type)
  const isSwap = type === orderTypes.marketSwap || type === orderTypes.limitSwap
  const index = indexOf(venueState, addresses.market)
  const scale = index?.scale ?? 1n
  const pays = {
    payTokenAddress: brings ? addresses.initialCollateralToken : ZERO_ADDRESS,
    payTokenAmount: (brings ? numbers.initialCollateralDeltaAmount : 0n).toString(),
  }
  const waits = type !== orderTypes.marketIncrease && type !== orderTypes.marketDecrease
  const destination = venueState.chain.contracts.orderVault
  const params = {
    chainId: venueState.chain.chainId,
    receiver: addresses.receiver,
    executionFeeAmount: numbers.executionFee,
    executionGasLimit: executionGasOf(gasOf(venueState), gasOrderOf(order)),
    ...defined({
      referralCode: order.referralCode === ZERO_HASH ? undefined : order.referralCode,
      uiFeeReceiver: addresses.uiFeeReceiver === ZERO_ADDRESS ? undefined : addresses.uiFeeReceiver,
    }),
    validFromTime: numbers.validFromTime,
    ...(isSwap || index === undefined
      ? {}
      : {
          marketAddress: addresses.market,
          indexTokenAddress: index.address,
          isLong: order.isLong,
          sizeDeltaUsd: numbers.sizeDeltaUsd,
          sizeDeltaInTokens: details.sizeDeltaInTokens,
          acceptablePrice: details.acceptablePrice,
          ...defined({ triggerPrice: waits ? apiPrice(numbers.triggerPrice, scale) : undefined }),
          collateralTokenAddress: details.collateralToken,
          collateralDeltaAmount: details.collateralDeltaAmount,
        }),
    ...(brings
      ? pays
      : {
          minOutputUsd: details.minOutput,
          decreasePositionSwapType: Number(order.decreasePositionSwapType),
        }),
    ...defined({
      minOutputAmount: isSwap ? details.minOutput : undefined,
      triggerRatio: type === orderTypes.limitSwap ? numbers.triggerPrice : undefined,
      receiveTokenAddress: isSwap || !brings ? details.receiveToken : undefined,
    }),
    swapPath: addresses.swapPath,
    orderType: type,
    allowedSlippage: Number(details.slippageBps),
    autoCancel: order.autoCancel,
  }
  const transfer = (tokenAddress: Address, amount: bigint): Json => ({
    tokenAddress,
    destination,
    amount: amount.toString(),
  })
  return {
    params: texts(params),
    orderPayload: { ...orderJson(order), dataList: order.dataList.map(withoutExpressFlag) },
    tokenTransfersParams: {
      isNativePayment: false,
      isNativeReceive: order.shouldUnwrapNativeToken,
      initialCollateralTokenAddress: addresses.initialCollateralToken,
      initialCollateralDeltaAmount: numbers.initialCollateralDeltaAmount.toString(),
      tokenTransfers: [
        transfer(ZERO_ADDRESS, numbers.executionFee),
        ...(brings ? [transfer(addresses.initialCollateralToken, numbers.initialCollateralDeltaAmount)] : []),
      ],
      ...pays,
      minOutputAmount: details.minOutput.toString(),
      swapPath: addresses.swapPath,
      value: numbers.executionFee.toString(),
    },
  }
}

function updateJson(venueState: VenueState, update: UpdateOrderParams): Json {
  const order = venueState.orders.get(hexKey(update.key))
  const index = order === undefined ? undefined : indexOf(venueState, order.params.addresses.market)
  const scale = index?.scale ?? 1n
  const { key, executionFeeIncrease, triggerPrice, acceptablePrice, sizeDeltaUsd, ...rest } = update
  const payload = {
    orderKey: key,
    sizeDeltaUsd,
    triggerPrice,
    acceptablePrice,
    minOutputAmount: rest.minOutputAmount,
    autoCancel: rest.autoCancel,
    validFromTime: rest.validFromTime,
    executionFeeTopUp: executionFeeIncrease,
  }
  // The builder divides its input, "any" too: what it made the largest number of is above it, what it divided is that number.
  const isDivided = acceptablePrice === MAX_UINT256 / scale
  return {
    params: texts({
      chainId: venueState.chain.chainId,
      indexTokenAddress: index?.address ?? ZERO_ADDRESS,
      ...payload,
      orderType: Number(order?.params.orderType ?? 0),
      triggerPrice: triggerPrice * scale,
      acceptablePrice: isDivided ? MAX_UINT256 : acceptablePrice * scale,
    }),
    updatePayload: texts(payload),
  }
}

/** `batchParams` of a batch; `details` are those of its creates, in their order. */
export function batchParamsJson(
  venueState: VenueState,
  batch: {
    readonly creates: readonly CreateOrderParams[]
    readonly details: readonly OrderDetails[]
    readonly updates: readonly UpdateOrderParams[]
    readonly cancels: readonly Hex[]
  },
): Record<string, Json> {
  return {
    createOrderParams: batch.creates.map((order, i) => {
      const details = batch.details[i]
      if (details === undefined) throw new RangeError(`no details of order ${i} of a batch`)
      return createJson(venueState, order, details)
    }),
    updateOrderParams: batch.updates.map((update) => updateJson(venueState, update)),
    cancelOrderParams: batch.cancels.map((orderKey) => ({ orderKey })),
  }
}

/** Actions of a batch. */
export interface BatchActions {
  readonly creates: readonly CreateOrderParams[]
  /** Inputs that the creates were made from, in their order. */
  readonly details: readonly OrderDetails[]
  readonly updates: readonly UpdateOrderParams[]
  readonly cancels: readonly Hex[]
}
