/**
 * Decodes what prepare proposes to sign: the typed data, the relay parameters behind its hash, and the echo that goes back
 * verbatim (wire: orders, 2.3 and 3.1). A field that verification needs and that is missing is an error.
 */
import type {
  Batch,
  CreateOrderParams,
  RelayParams,
  TokenPermit,
  UpdateOrderParams,
} from '../chains/relayRouter.ts'
import type { Address, Hex } from '../domain/address.ts'
import type { TradingCapacity } from '../domain/market.ts'
import type { TokenAmount, Usd } from '../domain/units.ts'
import { tradingCapacity } from './capacity.ts'
import {
  address,
  boolean,
  bytes32,
  count,
  type Fields,
  hex,
  inside,
  int,
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
} from './decode.ts'

/** Something prepare says without blocking; always shown before anything is signed. */
export interface ValidationWarning {
  /** `INSUFFICIENT_LIQUIDITY`, `TRADING_CAPACITY_UNAVAILABLE`, ...; `WARNING` where none came. */
  readonly code: string
  readonly message: string
  /** As it came. */
  readonly details?: unknown
}

/** EIP-712 typed data as proposed. `types` is raw: it is compared with the contract's own, never signed by. */
export interface OrderTypedData {
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: Address
  }
  readonly primaryType: string
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly batch: Batch
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

/** What every prepare answer has, whatever is to be signed or sent. */
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

const addressList = (value: unknown, name: string) => list(value, name, address)
const hexList = (value: unknown, name: string) => list(value, name, hex)

function createOrderParams(value: unknown): CreateOrderParams {
  const row = object(value)
  return {
    addresses: inside(row.addresses, 'addresses', (inner) => {
      const fields = object(inner)
      return {
        receiver: address(fields.receiver, 'receiver'),
        cancellationReceiver: address(fields.cancellationReceiver, 'cancellationReceiver'),
        callbackContract: address(fields.callbackContract, 'callbackContract'),
        uiFeeReceiver: address(fields.uiFeeReceiver, 'uiFeeReceiver'),
        market: address(fields.market, 'market'),
        initialCollateralToken: address(fields.initialCollateralToken, 'initialCollateralToken'),
        swapPath: addressList(fields.swapPath, 'swapPath'),
      }
    }),
    numbers: inside(row.numbers, 'numbers', (inner) => {
      const fields = object(inner)
      return {
        sizeDeltaUsd: uint(fields.sizeDeltaUsd, 'sizeDeltaUsd'),
        initialCollateralDeltaAmount: uint(
          fields.initialCollateralDeltaAmount,
          'initialCollateralDeltaAmount',
        ),
        triggerPrice: uint(fields.triggerPrice, 'triggerPrice'),
        acceptablePrice: uint(fields.acceptablePrice, 'acceptablePrice'),
        executionFee: uint(fields.executionFee, 'executionFee'),
        callbackGasLimit: uint(fields.callbackGasLimit, 'callbackGasLimit'),
        minOutputAmount: uint(fields.minOutputAmount, 'minOutputAmount'),
        validFromTime: uint(fields.validFromTime, 'validFromTime'),
      }
    }),
    orderType: uint(row.orderType, 'orderType'),
    decreasePositionSwapType: uint(row.decreasePositionSwapType, 'decreasePositionSwapType'),
    isLong: boolean(row.isLong, 'isLong'),
    shouldUnwrapNativeToken: boolean(row.shouldUnwrapNativeToken, 'shouldUnwrapNativeToken'),
    autoCancel: boolean(row.autoCancel, 'autoCancel'),
    referralCode: bytes32(row.referralCode, 'referralCode'),
    dataList: list(row.dataList, 'dataList', bytes32),
  }
}

function updateOrderParams(value: unknown): UpdateOrderParams {
  const row = object(value)
  return {
    key: bytes32(row.key, 'key'),
    sizeDeltaUsd: uint(row.sizeDeltaUsd, 'sizeDeltaUsd'),
    acceptablePrice: uint(row.acceptablePrice, 'acceptablePrice'),
    triggerPrice: uint(row.triggerPrice, 'triggerPrice'),
    minOutputAmount: uint(row.minOutputAmount, 'minOutputAmount'),
    validFromTime: uint(row.validFromTime, 'validFromTime'),
    autoCancel: boolean(row.autoCancel, 'autoCancel'),
    executionFeeIncrease: uint(row.executionFeeIncrease, 'executionFeeIncrease'),
  }
}

function batch(value: unknown): Batch {
  const message = object(value)
  return {
    account: address(message.account, 'account'),
    createOrderParamsList: list(message.createOrderParamsList, 'createOrderParamsList', createOrderParams),
    updateOrderParamsList: list(message.updateOrderParamsList, 'updateOrderParamsList', updateOrderParams),
    cancelOrderKeys: list(message.cancelOrderKeys, 'cancelOrderKeys', bytes32),
    relayParams: bytes32(message.relayParams, 'relayParams'),
    subaccountApproval: bytes32(message.subaccountApproval, 'subaccountApproval'),
  }
}

/** EIP-712 types as they came, each a list of names and types. Throws `Malformed`. */
export function typedDataTypes(value: unknown): OrderTypedData['types'] {
  return Object.fromEntries(
    Object.entries(object(value)).map(([name, fields]) => [name, list(fields, name, typeField)]),
  )
}

/** The domain that a signature is bound to. Throws `Malformed`. */
export function typedDataDomain(value: unknown): OrderTypedData['domain'] {
  const domain = object(value)
  return {
    name: string(domain.name, 'name'),
    version: string(domain.version, 'version'),
    chainId: count(domain.chainId, 'chainId'),
    verifyingContract: address(domain.verifyingContract, 'verifyingContract'),
  }
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

function typeField(value: unknown): { readonly name: string; readonly type: string } {
  const field = object(value)
  return { name: word(field.name, 'name'), type: word(field.type, 'type') }
}

function typedData(value: unknown): OrderTypedData {
  const data = object(value)
  return {
    domain: inside(data.domain, 'domain', typedDataDomain),
    primaryType: optional(data.primaryType, 'primaryType', word) ?? 'Batch',
    types: inside(data.types, 'types', typedDataTypes),
    batch: inside(data.message, 'message', batch),
  }
}

const MAX_UINT8 = 255

function tokenPermit(value: unknown): TokenPermit {
  const permit = object(value)
  const v = count(permit.v, 'v')
  if (v > MAX_UINT8) throw new Malformed('v', 'is not a uint8', permit.v)
  return {
    owner: address(permit.owner, 'owner'),
    spender: address(permit.spender, 'spender'),
    value: uint(permit.value, 'value'),
    deadline: uint(permit.deadline, 'deadline'),
    v,
    r: bytes32(permit.r, 'r'),
    s: bytes32(permit.s, 's'),
    token: address(permit.token, 'token'),
  }
}

/** The relay parameters behind a signed hash. Throws `Malformed`. */
export function relayParams(value: unknown): RelayParams {
  const params = object(value)
  return {
    oracleParams: inside(params.oracleParams, 'oracleParams', (inner) => {
      const fields = object(inner)
      return {
        tokens: addressList(fields.tokens, 'tokens'),
        providers: addressList(fields.providers, 'providers'),
        data: hexList(fields.data, 'data'),
      }
    }),
    externalCalls: inside(params.externalCalls, 'externalCalls', (inner) => {
      const fields = object(inner)
      return {
        sendTokens: addressList(fields.sendTokens, 'sendTokens'),
        sendAmounts: list(fields.sendAmounts, 'sendAmounts', uint),
        externalCallTargets: addressList(fields.externalCallTargets, 'externalCallTargets'),
        externalCallDataList: hexList(fields.externalCallDataList, 'externalCallDataList'),
        refundTokens: addressList(fields.refundTokens, 'refundTokens'),
        refundReceivers: addressList(fields.refundReceivers, 'refundReceivers'),
      }
    }),
    tokenPermits: list(params.tokenPermits, 'tokenPermits', tokenPermit),
    fee: inside(params.fee, 'fee', (inner) => {
      const fields = object(inner)
      return {
        feeToken: address(fields.feeToken, 'feeToken'),
        feeAmount: uint(fields.feeAmount, 'feeAmount'),
        feeSwapPath: addressList(fields.feeSwapPath, 'feeSwapPath'),
      }
    }),
    userNonce: uint(params.userNonce, 'userNonce'),
    deadline: uint(params.deadline, 'deadline'),
    desChainId: uint(params.desChainId, 'desChainId'),
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
  return { code, message, ...(fields.details === undefined ? {} : { details: fields.details }) }
}

/** Decodes the body of an express prepare answer. Throws `Malformed`. */
export function orderPayload(body: unknown): OrderPayload {
  const fields = object(body)
  if (fields.mode !== 'express') throw new Malformed('mode', 'is not express', fields.mode)
  if (fields.payloadType !== undefined && fields.payloadType !== 'typed-data') {
    throw new Malformed('payloadType', 'is not typed-data', fields.payloadType)
  }
  const payload = object(fields.payload, 'payload')
  return {
    ...prepareFacts(fields),
    mode: 'express',
    typedData: inside(payload.typedData, 'payload.typedData', typedData),
    relayParams: inside(payload.relayParams, 'payload.relayParams', relayParams),
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

function prepareFacts(fields: Fields): PrepareFacts {
  return {
    requestId: word(fields.requestId, 'requestId'),
    estimates: inside(fields.estimates ?? {}, 'estimates', estimates),
    validationWarnings: [...warnings(fields, 'validationWarnings'), ...warnings(fields, 'warnings')],
    ...present({
      idempotencyKey: optional(fields.idempotencyKey, 'idempotencyKey', word),
      expiresAtSeconds: optional(fields.expiresAt, 'expiresAt', unixSeconds),
      traceId: optional(fields.traceId, 'traceId', string),
    }),
  }
}
