/**
 * Withdrawals from the GMX account to other chains (docs/reference/api-coverage.md POST /gmx-account/deposit/cross-chain/prepare;
 * test/paper/gmxAccount.test.ts, K.2): signed, relayed, and taken from the account's balance here. Records live at the
 * peer that prepared them.
 */
import { encodeAbiParameters, hashTypedData } from 'viem/utils'
import { isObject } from '../../base/isObject.ts'
import { type Address, type Hex, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { hashRelayParams, relayRouterDomain } from '../../protocol/signing/relayRouter.ts'
import { isSignedBy } from '../blocks/signature.ts'
import { badFields, type FieldError, type Json, notFound, parseAddress, refused } from '../http/http.ts'
import { uintOf } from '../http/prepareShape.ts'
import { messageFee } from '../keeper/gasFees.ts'
import { withdrawalKey } from '../keeper/gmxAccount.ts'
import { buildRelayParams, relayParamsJson } from '../prepare/payload.ts'
import { feeTokenOf } from '../prepare/quoteCommon.ts'
import { findToken } from '../state/lookup.ts'
import type { BridgeOut, Withdrawal } from '../state/venueRecords.ts'
import { madeHash, schedule, type VenueState } from '../state/venueState.ts'
import type { Peer } from '../venue/peer.ts'
import type { StateLog } from '../venue/stateLog.ts'
import { accountOf, bridgedToken, chainIdOf, collect, type Refuse, settlementOf } from './crossChain.ts'
import { saysTheSame } from './orderChain.ts'

type Body = Readonly<Record<string, unknown>>

/** Most withdrawals that are remembered; the oldest go first. */
const MAX_WITHDRAWALS = 5_000

/** LayerZero endpoint ids of the chains that can be withdrawn to. */
const endpointIds: Readonly<Record<number, number>> = { 1: 30101, 56: 30102, 8453: 30184 }

/** A withdrawal creates, updates and cancels no order. */
const noActions = { creates: [], updates: [], cancels: [] }

/** EIP-712 types of a withdrawal. */
export const bridgeOutTypes = {
  BridgeOut: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'minAmountOut', type: 'uint256' },
    { name: 'provider', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'relayParams', type: 'bytes32' },
  ],
} as const

/** Milliseconds from a landed withdrawal to the tokens' arrival on the other chain. */
const BRIDGE_MS = 20_000

function readBridgeOut(body: Body, refuse: Refuse): BridgeOut {
  const given = isObject(body.bridgeOutParams) ? body.bridgeOutParams : {}
  if (!isObject(body.bridgeOutParams)) refuse('bridgeOutParams', body.bridgeOutParams)
  const at = (name: string): string => `bridgeOutParams.${name}`
  const address = (name: string): Address => {
    const value = parseAddress(given[name])
    if (value === undefined) refuse(at(name), given[name])
    return value ?? ZERO_ADDRESS
  }
  const amount = uintOf(given.amount) ?? 0n
  if (amount === 0n) refuse(at('amount'), given.amount, `'${at('amount')}' must be a positive integer`)
  const minAmountOut = uintOf(given.minAmountOut)
  if (minAmountOut === undefined) refuse(at('minAmountOut'), given.minAmountOut)
  const { data } = given
  const isBytes = typeof data === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(data)
  if (!isBytes) refuse(at('data'), data)
  return {
    token: address('token'),
    amount,
    minAmountOut: minAmountOut ?? 0n,
    provider: address('provider'),
    data: isBytes ? (data as Hex) : '0x',
  }
}

/** `POST /gmx-account/withdraw/cross-chain/prepare`. Throws HttpFailure 400. */
export function prepareWithdrawal(venueState: VenueState, peer: Peer, body: Body, log?: StateLog): Json {
  const errors: Record<string, FieldError> = {}
  const refuse = collect(errors)
  const account = accountOf(body, refuse)
  const srcChainId = chainIdOf(body, refuse)
  const bridgeOut = readBridgeOut(body, refuse)
  if (Object.keys(errors).length > 0) throw badFields(errors)
  settlementOf(venueState, srcChainId)
  bridgedToken(venueState, bridgeOut.token)
  const target = endpointIds[srcChainId] ?? 0
  if (!sameHex(bridgeOut.data, encodeAbiParameters([{ type: 'uint32' }], [target]))) {
    throw refused(
      'INVALID_PARAMS',
      `bridgeOutParams.data is not the endpoint ${target} of chain ${srcChainId}`,
    )
  }
  if (bridgeOut.minAmountOut > bridgeOut.amount) {
    throw refused('INVALID_PARAMS', 'bridgeOutParams.minAmountOut is above bridgeOutParams.amount')
  }
  const nowMs = venueState.clock.now()
  const named = typeof body.gasPaymentToken === 'string' ? body.gasPaymentToken : undefined
  const feeToken = feeTokenOf(venueState, named)
  const relayParams = buildRelayParams(venueState, feeToken, noActions, false, nowMs)
  const { multichainTransferRouter, wrappedNative } = venueState.chain.contracts
  const domain = relayRouterDomain(srcChainId, multichainTransferRouter)
  const message = { ...bridgeOut, relayParams: hashRelayParams(relayParams) }
  venueState.counters.request += 1
  const withdrawal: Withdrawal = {
    requestId: madeHash(venueState, `withdrawal:${peer.host}`, venueState.counters.request),
    account,
    srcChainId,
    bridgeOut,
    relayParams,
    digest: hashTypedData({ domain, types: bridgeOutTypes, primaryType: 'BridgeOut', message }),
    createdAtMs: nowMs,
    expiresAtSeconds: Number(relayParams.deadline),
    taskId: undefined,
    submittedAtMs: 0,
    status: 'prepared',
    updatedAtMs: nowMs,
  }
  const key = withdrawalKey(peer.host, withdrawal.requestId)
  venueState.withdrawals.set(key, withdrawal)
  const { request, nonce } = venueState.counters
  log?.append({ kind: 'withdrawal', key, withdrawal, request, nonce })
  for (const oldest of venueState.withdrawals.keys()) {
    if (venueState.withdrawals.size <= MAX_WITHDRAWALS) break
    venueState.withdrawals.delete(oldest)
  }
  const native = findToken(venueState, wrappedNative)
  return {
    requestId: withdrawal.requestId,
    payloadType: 'typed-data',
    payload: {
      typedData: {
        domain,
        types: bridgeOutTypes as unknown as Json,
        primaryType: 'BridgeOut',
        message: {
          ...message,
          amount: bridgeOut.amount.toString(),
          minAmountOut: bridgeOut.minAmountOut.toString(),
        },
      },
      relayParams: relayParamsJson(relayParams),
      relayRouterAddress: multichainTransferRouter,
      gasPaymentParams: {
        relayerFeeTokenAddress: wrappedNative,
        relayerFeeAmount: (native === undefined
          ? 0n
          : messageFee(venueState, {
              ...noActions,
              feeToken: native,
              feeSwapPath: [],
              isSubaccount: false,
              nowMs,
            })
        ).toString(),
        gasPaymentTokenAddress: relayParams.fee.feeToken,
        gasPaymentTokenAmount: relayParams.fee.feeAmount.toString(),
      },
    },
    expiresAt: withdrawal.expiresAtSeconds,
  }
}

function withdrawalOf(venueState: VenueState, peer: Peer, requestId: unknown): Withdrawal {
  const found = venueState.withdrawals.get(withdrawalKey(peer.host, String(requestId)))
  if (found === undefined) throw notFound('Transaction not found')
  return found
}

/**
 * `POST /gmx-account/withdraw/cross-chain/submit`: the host that prepared takes the signature; a repeated submit answers
 * the record and never withdraws twice. Throws HttpFailure 400, 404.
 */
export async function submitWithdrawal(
  venueState: VenueState,
  peer: Peer,
  body: Body,
  log?: StateLog,
): Promise<Json> {
  const errors: Record<string, FieldError> = {}
  const refuse = collect(errors)
  const account = accountOf(body, refuse)
  const srcChainId = chainIdOf(body, refuse)
  const bridgeOut = readBridgeOut(body, refuse)
  const { signature, relayParamsPayload, relayerFeeTokenAddress, relayerFeeAmount } = body
  if (typeof signature !== 'string') refuse('signature', signature)
  if (!isObject(relayParamsPayload)) refuse('relayParamsPayload', undefined)
  if (parseAddress(relayerFeeTokenAddress) === undefined) {
    refuse('relayerFeeTokenAddress', relayerFeeTokenAddress)
  }
  if (uintOf(relayerFeeAmount) === undefined) refuse('relayerFeeAmount', relayerFeeAmount)
  if (Object.keys(errors).length > 0) throw badFields(errors)
  const matches = (one: Withdrawal): boolean =>
    sameHex(one.account, account) &&
    one.srcChainId === srcChainId &&
    saysTheSame(texts(bridgeOut), texts(one.bridgeOut)) &&
    saysTheSame(relayParamsPayload, relayParamsJson(one.relayParams))
  const withdrawal =
    body.requestId === undefined
      ? [...venueState.withdrawals].find(([key, one]) => key.startsWith(`${peer.host}:`) && matches(one))?.[1]
      : withdrawalOf(venueState, peer, body.requestId)
  if (withdrawal === undefined) throw notFound('Transaction not found')
  if (withdrawal.taskId !== undefined) return submitAnswer(venueState, withdrawal)
  if (Math.floor(venueState.clock.now() / 1000) > withdrawal.expiresAtSeconds) {
    throw refused('REQUEST_EXPIRED', 'The request has expired; prepare the withdrawal again')
  }
  if (!matches(withdrawal)) {
    throw refused('INVALID_PARAMS', 'The withdrawal differs from what was prepared')
  }
  if (!isSignedBy(account, withdrawal.digest, signature as Hex)) {
    throw refused('INVALID_SIGNATURE', 'The prepared message is not signed by the account')
  }
  const nowMs = venueState.clock.now()
  venueState.counters.task += 1
  withdrawal.taskId = madeHash(venueState, 'task', venueState.counters.task)
  withdrawal.status = 'submitted'
  withdrawal.submittedAtMs = nowMs
  withdrawal.updatedAtMs = nowMs
  withdrawal.signature = signature as Hex
  const key = withdrawalKey(peer.host, withdrawal.requestId)
  schedule(venueState, { atMs: nowMs + venueState.settings.relayDelayMs, kind: 'withdraw', key })
  log?.append({ kind: 'withdrawn', key, withdrawal, task: venueState.counters.task })
  return submitAnswer(venueState, withdrawal)
}

function texts(bridgeOut: BridgeOut): Record<string, string> {
  return Object.fromEntries(Object.entries(bridgeOut).map(([name, value]) => [name, String(value)]))
}

function submitAnswer(venueState: VenueState, withdrawal: Withdrawal): Json {
  return {
    requestId: withdrawal.requestId,
    status: shownStatus(venueState, withdrawal),
    taskId: withdrawal.taskId,
    error: withdrawal.error,
  }
}

function shownStatus(
  venueState: VenueState,
  { status, submittedAtMs, updatedAtMs, txHash }: Withdrawal,
): string {
  if (status !== 'submitted') return status
  const nowMs = venueState.clock.now()
  if (txHash !== undefined) return nowMs - updatedAtMs < BRIDGE_MS ? 'created' : 'executed'
  return nowMs - submittedAtMs < venueState.settings.relayDelayMs / 2 ? 'relay_accepted' : 'relay_submitted'
}

/** `POST /gmx-account/withdraw/cross-chain/status`. Throws HttpFailure 400, 404. */
export function withdrawalStatus(venueState: VenueState, peer: Peer, body: Body): Json {
  if (typeof body.requestId !== 'string') {
    throw badFields({ requestId: { message: "'requestId' is required" } })
  }
  const withdrawal = withdrawalOf(venueState, peer, body.requestId)
  return {
    requestId: withdrawal.requestId,
    status: shownStatus(venueState, withdrawal),
    txHash: withdrawal.txHash,
    taskId: withdrawal.taskId,
    error: withdrawal.error,
    createdAt: new Date(withdrawal.createdAtMs).toISOString(),
    updatedAt: new Date(withdrawal.updatedAtMs).toISOString(),
  }
}
