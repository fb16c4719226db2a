/**
 * Decodes what prepare answers: what to sign or to send, the echo that goes back verbatim, estimates and warnings
 * (docs/reference/api-coverage.md POST /orders/txns/prepare).
 */
import { defined } from '../../base/defined.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { TradingCapacity } from '../../protocol/market.ts'
import type { RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import {
  address,
  type Fields,
  hex,
  inside,
  int,
  lenient,
  list,
  Malformed,
  object,
  optional,
  present,
  signedUsd30,
  string,
  uint,
  unixSeconds,
  usd30,
  word,
} from '../decode/decode.ts'
import { tradingCapacity } from '../rows/capacityRow.ts'
import { type BatchCopy, batchCopy } from './batchCopy.ts'
import { type OrderTypedData, relayParams, typedData } from './typedData.ts'

/** Something prepare says without blocking; always shown before anything is signed. */
export interface ValidationWarning {
  /** `INSUFFICIENT_LIQUIDITY`, `TRADING_CAPACITY_UNAVAILABLE`, ...; `WARNING` where none came. */
  readonly code: string
  readonly message: string
  /** As it came. */
  readonly details?: unknown
}

/** The venue's estimates; indicative, nothing is decided by them. */
export interface OrderEstimates {
  readonly positionPriceImpactDeltaUsd?: Usd
  readonly swapPriceImpactDeltaUsd?: Usd
  /** Native token, wei. */
  readonly executionFeeAmount?: TokenAmount
  /** USD with 30 decimals per whole token, without slippage. */
  readonly acceptablePrice?: Usd
  readonly sizeDeltaUsd?: Usd
  readonly positionFeeUsd?: Usd
  readonly borrowingFeeUsd?: Usd
  readonly fundingFeeUsd?: Usd
  readonly tradingCapacity?: TradingCapacity
}

/** Fields that every prepare response has, for signing and for sending. */
export interface PrepareFacts {
  readonly requestId: string
  readonly idempotencyKey?: string
  /** Unix seconds after which the request may be refused; the signed deadline is another limit. */
  readonly expiresAtSeconds?: number
  readonly estimates: OrderEstimates
  /** Do not block; always shown before anything is signed. */
  readonly validationWarnings: readonly ValidationWarning[]
  readonly traceId?: string
}

/** A decoded prepare answer of an express order: typed data to sign. */
export interface OrderPayload extends PrepareFacts {
  readonly mode: 'express'
  readonly typedData: OrderTypedData
  readonly relayParams: RelayParams
  /** The message as `batchParams` says it; it must say what the typed data says. */
  readonly copy: BatchCopy
  /** Raw JSON values that submit sends back verbatim; numbers a float would change are kept as text. */
  readonly echo: { readonly batchParams: unknown; readonly relayParams: unknown }
  readonly relayRouterAddress?: Address
}

/** A transaction to be sent by the account itself. */
export interface WalletTransaction {
  readonly to: Address
  readonly data: Hex
  /** Native token, wei. */
  readonly value: TokenAmount
}

/** A decoded prepare answer of a classic order: a transaction, no signature to hand in. */
export interface ClassicPayload extends PrepareFacts {
  readonly mode: 'classic'
  readonly transaction: WalletTransaction
}

/** A transaction for the wallet. Throws `Malformed`. */
export function walletTransaction(value: unknown): WalletTransaction {
  const payload = object(value)
  return {
    to: address(payload.to, 'to'),
    data: hex(payload.data, 'data'),
    value: uint(payload.value, 'value'),
  }
}

function estimates(value: unknown): OrderEstimates {
  const fields = object(value)
  return present({
    positionPriceImpactDeltaUsd: optional(
      fields.positionPriceImpactDeltaUsd,
      'positionPriceImpactDeltaUsd',
      signedUsd30,
    ),
    swapPriceImpactDeltaUsd: optional(fields.swapPriceImpactDeltaUsd, 'swapPriceImpactDeltaUsd', signedUsd30),
    executionFeeAmount: optional(fields.executionFeeAmount, 'executionFeeAmount', uint),
    acceptablePrice: optional(fields.acceptablePrice, 'acceptablePrice', usd30),
    sizeDeltaUsd: optional(fields.sizeDeltaUsd, 'sizeDeltaUsd', usd30),
    positionFeeUsd: optional(fields.positionFeeUsd, 'positionFeeUsd', int),
    borrowingFeeUsd: optional(fields.borrowingFeeUsd, 'borrowingFeeUsd', int),
    fundingFeeUsd: optional(fields.fundingFeeUsd, 'fundingFeeUsd', int),
    tradingCapacity: optional(fields.tradingCapacity, 'tradingCapacity', (inner, name) =>
      inside(inner, name, tradingCapacity),
    ),
  })
}

/** Nothing that came as a warning is dropped: an entry without code or message is shown as the text it came as. */
function warning(value: unknown): ValidationWarning {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const fields: Fields = isObject ? (value as Fields) : {}
  const code = typeof fields.code === 'string' && fields.code !== '' ? fields.code : 'WARNING'
  const message =
    typeof fields.message === 'string' && fields.message !== ''
      ? fields.message
      : typeof value === 'string'
        ? value
        : (JSON.stringify(value) ?? '')
  return { code, message, ...defined({ details: fields.details }) }
}

/** Decodes the body of an express prepare answer. Throws `Malformed`. */
export function orderPayload(body: unknown): OrderPayload {
  const fields = object(body)
  if (fields.mode !== undefined && fields.mode !== 'express')
    throw new Malformed('mode', 'is not express', fields.mode)
  if (fields.payloadType !== undefined && fields.payloadType !== 'typed-data') {
    throw new Malformed('payloadType', 'is not typed-data', fields.payloadType)
  }
  const payload = object(fields.payload, 'payload')
  return {
    ...prepareFacts(fields),
    mode: 'express',
    typedData: inside(payload.typedData, 'payload.typedData', typedData),
    relayParams: inside(payload.relayParams, 'payload.relayParams', relayParams),
    copy: inside(payload.batchParams, 'payload.batchParams', batchCopy),
    echo: {
      batchParams: object(payload.batchParams, 'payload.batchParams'),
      relayParams: payload.relayParams,
    },
    ...present({
      relayRouterAddress: optional(payload.relayRouterAddress, 'payload.relayRouterAddress', address),
    }),
  }
}

/** Decodes the body of a classic prepare answer. Throws `Malformed`. */
export function classicPayload(body: unknown): ClassicPayload {
  const fields = object(body)
  if (fields.mode !== 'classic') throw new Malformed('mode', 'is not classic', fields.mode)
  if (fields.payloadType !== undefined && fields.payloadType !== 'transaction') {
    throw new Malformed('payloadType', 'is not transaction', fields.payloadType)
  }
  return {
    ...prepareFacts(fields),
    mode: 'classic',
    transaction: inside(fields.payload, 'payload', walletTransaction),
  }
}

function warnings(fields: Fields, name: string): readonly ValidationWarning[] {
  return optional(fields[name], name, (value) => list(value, name, warning)) ?? []
}

/** The typed warnings, and those texts of the older list that none of them says already. */
function allWarnings(fields: Fields): readonly ValidationWarning[] {
  const typed = warnings(fields, 'validationWarnings')
  const said = new Set(typed.map(({ message }) => message))
  return [...typed, ...warnings(fields, 'warnings').filter(({ message }) => !said.has(message))]
}

function prepareFacts(fields: Fields): PrepareFacts {
  return {
    requestId: word(fields.requestId, 'requestId'),
    estimates: inside(fields.estimates ?? {}, 'estimates', estimates),
    validationWarnings: allWarnings(fields),
    ...present({
      idempotencyKey: lenient(fields.idempotencyKey, 'idempotencyKey', word),
      expiresAtSeconds: optional(fields.expiresAt, 'expiresAt', unixSeconds),
      traceId: lenient(fields.traceId, 'traceId', string),
    }),
  }
}
