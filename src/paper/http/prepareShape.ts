/** The body of a prepare request: every violation of its shape at once (test/paper/behaviours-prepare.test.ts, D.1). */

import { defined } from '../../base/defined.ts'
import { isObject } from '../../base/isObject.ts'
import type { Address } from '../../protocol/address.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { badFields, type FieldError, type Json, parseAddress } from './http.ts'

/** Purpose of an order. */
export type OrderKind = 'increase' | 'decrease' | 'swap'

/** When an order executes. */
export type RequestedOrderType = 'market' | 'limit' | 'stop-market' | 'take-profit' | 'stop-loss' | 'twap'

/** An attached take-profit or stop-loss. */
export interface Sidecar {
  readonly type: 'take-profit' | 'stop-loss'
  /** USD per whole token, 30 decimals. */
  readonly triggerPrice: bigint
  readonly size?: bigint
}

/** A prepare request of valid shape. USD amounts and prices have 30 decimals. */
export interface PrepareRequest {
  readonly mode: 'express' | 'classic'
  readonly from: Address
  readonly kind: OrderKind
  readonly orderType: RequestedOrderType
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly size: bigint
  readonly triggerPrice: bigint
  readonly slippageBps: number | undefined
  readonly collateralToken: string | undefined
  readonly collateralToPay: { readonly amount: bigint; readonly token: string } | undefined
  readonly receiveToken: string | undefined
  readonly keepLeverage: boolean
  readonly manualSwapPath: readonly string[]
  readonly acceptablePriceImpactBps: bigint | undefined
  readonly executionFeeBufferBps: number | undefined
  readonly twap: { readonly durationSeconds: number; readonly parts: number } | undefined
  readonly tpsl: readonly Sidecar[]
  readonly gasPaymentToken: string | undefined
  readonly referralCode: string | undefined
  readonly uiFeeReceiver: Address | undefined
  /** True when exits are cancelled with the position; a lenient server lets the request say no. */
  readonly autoCancel: boolean
}

const typesOfKind: Readonly<Record<OrderKind, readonly RequestedOrderType[]>> = {
  increase: ['market', 'limit', 'stop-market', 'twap'],
  decrease: ['market', 'take-profit', 'stop-loss', 'twap'],
  swap: ['market', 'limit', 'twap'],
}

const triggered: ReadonlySet<string> = new Set(['limit', 'stop-market', 'take-profit', 'stop-loss'])

/** An unsigned integer of the wire: a canonical decimal string, or a safe JSON integer. */
export function uintOf(value: unknown): bigint | undefined {
  if (typeof value === 'string') {
    const number = /^(0|[1-9]\d{0,77})$/.test(value) ? BigInt(value) : undefined
    return number === undefined || number > MAX_UINT256 ? undefined : number
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Refuses fields that a strict server does not know. */
export function unknownFields(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, FieldError> {
  const given = names.filter((name) => (body[name] ?? undefined) !== undefined)
  return Object.fromEntries(
    given.map((name) => [name, { message: `'${name}' is not a field of this request` }]),
  )
}

/** Reads a prepare body; a strict server knows no `autoCancel`. Throws HttpFailure 400 with all refused fields. */
export function readPrepare(body: Readonly<Record<string, unknown>>, isStrict: boolean): PrepareRequest {
  const errors: Record<string, FieldError> = isStrict ? unknownFields(body, ['autoCancel']) : {}
  const { refuse, oneOf, positive } = fieldReaders(body, errors)

  const mode = oneOf('mode', ['express', 'classic'])
  const kind = oneOf('kind', ['increase', 'decrease', 'swap'])
  const orderType = oneOf('orderType', ['market', 'limit', 'stop-market', 'take-profit', 'stop-loss', 'twap'])
  if (kind !== undefined && orderType !== undefined && !typesOfKind[kind].includes(orderType)) {
    refuse('orderType', `'${orderType}' does not fit kind '${kind}'`, orderType)
  }
  const from = parseAddress(body.from)
  if (from === undefined) {
    refuse('from', body.from === undefined ? "'from' is required" : "'from' is not an address", body.from)
  }
  const isPosition = kind === 'increase' || kind === 'decrease'
  const symbol = textOf(body.symbol)
  if (isPosition && symbol === undefined) refuse('symbol', "'symbol' is required", body.symbol)
  const direction = isPosition ? oneOf('direction', ['long', 'short']) : undefined
  const size = isPosition ? positive('size', body.size) : 0n

  const paysIn = kind === 'increase' || kind === 'swap'
  const collateralToPay = paysIn ? readPay(body.collateralToPay, refuse, positive) : undefined
  const receiveToken = textOf(body.receiveToken)
  if (kind === 'swap' && receiveToken === undefined) {
    refuse('receiveToken', "'receiveToken' is required", body.receiveToken)
  }
  const needsTrigger = orderType !== undefined && triggered.has(orderType) && kind !== 'swap'
  const triggerPrice = needsTrigger
    ? positive('triggerPrice', body.triggerPrice)
    : (uintOf(body.triggerPrice) ?? 0n)

  const { slippage, buffer } = readFractions(body, refuse)

  const twap = orderType === 'twap' ? readTwap(body.twapConfig, refuse) : undefined
  refuseOptional(body, refuse)
  const tpsl = readSidecars(body.tpsl, kind === 'increase' && orderType !== 'twap', refuse)
  if (Object.keys(errors).length > 0 || mode === undefined || kind === undefined) throw badFields(errors)
  if (orderType === undefined || from === undefined) throw badFields(errors)

  const path = body.manualSwapPath
  return {
    mode,
    kind,
    orderType,
    from,
    symbol: symbol ?? '',
    direction: direction ?? 'long',
    size,
    triggerPrice,
    slippageBps: slippage,
    collateralToken: textOf(body.collateralToken),
    collateralToPay,
    receiveToken,
    keepLeverage: body.keepLeverage === true,
    manualSwapPath: Array.isArray(path) ? path.map(String) : [],
    acceptablePriceImpactBps: uintOf(body.acceptablePriceImpactBps),
    executionFeeBufferBps: buffer,
    twap,
    tpsl,
    gasPaymentToken: textOf(body.gasPaymentToken),
    referralCode: textOf(body.referralCode),
    uiFeeReceiver: parseAddress(body.uiFeeReceiver),
    autoCancel: body.autoCancel !== false,
  }
}

type Refuse = (field: string, message: string, value: unknown) => void
type Positive = (field: string, value: unknown) => bigint

/** Readers of one body that write down every field they refuse. */
function fieldReaders(body: Readonly<Record<string, unknown>>, errors: Record<string, FieldError>) {
  const refuse: Refuse = (field, message, value) => {
    errors[field] = value === undefined ? { message } : { message, value: value as Json }
  }
  const oneOf = <T extends string>(field: string, values: readonly T[]): T | undefined => {
    const value = body[field]
    if (typeof value === 'string' && (values as readonly string[]).includes(value)) return value as T
    refuse(
      field,
      value === undefined ? `'${field}' is required` : `'${field}' must be one of ${values.join(', ')}`,
      value,
    )
    return undefined
  }
  const positive: Positive = (field, value) => {
    const number = uintOf(value)
    if (number !== undefined && number > 0n) return number
    refuse(
      field,
      value === undefined ? `'${field}' is required` : `'${field}' must be a positive integer`,
      value,
    )
    return 0n
  }
  return { refuse, oneOf, positive }
}

/** Reads the payment: its token, and its amount in token units. */
function readPay(pay: unknown, refuse: Refuse, positive: Positive): PrepareRequest['collateralToPay'] {
  if (!isObject(pay)) {
    refuse('collateralToPay', "'collateralToPay' is required", pay)
    return undefined
  }
  const token = textOf(pay.token)
  if (token === undefined) refuse('collateralToPay.token', "'collateralToPay.token' is required", pay.token)
  return { amount: positive('collateralToPay.amount', pay.amount), token: token ?? '' }
}

/** Slippage and the buffer of the execution fee, basis points; absent ones stay so. */
function readFractions(body: Readonly<Record<string, unknown>>, refuse: Refuse) {
  const slippage = body.slippage
  if (
    slippage !== undefined &&
    !(typeof slippage === 'number' && Number.isInteger(slippage) && slippage >= 0 && slippage <= 10_000)
  ) {
    refuse('slippage', "'slippage' must be an integer from 0 to 10000", slippage)
  }
  const buffer = body.executionFeeBufferBps
  if (buffer !== undefined && !(typeof buffer === 'number' && Number.isInteger(buffer) && buffer >= 0)) {
    refuse('executionFeeBufferBps', "'executionFeeBufferBps' must be a non-negative integer", buffer)
  }
  return { slippage: slippage as number | undefined, buffer: buffer as number | undefined }
}

/** Over how long an order is spread, and in how many parts. */
function readTwap(config: unknown, refuse: Refuse): PrepareRequest['twap'] {
  if (!isObject(config)) {
    refuse('twapConfig', "'twapConfig' is required", config)
    return undefined
  }
  const { duration, parts } = config
  if (!(typeof duration === 'number' && Number.isInteger(duration) && duration > 0)) {
    refuse('twapConfig.duration', "'twapConfig.duration' must be a positive integer", duration)
  }
  if (!(typeof parts === 'number' && Number.isInteger(parts) && parts >= 2 && parts <= 30)) {
    refuse('twapConfig.parts', "'twapConfig.parts' must be an integer from 2 to 30", parts)
  }
  return { durationSeconds: Number(duration), parts: Number(parts) }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'

/** Optional fields: what each must be, and in words. One that means nothing is refused rather than passed over in silence. */
const optionalFields: Readonly<Record<string, readonly [fits: (value: unknown) => boolean, words: string]>> =
  {
    collateralToken: [isText, 'a token symbol or address'],
    receiveToken: [isText, 'a token symbol or address'],
    gasPaymentToken: [isText, 'a token symbol or address'],
    referralCode: [isText, 'a text'],
    keepLeverage: [isFlag, 'true or false'],
    autoCancel: [isFlag, 'true or false'],
    acceptablePriceImpactBps: [(value) => uintOf(value) !== undefined, 'a non-negative integer'],
    uiFeeReceiver: [(value) => parseAddress(value) !== undefined, 'an address'],
    manualSwapPath: [(value) => Array.isArray(value) && value.every(isText), 'a list of market addresses'],
  }

function refuseOptional(body: Readonly<Record<string, unknown>>, refuse: Refuse): void {
  for (const [field, [fits, words]] of Object.entries(optionalFields)) {
    const value = body[field]
    if (value === undefined || value === null || fits(value)) continue
    refuse(field, `'${field}' must be ${words}`, value)
  }
}

function readSidecars(value: unknown, isAllowed: boolean, refuse: Refuse): Sidecar[] {
  if (value === undefined) return []
  if (!isAllowed) {
    refuse('tpsl', "'tpsl' fits only increase orders that are not twap", value)
    return []
  }
  if (!Array.isArray(value) || value.length === 0) {
    refuse('tpsl', "'tpsl' must be a non-empty list", value)
    return []
  }
  const sidecars: Sidecar[] = []
  for (const [i, entry] of value.entries()) {
    const { type, triggerPrice, size } = isObject(entry) ? entry : {}
    if (type !== 'take-profit' && type !== 'stop-loss') {
      refuse(`tpsl[${i}].type`, "'type' must be take-profit or stop-loss", type)
      continue
    }
    const trigger = uintOf(triggerPrice)
    if (trigger === undefined || trigger === 0n) {
      refuse(`tpsl[${i}].triggerPrice`, "'triggerPrice' must be a positive integer", triggerPrice)
      continue
    }
    const sizeUsd = uintOf(size)
    if (size !== undefined && (sizeUsd === undefined || sizeUsd === 0n)) {
      refuse(`tpsl[${i}].size`, "'size' must be a positive integer", size)
      continue
    }
    sidecars.push({ type, triggerPrice: trigger, ...defined({ size: sizeUsd }) })
  }
  return sidecars
}
