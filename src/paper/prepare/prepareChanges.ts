/**
 * Edits, cancels and collateral changes: prepare requests that act on what exists (test/paper/behaviours-orders.test.ts,
 * H).
 */

import { type Address, type Hex, hexKey, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { badFields, type FieldError, type Json, parseAddress, refused } from '../http/http.ts'
import { uintOf, unknownFields } from '../http/prepareShape.ts'
import { executionFeeNow, executionFeesOf, withExecutionFees } from '../keeper/gasFees.ts'
import { markPriceOf, withSlippage } from '../math/client/acceptablePrice.ts'
import { accrue } from '../math/increase.ts'
import { cloneMarket, type MarketPrices, slotPrice } from '../math/marketState.ts'
import { scaleOf } from '../pools/marketRows.ts'
import { positionsOfAccount } from '../state/accounts.ts'
import { isEnabled } from '../state/enabled.ts'
import { orderTypes } from '../state/orderTypes.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'
import type { BatchActions, OrderDetails } from './batchParams.ts'
import { ordersOfAccount, positionKeyText } from './positionRows.ts'
import { metadataOf, moveAgainst } from './quote.ts'
import { shownPositionOf } from './shownPosition.ts'

/** Result of a change. */
export interface PreparedChange {
  readonly account: Address
  readonly actions: BatchActions
  readonly estimates: Json
}

type Body = Readonly<Record<string, unknown>>

/** Account of a change in express mode. Throws HttpFailure 400. */
function accountOf(body: Body): Address {
  const errors: Record<string, FieldError> = {}
  if (body.mode !== 'express' && body.mode !== 'classic') {
    errors.mode = { message: "'mode' must be one of express, classic" }
  }
  const from = parseAddress(body.from)
  if (from === undefined) errors.from = { message: "'from' is required and must be an address" }
  if (Object.keys(errors).length > 0 || from === undefined) throw badFields(errors)
  return from
}

/** An order of the account's own. Throws HttpFailure 400 for an unknown or foreign key. */
function ownOrder(venueState: VenueState, account: Address, key: string): OrderRecord {
  const order = venueState.orders.get(hexKey(key))
  if (order === undefined || hexKey(order.account) !== hexKey(account)) {
    throw refused('INVALID_PARAMS', `No open order of the account has the key ${key}`)
  }
  return order
}

function keysOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Refuses fields that the venue's own client does not send with a change. Throws HttpFailure 400. */
function requireKnown(venueState: VenueState, body: Body): void {
  const errors = venueState.settings.strictPrepare ? unknownFields(body, ['gasPaymentToken']) : {}
  if (Object.keys(errors).length > 0) throw badFields(errors)
}

/** `/orders/txns/edit/prepare`. Throws HttpFailure 400. */
export function prepareEdit(venueState: VenueState, body: Body, nowMs: number): PreparedChange {
  requireKnown(venueState, body)
  const account = accountOf(body)
  const keys = keysOf(body.orderIds)
  if (keys.length === 0) throw badFields({ orderIds: { message: "'orderIds' must be a non-empty list" } })
  const names = ['newSize', 'newTriggerPrice', 'newAcceptablePrice', 'executionFeeTopUp'] as const
  const given: Partial<Record<(typeof names)[number], bigint>> = {}
  for (const name of names) {
    if (body[name] === undefined) continue
    const value = uintOf(body[name])
    if (value === undefined)
      throw badFields({ [name]: { message: `'${name}' must be a non-negative integer` } })
    given[name] = value
  }
  if (Object.keys(given).length === 0 && typeof body.newAutoCancel !== 'boolean') {
    throw refused(
      'INVALID_PARAMS',
      'An edit changes at least one of size, trigger, acceptable price, autoCancel, fee',
    )
  }
  const updates = keys.map((key): UpdateOrderParams => {
    const order = ownOrder(venueState, account, key)
    const { numbers, addresses, autoCancel } = order.params
    const market = venueState.marketByKey.get(hexKey(addresses.market))
    const scale = market === undefined || market.settings.isSpotOnly ? 1n : scaleOf(market.indexToken)
    const asked = given.newAcceptablePrice
    const acceptable =
      asked === undefined ? numbers.acceptablePrice : asked === MAX_UINT256 ? MAX_UINT256 : asked / scale
    const isDivided = acceptable === MAX_UINT256 && venueState.settings.dividesAnyPrice
    return {
      key: order.key,
      sizeDeltaUsd: given.newSize ?? numbers.sizeDeltaUsd,
      triggerPrice:
        given.newTriggerPrice === undefined ? numbers.triggerPrice : given.newTriggerPrice / scale,
      // "Any" has no scale, and the client's library divides it all the same.
      acceptablePrice: isDivided ? MAX_UINT256 / scale : acceptable,
      minOutputAmount: numbers.minOutputAmount,
      validFromTime: 0n,
      autoCancel: typeof body.newAutoCancel === 'boolean' ? body.newAutoCancel : autoCancel,
      executionFeeIncrease: given.executionFeeTopUp ?? missingFee(venueState, order, nowMs),
    }
  })
  return {
    account,
    actions: { creates: [], details: [], updates, cancels: [] },
    estimates: estimatesOf(updates.reduce((sum, update) => sum + update.executionFeeIncrease, 0n)),
  }
}

/** Returns the amount by which an order's execution fee is below today's, wei; 0 where the venue does not top fees up unasked. */
function missingFee(venueState: VenueState, order: OrderRecord, nowMs: number): bigint {
  if (!venueState.settings.topsUpFees) return 0n
  const missing = executionFeeNow(venueState, order.params, nowMs) - order.params.numbers.executionFee
  return missing > 0n ? missing : 0n
}

/** Estimates of a change: it has no size of its own. */
function estimatesOf(executionFee: bigint, acceptablePrice = 0n): Json {
  return {
    positionPriceImpactDeltaUsd: '0',
    swapPriceImpactDeltaUsd: '0',
    executionFeeAmount: executionFee.toString(),
    acceptablePrice: acceptablePrice.toString(),
    sizeDeltaUsd: '0',
    positionFeeUsd: '0',
    borrowingFeeUsd: '0',
    fundingFeeUsd: '0',
  }
}

/** `/orders/txns/cancel/prepare`. Throws HttpFailure 400. */
export function prepareCancel(venueState: VenueState, body: Body): PreparedChange {
  requireKnown(venueState, body)
  const account = accountOf(body)
  let cancels: Hex[]
  if (body.all === true) {
    cancels = ordersOfAccount(venueState, account).map((order) => order.key)
    if (cancels.length === 0) throw refused('INVALID_PARAMS', 'There is no open order to cancel')
  } else {
    const keys = typeof body.orderId === 'string' ? [body.orderId] : keysOf(body.orderIds)
    if (keys.length === 0) {
      throw badFields({ orderId: { message: "one of 'orderId', 'orderIds' and 'all' is required" } })
    }
    cancels = keys.map((key) => ownOrder(venueState, account, key).key)
  }
  return { account, actions: { creates: [], details: [], updates: [], cancels }, estimates: estimatesOf(0n) }
}

/** A number that may be left out; one that is none is put among the errors. */
function optionalUint(body: Body, field: string, errors: Record<string, FieldError>): bigint | undefined {
  const value = body[field] ?? undefined
  if (value === undefined) return undefined
  const number = uintOf(value)
  if (number === undefined) errors[field] = { message: `'${field}' must be a non-negative integer` }
  return number
}

/** `/orders/txns/collateral/prepare`: a market increase or decrease of size 0. Throws HttpFailure 400. */
export function prepareCollateral(venueState: VenueState, body: Body, nowMs: number): PreparedChange {
  const account = accountOf(body)
  const { operation, positionKey } = body
  const amount = uintOf(body.amount)
  const errors: Record<string, FieldError> = {}
  if (operation !== 'deposit' && operation !== 'withdraw') {
    errors.operation = { message: "'operation' must be deposit or withdraw" }
  }
  if (typeof positionKey !== 'string') errors.positionKey = { message: "'positionKey' is required" }
  if (amount === undefined || amount === 0n) {
    errors.amount = { message: "'amount' must be a positive integer" }
  }
  const slippage = optionalUint(body, 'slippage', errors) ?? BigInt(venueState.settings.defaultSlippageBps)
  if (slippage > 10_000n) errors.slippage = { message: "'slippage' must be an integer from 0 to 10000" }
  const buffer = optionalUint(body, 'executionFeeBufferBps', errors)
  const uiFeeReceiver = parseAddress(body.uiFeeReceiver ?? ZERO_ADDRESS)
  if (uiFeeReceiver === undefined) errors.uiFeeReceiver = { message: "'uiFeeReceiver' must be an address" }
  if (Object.keys(errors).length > 0 || amount === undefined || uiFeeReceiver === undefined) {
    throw badFields(errors)
  }
  const record = positionNamed(venueState, account, String(positionKey))
  const market = venueState.marketByKey.get(record.marketKey)
  if (market === undefined) throw refused('POSITION_NOT_FOUND', `Position not found: ${String(positionKey)}`)
  if (!isEnabled(venueState, market.key)) throw refused('INVALID_PARAMS', 'The market is disabled')
  const seconds = Math.floor(nowMs / 1000)
  const isLong = record.state.side === 'long'
  const isDeposit = operation === 'deposit'
  const prices = marketPrices(venueState, market, seconds)
  const direction = { side: record.state.side, isIncrease: isDeposit }
  const scale = scaleOf(market.indexToken)
  const acceptablePrice = markPriceOf(prices.index, direction) * scale
  const minOutput =
    isDeposit || venueState.settings.collateralOutMinOutput === 'zero'
      ? 0n
      : withdrawnUsd(record, market, prices, amount, seconds)
  const order: CreateOrderParams = {
    addresses: {
      receiver: account,
      cancellationReceiver: ZERO_ADDRESS,
      callbackContract: ZERO_ADDRESS,
      uiFeeReceiver,
      market: market.catalog.marketToken,
      initialCollateralToken: record.collateralToken.address,
      swapPath: [],
    },
    numbers: {
      sizeDeltaUsd: 0n,
      initialCollateralDeltaAmount: amount,
      triggerPrice: 0n,
      acceptablePrice: withSlippage(acceptablePrice, slippage, direction) / scale,
      executionFee: 0n,
      callbackGasLimit: 0n,
      minOutputAmount: moveAgainst(minOutput, slippage, false),
      validFromTime: 0n,
    },
    orderType: BigInt(isDeposit ? orderTypes.marketIncrease : orderTypes.marketDecrease),
    decreasePositionSwapType: 0n,
    isLong,
    shouldUnwrapNativeToken: false,
    autoCancel: false,
    referralCode: `0x${'00'.repeat(32)}`,
    dataList: [metadataOf(0, '0000', true)],
  }
  const mode = body.mode === 'classic' ? 'classic' : 'express'
  const creates = withExecutionFees(venueState, [order], {
    bufferBps: buffer === undefined ? undefined : Number(buffer),
    mode,
    nowMs,
  })
  const details: OrderDetails = {
    sizeDeltaInTokens: 0n,
    acceptablePrice,
    collateralDeltaAmount: amount,
    minOutput,
    slippageBps: slippage,
    collateralToken: record.collateralToken.address,
    receiveToken: record.collateralToken.address,
  }
  return {
    account,
    actions: { creates, details: [details], updates: [], cancels: [] },
    estimates: estimatesOf(executionFeesOf(creates), acceptablePrice),
  }
}

/** Returns the payout of a withdrawal, USD: the collateral's worth less the pending costs. */
function withdrawnUsd(
  record: PositionRecord,
  market: VenueMarket,
  prices: MarketPrices,
  amount: bigint,
  seconds: number,
): bigint {
  const draft = cloneMarket(market.state)
  accrue(market.settings, draft, prices, seconds)
  const { shown } = shownPositionOf(record, market, draft, prices)
  const price = slotPrice(prices, record.state.slot).min
  const left = (amount - shown.fundingFeeAmount) * price - shown.pendingBorrowingFeesUsd
  return left > 0n ? left : 0n
}

function positionNamed(venueState: VenueState, account: Address, key: string): PositionRecord {
  const wanted = hexKey(key)
  const found = positionsOfAccount(venueState, account).find((record) => {
    const market = venueState.marketByKey.get(record.marketKey)
    const { positionKeyForm: form } = venueState.settings
    if (form !== 'row' && record.contractKey === wanted) return true
    return form !== 'contract' && market !== undefined && hexKey(positionKeyText(record, market)) === wanted
  })
  if (found === undefined) throw refused('POSITION_NOT_FOUND', `Position not found: ${key}`)
  return found
}
