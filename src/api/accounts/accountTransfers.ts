/**
 * Deposits into and withdrawals from the platform account across chains (docs/reference/api-coverage.md POST
 * /gmx-account/deposit/cross-chain/prepare). A deposit is a transaction on the source chain. A withdrawal is signed, and
 * its submit and status stay on the host that prepared it, under the same rule as an order chain (docs/reference/api-coverage.md
 * A18): they take the host from the `PreparedWithdrawal` and have no other way in.
 */
import type { Address, Hex } from '../../protocol/address.ts'
import type { RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import {
  address,
  bytes32,
  hex,
  inside,
  Malformed,
  object,
  optional,
  present,
  uint,
  unixSeconds,
  word,
} from '../decode/decode.ts'
import { type WalletTransaction, walletTransaction } from '../orders/orderPayload.ts'
import { type OrderStatus, ofRequest, orderStatus } from '../orders/orderStatus.ts'
import { type OrderTypedData, relayParams, typedDataDomain, typedDataTypes } from '../orders/typedData.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** A deposit to prepare. */
export interface DepositRequest {
  /** EIP-155 number of the chain the token is on. */
  readonly srcChainId: number
  readonly account: Address
  /** In the token's smallest unit. */
  readonly amount: TokenAmount
  /** The token by symbol, or by its address on the settlement chain. */
  readonly token: { readonly symbol: string } | { readonly address: Address }
  readonly tokenKind?: 'trade' | 'platform'
  readonly isNativeOnSource?: boolean
  readonly sourceStargatePoolAddress?: Address
  readonly destinationStargatePoolAddress?: Address
  /** Native token, wei. */
  readonly nativeFee?: TokenAmount
  readonly composeGas?: bigint
  readonly nativeDropAmount?: TokenAmount
  readonly innerData?: Hex
}

/** A transaction for the source chain; nothing is handed in afterwards. */
export interface PreparedDeposit {
  readonly host: string
  readonly transaction: WalletTransaction
  readonly composeGas: bigint
  /** Native token, wei; part of the transaction's value. */
  readonly nativeFee: TokenAmount
  readonly expiresAtSeconds?: number
}

/** Transfer out through the bridge. */
export interface BridgeOutParams {
  readonly token: Address
  /** In the token's smallest unit. */
  readonly amount: TokenAmount
  readonly minAmountOut: TokenAmount
  readonly provider: Address
  /** ABI-encoded uint32: the bridge's id of the destination. */
  readonly data: Hex
}

/** A withdrawal to prepare. */
export interface WithdrawalRequest {
  readonly srcChainId: number
  readonly account: Address
  readonly bridgeOutParams: BridgeOutParams
  readonly gasPaymentToken?: Address
}

/** Payment to the relay. */
export interface GasPaymentParams {
  readonly relayerFeeTokenAddress: Address
  readonly relayerFeeAmount: TokenAmount
  readonly gasPaymentTokenAddress?: Address
  readonly gasPaymentTokenAmount?: TokenAmount
}

interface WithdrawalPayload {
  readonly requestId: string
  readonly typedData: {
    /** Its `chainId` is the source chain's. */
    readonly domain: OrderTypedData['domain']
    readonly primaryType: 'BridgeOut'
    readonly types: OrderTypedData['types']
    readonly message: BridgeOutParams & { readonly relayParams: Hex }
  }
  readonly relayParams: RelayParams
  readonly relayRouterAddress?: Address
  readonly gasPaymentParams: GasPaymentParams
  /** `payload.relayParams` as it came; goes back verbatim. */
  readonly echo: { readonly relayParams: unknown }
  readonly expiresAtSeconds?: number
}

/** A withdrawal to sign, as one host proposes it. Nothing in it is trusted before it was verified. */
export interface PreparedWithdrawal extends WithdrawalPayload {
  /** The only host that knows this request. */
  readonly host: string
  /** The withdrawal that was requested. */
  readonly request: WithdrawalRequest
}

function bridgeOutBody({ token, amount, minAmountOut, provider, data }: BridgeOutParams): unknown {
  return { token, amount: amount.toString(), minAmountOut: minAmountOut.toString(), provider, data }
}

const depositRoute: Route<DepositRequest, Omit<PreparedDeposit, 'host'>> = {
  path: '/gmx-account/deposit/cross-chain/prepare',
  method: 'POST',
  service: 'api',
  kind: 'prepare',
  isExact: true,
  body: ({ token, amount, nativeFee, composeGas, nativeDropAmount, ...rest }) => ({
    ...rest,
    ...('symbol' in token ? { tokenSymbol: token.symbol } : { tokenAddress: token.address }),
    amount: amount.toString(),
    nativeFee: nativeFee?.toString(),
    composeGas: composeGas?.toString(),
    nativeDropAmount: nativeDropAmount?.toString(),
  }),
  decode: (body) => {
    const fields = object(body)
    if (fields.payloadType !== undefined && fields.payloadType !== 'transaction') {
      throw new Malformed('payloadType', 'is not transaction', fields.payloadType)
    }
    return {
      transaction: inside(fields.payload, 'payload', walletTransaction),
      composeGas: uint(fields.composeGas, 'composeGas'),
      nativeFee: uint(fields.nativeFee, 'nativeFee'),
      ...present({ expiresAtSeconds: optional(fields.expiresAt, 'expiresAt', unixSeconds) }),
    }
  },
}

const withdrawalRoute: Route<WithdrawalRequest, WithdrawalPayload> = {
  path: '/gmx-account/withdraw/cross-chain/prepare',
  method: 'POST',
  service: 'api',
  kind: 'prepare',
  isExact: true,
  body: ({ srcChainId, account, bridgeOutParams, gasPaymentToken }) => ({
    srcChainId,
    account,
    bridgeOutParams: bridgeOutBody(bridgeOutParams),
    gasPaymentToken,
  }),
  decode: withdrawalPayload,
}

interface SubmitInput {
  readonly prepared: PreparedWithdrawal
  readonly signature: Hex
}

const submitRoute: Route<SubmitInput, OrderStatus> = {
  path: '/gmx-account/withdraw/cross-chain/submit',
  method: 'POST',
  service: 'api',
  kind: 'submit',
  body: ({ prepared, signature }) => ({
    srcChainId: prepared.request.srcChainId,
    account: prepared.request.account,
    signature,
    bridgeOutParams: bridgeOutBody(prepared.request.bridgeOutParams),
    relayParamsPayload: prepared.echo.relayParams,
    relayerFeeTokenAddress: prepared.gasPaymentParams.relayerFeeTokenAddress,
    relayerFeeAmount: prepared.gasPaymentParams.relayerFeeAmount.toString(),
    requestId: prepared.requestId,
  }),
  decode: orderStatus,
}

/** A handle on one withdrawal; a `PreparedWithdrawal` is one. */
export type WithdrawalTicket = { readonly host: string; readonly requestId: string }

const statusRoute: Route<WithdrawalTicket, OrderStatus> = {
  path: '/gmx-account/withdraw/cross-chain/status',
  method: 'POST',
  service: 'api',
  kind: 'status',
  body: ({ requestId }) => ({ requestId }),
  decode: orderStatus,
}

/** Prepares a deposit (`POST /gmx-account/deposit/cross-chain/prepare`). Moves nothing. */
export async function prepareDeposit(
  transport: Transport,
  request: DepositRequest,
  options?: CallOptions,
): Promise<Read<PreparedDeposit>> {
  const read = await transport.call(depositRoute, request, options)
  return { ...read, value: { ...read.value, host: read.host } }
}

/** Prepares a withdrawal (`POST /gmx-account/withdraw/cross-chain/prepare`). Moves nothing. */
export async function prepareWithdrawal(
  transport: Transport,
  request: WithdrawalRequest,
  options?: CallOptions,
): Promise<Read<PreparedWithdrawal>> {
  const read = await transport.call(withdrawalRoute, request, options)
  return { ...read, value: { ...read.value, host: read.host, request } }
}

/**
 * Hands in the signature: one POST to the host that prepared it, never repeated, whatever comes back
 * (`POST /gmx-account/withdraw/cross-chain/submit`).
 */
export function submitWithdrawal(
  transport: Transport,
  prepared: PreparedWithdrawal,
  signature: Hex,
): Promise<Read<OrderStatus>> {
  const route = ofRequest(submitRoute, prepared)
  return transport.call(route, { prepared, signature }, { host: prepared.host })
}

/**
 * Asks the host that prepared a withdrawal how it fares, and no other
 * (`POST /gmx-account/withdraw/cross-chain/status`). A 404 is a RefusedError that proves nothing.
 */
export function getWithdrawalStatus(
  transport: Transport,
  ticket: WithdrawalTicket,
  options?: Omit<CallOptions, 'host'>,
): Promise<Read<OrderStatus>> {
  const route = ofRequest(statusRoute, ticket)
  return transport.call(route, ticket, { ...options, host: ticket.host })
}

function bridgeOutMessage(value: unknown): BridgeOutParams & { readonly relayParams: Hex } {
  const message = object(value)
  return {
    token: address(message.token, 'token'),
    amount: uint(message.amount, 'amount'),
    minAmountOut: uint(message.minAmountOut, 'minAmountOut'),
    provider: address(message.provider, 'provider'),
    data: hex(message.data, 'data'),
    relayParams: bytes32(message.relayParams, 'relayParams'),
  }
}

function bridgeOutTypedData(value: unknown): WithdrawalPayload['typedData'] {
  const data = object(value)
  if (data.primaryType !== 'BridgeOut') {
    throw new Malformed('primaryType', 'is not BridgeOut', data.primaryType)
  }
  return {
    domain: inside(data.domain, 'domain', typedDataDomain),
    primaryType: 'BridgeOut',
    types: inside(data.types, 'types', typedDataTypes),
    message: inside(data.message, 'message', bridgeOutMessage),
  }
}

function gasPaymentParams(value: unknown): GasPaymentParams {
  const fields = object(value)
  return {
    relayerFeeTokenAddress: address(fields.relayerFeeTokenAddress, 'relayerFeeTokenAddress'),
    relayerFeeAmount: uint(fields.relayerFeeAmount, 'relayerFeeAmount'),
    ...present({
      gasPaymentTokenAddress: optional(fields.gasPaymentTokenAddress, 'gasPaymentTokenAddress', address),
      gasPaymentTokenAmount: optional(fields.gasPaymentTokenAmount, 'gasPaymentTokenAmount', uint),
    }),
  }
}

function withdrawalPayload(body: unknown): WithdrawalPayload {
  const fields = object(body)
  if (fields.payloadType !== undefined && fields.payloadType !== 'typed-data') {
    throw new Malformed('payloadType', 'is not typed-data', fields.payloadType)
  }
  const payload = object(fields.payload, 'payload')
  return {
    requestId: word(fields.requestId, 'requestId'),
    typedData: inside(payload.typedData, 'payload.typedData', bridgeOutTypedData),
    relayParams: inside(payload.relayParams, 'payload.relayParams', relayParams),
    gasPaymentParams: inside(payload.gasPaymentParams, 'payload.gasPaymentParams', gasPaymentParams),
    echo: { relayParams: payload.relayParams },
    ...present({
      relayRouterAddress: optional(payload.relayRouterAddress, 'payload.relayRouterAddress', address),
      expiresAtSeconds: optional(fields.expiresAt, 'expiresAt', unixSeconds),
    }),
  }
}
