/** Express payloads: the typed data to sign, and what a submit must echo (test/paper/behaviours-prepare.test.ts, E). */

import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import { batchTypes } from '../../protocol/signing/batchTypes.ts'
import {
  type Batch,
  hashRelayParams,
  type RelayParams,
  relayRouterDomain,
} from '../../protocol/signing/relayRouter.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { hashApproval, type SubaccountApproval } from '../http/approval.ts'
import { type Json, JsonText, objectText, refused, stringify } from '../http/http.ts'
import { messageFee } from '../keeper/gasFees.ts'
import type { VenueState } from '../state/venueState.ts'
import { type BatchActions, batchParamsJson, orderJson, texts } from './batchParams.ts'
import { dearer, disagreeing, type PayloadMismatch, payingSomebodyElse } from './payloadMismatch.ts'
import { feeSwapPathOf } from './quote.ts'

/** A batch ready to be signed. */
export interface BuiltPayload {
  readonly batch: Batch
  readonly relayParams: RelayParams
  /** JSON of the payload. */
  readonly payload: JsonText
  /** JSON of the parts that a submit must echo. */
  readonly batchParamsText: JsonText
  readonly relayParamsText: JsonText
  readonly deadlineSeconds: number
}

const batchTypesText = new JsonText(stringify(batchTypes))

/**
 * Builds the batch of an account that signs for itself, or of its session key.
 *
 * @throws HttpFailure 400 NO_SWAP_PATH when the fee token cannot become the native token
 */
export function buildPayload(
  venueState: VenueState,
  options: {
    readonly actions: BatchActions
    readonly feeToken: CatalogToken
    readonly nowMs: number
    /** Deliberate fault in the response. */
    readonly poison?: PayloadMismatch
    /** The account and its session key, when that signs. */
    readonly signedBySubaccount?:
      | { readonly account: Address; readonly approval: SubaccountApproval }
      | undefined
  },
): BuiltPayload {
  const { feeToken, nowMs } = options
  const { contracts } = venueState.chain
  const { signedBySubaccount: session } = options
  const router = session === undefined ? contracts.gelatoRelayRouter : contracts.subaccountGelatoRelayRouter
  const relayParams = buildRelayParams(venueState, feeToken, options.actions, session !== undefined, nowMs)
  const deadlineSeconds = Number(relayParams.deadline)
  const { poison } = options
  const creates =
    poison === 'foreign-receiver' ? options.actions.creates.map(payingSomebodyElse) : options.actions.creates
  const batch: Batch = {
    account: session?.account ?? ZERO_ADDRESS,
    createOrderParamsList: creates,
    updateOrderParamsList: options.actions.updates,
    cancelOrderKeys: options.actions.cancels,
    relayParams: hashRelayParams(relayParams),
    subaccountApproval: session === undefined ? ZERO_HASH : hashApproval(session.approval),
  }
  const typedData = objectText({
    domain: relayRouterDomain(venueState.chain.chainId, router),
    types: batchTypesText,
    primaryType: 'Batch',
    message: {
      account: batch.account,
      createOrderParamsList: creates.map(orderJson),
      updateOrderParamsList: batch.updateOrderParamsList.map(texts),
      cancelOrderKeys: batch.cancelOrderKeys,
      relayParams: batch.relayParams,
      subaccountApproval: batch.subaccountApproval,
    },
  })
  const actions = { ...options.actions, creates }
  const batchParamsText = new JsonText(
    stringify(batchParamsJson(venueState, poison === 'batch-copy' ? disagreeing(actions) : actions)),
  )
  const relayParamsText = new JsonText(
    stringify(relayParamsJson(poison === 'relay-copy' ? dearer(relayParams) : relayParams)),
  )
  return {
    batch,
    relayParams,
    deadlineSeconds,
    payload: objectText({
      typedData,
      batchParams: batchParamsText,
      relayParams: relayParamsText,
      relayRouterAddress: router,
    }),
    batchParamsText,
    relayParamsText,
  }
}

/**
 * Relay parameters of a new operation: fee with its swap route, a nonce of its own, deadline.
 *
 * @throws HttpFailure 400 NO_SWAP_PATH when the fee token cannot become the native token
 */
export function buildRelayParams(
  venueState: VenueState,
  feeToken: CatalogToken,
  actions: Pick<BatchActions, 'creates' | 'updates' | 'cancels'>,
  isSubaccount: boolean,
  nowMs: number,
): RelayParams {
  const seconds = Math.floor(nowMs / 1000)
  const { contracts } = venueState.chain
  const feeSwapPath = feeSwapPathOf(venueState, feeToken.address, seconds)
  if (feeSwapPath === undefined) {
    throw refused('NO_SWAP_PATH', `No swap path found from ${feeToken.symbol} to the native token`)
  }
  // A fee in wrapped native needs no swap; its token stands in the list once, as the venue's client has it.
  const priced =
    feeSwapPath.length === 0 ? [contracts.wrappedNative] : [feeToken.address, contracts.wrappedNative]
  venueState.counters.nonce += 1
  const deadlineSeconds = seconds + venueState.settings.orderDeadlineSeconds
  return {
    oracleParams: {
      tokens: priced,
      providers: priced.map(() => contracts.chainlinkPriceFeedProvider),
      data: priced.map(() => '0x' as Hex),
    },
    externalCalls: {
      sendTokens: [],
      sendAmounts: [],
      externalCallTargets: [],
      externalCallDataList: [],
      refundTokens: [],
      refundReceivers: [],
    },
    tokenPermits: [],
    fee: {
      feeToken: feeToken.address,
      feeAmount: messageFee(venueState, { ...actions, feeToken, feeSwapPath, isSubaccount, nowMs }),
      feeSwapPath,
    },
    userNonce: BigInt(nowMs) * 1_000_000n + BigInt(venueState.counters.nonce % 1_000_000),
    deadline: BigInt(deadlineSeconds),
    desChainId: BigInt(venueState.chain.chainId),
  }
}

/** Relay parameters in JSON: amounts as decimal strings. */
export function relayParamsJson(relayParams: RelayParams): Record<string, Json> {
  return { ...texts(relayParams), fee: texts(relayParams.fee) }
}
