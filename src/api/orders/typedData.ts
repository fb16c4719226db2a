/**
 * Decodes what is signed: typed data as a host proposes it, and the relay parameters behind its hash (docs/reference/api-coverage.md
 * POST /orders/txns/prepare). A field that verification needs and that is missing is an error.
 */
import type { Address } from '../../protocol/address.ts'
import { batchTypes } from '../../protocol/signing/batchTypes.ts'
import type {
  Batch,
  CreateOrderParams,
  RelayParams,
  TokenPermit,
  UpdateOrderParams,
} from '../../protocol/signing/relayRouter.ts'
import {
  address,
  boolean,
  bytes32,
  count,
  type Fields,
  hex,
  inside,
  list,
  Malformed,
  object,
  optional,
  string,
  uint,
  word,
} from '../decode/decode.ts'

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

const namesOf = (fields: readonly { readonly name: string }[]): ReadonlySet<string> =>
  new Set(fields.map(({ name }) => name))

/** The fields of each struct that is signed; one with any other says something that we would not sign. */
const structs = {
  Batch: namesOf(batchTypes.Batch),
  CreateOrderParams: namesOf(batchTypes.CreateOrderParams),
  CreateOrderAddresses: namesOf(batchTypes.CreateOrderAddresses),
  CreateOrderNumbers: namesOf(batchTypes.CreateOrderNumbers),
  UpdateOrderParams: namesOf(batchTypes.UpdateOrderParams),
  Domain: new Set(['name', 'version', 'chainId', 'verifyingContract']),
} as const

/** The fields of a struct that is signed. Throws `Malformed` for a field that it does not have. */
function struct(value: unknown, of: keyof typeof structs): Fields {
  const fields = object(value)
  for (const name of Object.keys(fields)) {
    if (!structs[of].has(name)) throw new Malformed(name, `is no field of ${of}`, fields[name])
  }
  return fields
}

const addressList = (value: unknown, name: string) => list(value, name, address)
const hexList = (value: unknown, name: string) => list(value, name, hex)

/** One order to create, every field of it and no other. Throws `Malformed`. */
export function createOrderParams(value: unknown): CreateOrderParams {
  const row = struct(value, 'CreateOrderParams')
  return {
    addresses: inside(row.addresses, 'addresses', (inner) => {
      const fields = struct(inner, 'CreateOrderAddresses')
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
      const fields = struct(inner, 'CreateOrderNumbers')
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
  const row = struct(value, 'UpdateOrderParams')
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
  const message = struct(value, 'Batch')
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
  const domain = struct(value, 'Domain')
  return {
    name: string(domain.name, 'name'),
    version: string(domain.version, 'version'),
    chainId: count(domain.chainId, 'chainId'),
    verifyingContract: address(domain.verifyingContract, 'verifyingContract'),
  }
}

function typeField(value: unknown): { readonly name: string; readonly type: string } {
  const field = object(value)
  return { name: word(field.name, 'name'), type: word(field.type, 'type') }
}

/** Typed data of a batch. Throws `Malformed`. */
export function typedData(value: unknown): OrderTypedData {
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

/** The relay parameters behind a signed hash; a field that the contract does not have is in no hash. Throws `Malformed`. */
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
