/** Edits, cancels and collateral changes: prepare requests that act on what exists (wire: behaviours, H). */

import type { CreateOrderParams, UpdateOrderParams } from '../chains/relayRouter.ts'
import { type Address, type Hex, hexKey, ZERO_ADDRESS } from '../domain/address.ts'
import { MAX_UINT256 } from '../domain/units.ts'
import { positionsOfAccount } from './accounts.ts'
import { isEnabled } from './enabled.ts'
import { badFields, type FieldError, parseAddress, refused } from './http.ts'
import { scaleOf } from './marketRows.ts'
import { orderTypes } from './orderTypes.ts'
import type { BatchActions } from './payload.ts'
import { ordersOfAccount, positionKeyText } from './positionRows.ts'
import { uintOf } from './prepareShape.ts'
import { executionFeeOf, isBuying, metadataOf, moveAgainst } from './quote.ts'
import { marketPrices, type World } from './world.ts'
import type { OrderRecord, PositionRecord } from './worldRecords.ts'

/** What a change came to. */
export interface PreparedChange {
  readonly account: Address
  readonly actions: BatchActions
  /** Native units. */
  readonly executionFees: bigint
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
function ownOrder(world: World, account: Address, key: string): OrderRecord {
  const order = world.orders.get(hexKey(key))
  if (order === undefined || hexKey(order.account) !== hexKey(account)) {
    throw refused('INVALID_PARAMS', `No open order of the account has the key ${key}`)
  }
  return order
}

function keysOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** `/orders/txns/edit/prepare`. Throws HttpFailure 400. */
export function prepareEdit(world: World, body: Body): PreparedChange {
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
    const order = ownOrder(world, account, key)
    const { numbers, addresses, autoCancel } = order.params
    const market = world.marketByKey.get(hexKey(addresses.market))
    const scale = market === undefined || market.settings.isSpotOnly ? 1n : scaleOf(market.indexToken)
    const acceptable = given.newAcceptablePrice
    return {
      key: order.key,
      sizeDeltaUsd: given.newSize ?? numbers.sizeDeltaUsd,
      triggerPrice:
        given.newTriggerPrice === undefined ? numbers.triggerPrice : given.newTriggerPrice / scale,
      // "Any" has no scale.
      acceptablePrice:
        acceptable === undefined
          ? numbers.acceptablePrice
          : acceptable === MAX_UINT256
            ? MAX_UINT256
            : acceptable / scale,
      minOutputAmount: numbers.minOutputAmount,
      validFromTime: 0n,
      autoCancel: typeof body.newAutoCancel === 'boolean' ? body.newAutoCancel : autoCancel,
      executionFeeIncrease: given.executionFeeTopUp ?? 0n,
    }
  })
  return {
    account,
    actions: { creates: [], updates, cancels: [] },
    executionFees: (given.executionFeeTopUp ?? 0n) * BigInt(updates.length),
  }
}

/** `/orders/txns/cancel/prepare`. Throws HttpFailure 400. */
export function prepareCancel(world: World, body: Body): PreparedChange {
  const account = accountOf(body)
  let cancels: Hex[]
  if (body.all === true) {
    cancels = ordersOfAccount(world, account).map((order) => order.key)
    if (cancels.length === 0) throw refused('INVALID_PARAMS', 'There is no open order to cancel')
  } else {
    const keys = typeof body.orderId === 'string' ? [body.orderId] : keysOf(body.orderIds)
    if (keys.length === 0) {
      throw badFields({ orderId: { message: "one of 'orderId', 'orderIds' and 'all' is required" } })
    }
    cancels = keys.map((key) => ownOrder(world, account, key).key)
  }
  return { account, actions: { creates: [], updates: [], cancels }, executionFees: 0n }
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
export function prepareCollateral(world: World, body: Body, nowMs: number): PreparedChange {
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
  const slippage = optionalUint(body, 'slippage', errors) ?? BigInt(world.settings.defaultSlippageBps)
  if (slippage > 10_000n) errors.slippage = { message: "'slippage' must be an integer from 0 to 10000" }
  const buffer = optionalUint(body, 'executionFeeBufferBps', errors)
  const uiFeeReceiver = parseAddress(body.uiFeeReceiver ?? ZERO_ADDRESS)
  if (uiFeeReceiver === undefined) errors.uiFeeReceiver = { message: "'uiFeeReceiver' must be an address" }
  if (Object.keys(errors).length > 0 || amount === undefined || uiFeeReceiver === undefined) {
    throw badFields(errors)
  }
  const record = positionNamed(world, account, String(positionKey))
  const market = world.marketByKey.get(record.marketKey)
  if (market === undefined) throw refused('POSITION_NOT_FOUND', `Position not found: ${String(positionKey)}`)
  if (!isEnabled(world, market.key)) throw refused('INVALID_PARAMS', 'The market is disabled')
  const seconds = Math.floor(nowMs / 1000)
  const isLong = record.state.side === 'long'
  const isDeposit = operation === 'deposit'
  const { index } = marketPrices(world, market, seconds)
  const buying = isBuying(isDeposit ? 'increase' : 'decrease', isLong)
  const executionFee = executionFeeOf(
    world,
    buffer === undefined ? world.settings.executionFeeBufferBps : Number(buffer),
    seconds,
  )
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
      acceptablePrice: moveAgainst(buying ? index.max : index.min, slippage, buying),
      executionFee,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
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
  return {
    account,
    actions: { creates: [order], updates: [], cancels: [] },
    executionFees: executionFee,
  }
}

function positionNamed(world: World, account: Address, key: string): PositionRecord {
  const wanted = hexKey(key)
  const found = positionsOfAccount(world, account).find((record) => {
    const market = world.marketByKey.get(record.marketKey)
    return (
      record.contractKey === wanted ||
      (market !== undefined && hexKey(positionKeyText(record, market)) === wanted)
    )
  })
  if (found === undefined) throw refused('POSITION_NOT_FOUND', `Position not found: ${key}`)
  return found
}
