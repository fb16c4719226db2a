/** The order chain's routes (docs/reference/api-coverage.md POST /orders/txns/prepare): shape, quote, payload, answer. */
import { defined } from '../../base/defined.ts'
import type { Address } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import {
  type BodySource,
  bodyOf,
  HttpFailure,
  type Json,
  type JsonText,
  objectText,
  parseAddress,
  refused,
} from '../http/http.ts'
import { readPrepare } from '../http/prepareShape.ts'
import { trimRecord } from '../keeper/memoryLimits.ts'
import { subaccountOf } from '../keeper/subaccountKeys.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { capacityJson, capacityOfMarket } from '../pools/marketRows.ts'
import type { BatchActions } from '../prepare/batchParams.ts'
import { awaitJitRefresh } from '../prepare/capacityCheck.ts'
import { classicPayload } from '../prepare/classicPayload.ts'
import { buildPayload } from '../prepare/payload.ts'
import type { PayloadMismatch } from '../prepare/payloadMismatch.ts'
import type { PreparedChange } from '../prepare/prepareChanges.ts'
import { quoteOrder } from '../prepare/prepareQuote.ts'
import { feeTokenOf, type Quote } from '../prepare/quoteCommon.ts'
import { findMarket, findToken } from '../state/lookup.ts'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { SubaccountUse } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'
import { advanceVenue } from '../transactions/advance.ts'
import { type Peer, storePrepared } from '../venue/peer.ts'
import type { StateLog } from '../venue/stateLog.ts'
import { takeFault } from '../venue/venueFaults.ts'
import type { VenueParts } from '../venue/venueParts.ts'
import { writtenOperation } from '../venue/writtenOperation.ts'
import { submitOrder } from './orderChain.ts'
import { relayStatus, submitRelay } from './relayRoutes.ts'
import { orderStatus } from './requestStatus.ts'

/** An answer that never comes: the caller holds the connection open until it gives up. */
export const neverAnswer = Symbol('never answer')

/** Result of any prepare: the batch's actions, their costs, and its warnings. */
interface Prepared {
  readonly account: Address
  readonly mode: 'express' | 'classic'
  readonly actions: BatchActions
  readonly feeToken: CatalogToken
  readonly estimates: Json
  readonly warnings: Quote['warnings']
  readonly paysNative: boolean
  /** The session key that is to sign. */
  readonly subaccount: SubaccountUse | undefined
}

/** Builds, stores and answers a prepared batch. */
function answerPrepared(
  venue: VenueParts,
  peer: Peer,
  prepared: Prepared,
  mismatch: PayloadMismatch | undefined,
): JsonText {
  const { venueState } = venue
  const nowMs = venueState.clock.now()
  const { actions, mode } = prepared
  const warnings = [...prepared.warnings, ...givenWarnings(venue)]
  // A classic request is stored too: its status is `prepared` for ever, whatever the account sends.
  const built = buildPayload(venueState, {
    actions,
    feeToken: prepared.feeToken,
    nowMs,
    ...defined({ poison: mismatch }),
    signedBySubaccount: prepared.subaccount && {
      account: prepared.account,
      approval: prepared.subaccount.approval,
    },
  })
  const record = storePrepared(venueState, peer, {
    account: prepared.account,
    mode,
    batch: built.batch,
    relayParams: built.relayParams,
    subaccount: prepared.subaccount,
    batchParamsText: built.batchParamsText,
    relayParamsText: built.relayParamsText,
    nowMs,
    expiresAtSeconds: built.deadlineSeconds,
  })
  venue.log?.append({
    kind: 'prepared',
    host: peer.host,
    record,
    request: venueState.counters.request,
    nonce: venueState.counters.nonce,
  })
  return objectText({
    requestId: record.requestId,
    idempotencyKey: record.idempotencyKey,
    mode,
    payloadType: mode === 'express' ? 'typed-data' : 'transaction',
    payload: mode === 'express' ? built.payload : classicPayload(venueState, actions, prepared.paysNative),
    estimates: prepared.estimates,
    expiresAt: built.deadlineSeconds,
    warnings: warnings.map((warning) => warning.message),
    validationWarnings: warnings,
  })
}

/** Warnings that a fault adds to every prepared order. */
function givenWarnings({ venueState }: VenueParts): Quote['warnings'] {
  const { prepareWarns: code } = venueState.dataFaults
  return code === '' ? [] : [{ code, message: `Every order gets the warning ${code}`, details: {} }]
}

/** Details that always come with the capacity code, where the request names a market and a size. */
function capacityDetails(venueState: VenueState, body: Readonly<Record<string, unknown>>): Json | undefined {
  const market = typeof body.symbol === 'string' ? findMarket(venueState, body.symbol) : undefined
  if (market === undefined || typeof body.size !== 'string') return undefined
  const capacity = capacityOfMarket(venueState, market, body.direction === 'short' ? 'short' : 'long')
  return { ...capacityJson(venueState, market, capacity), requestedSizeUsd: body.size }
}

function takePrepareFault(
  venue: VenueParts,
  body: Readonly<Record<string, unknown>>,
): PayloadMismatch | undefined {
  const { prepareRefuses: code } = venue.faults
  if (code !== '') {
    const details = code === 'INSUFFICIENT_LIQUIDITY' ? capacityDetails(venue.venueState, body) : undefined
    throw refused(code, `Every prepare is refused with ${code}`, details)
  }
  const fault = takeFault(venue.faults, 'prepare')
  if (fault === 'unavailable') throw new HttpFailure(503, { message: 'Service Unavailable' })
  return fault === 'none' ? undefined : fault
}

/** `POST /orders/txns/prepare`. Throws HttpFailure. */
export async function prepareRoute(venue: VenueParts, peer: Peer, request: BodySource): Promise<JsonText> {
  const { venueState } = venue
  const body = await bodyOf(request)
  const wanted = readPrepare(body, venueState.settings.strictPrepare)
  const subaccount = await subaccountOf(venueState, body, wanted.from)
  const poison = takePrepareFault(venue, body)
  if (wanted.kind === 'increase') await awaitJitRefresh(venueState)
  let quote: Quote
  try {
    quote = quoteOrder(venueState, wanted, venueState.clock.now())
  } catch (error) {
    if (error instanceof ProtocolRevert) {
      throw refused('INVALID_PARAMS', `The order cannot be executed: ${error.message}`)
    }
    throw error
  }
  const prepared: Prepared = {
    account: wanted.from,
    mode: wanted.mode,
    actions: { creates: quote.orders, details: quote.details, updates: [], cancels: [] },
    feeToken: quote.feeToken,
    estimates: quote.estimates,
    warnings: quote.warnings,
    paysNative: findToken(venueState, wanted.collateralToPay?.token ?? '')?.isNative === true,
    subaccount,
  }
  return answerPrepared(venue, peer, prepared, poison)
}

/** `POST /orders/txns/{edit,cancel,collateral}/prepare`. Throws HttpFailure. */
export async function changeRoute(
  venue: VenueParts,
  peer: Peer,
  request: BodySource,
  prepareChange: (
    venueState: VenueParts['venueState'],
    body: Readonly<Record<string, unknown>>,
    nowMs: number,
  ) => PreparedChange,
): Promise<JsonText> {
  const { venueState } = venue
  const body = await bodyOf(request)
  const poison = takePrepareFault(venue, body)
  const change = prepareChange(venueState, body, venueState.clock.now())
  const gasToken = typeof body.gasPaymentToken === 'string' ? body.gasPaymentToken : undefined
  const prepared: Prepared = {
    ...change,
    mode: body.mode === 'classic' ? 'classic' : 'express',
    feeToken: feeTokenOf(venueState, gasToken),
    warnings: [],
    paysNative: false,
    subaccount: await subaccountOf(venueState, body, change.account),
  }
  return answerPrepared(venue, peer, prepared, poison)
}

function entryOf(
  venue: VenueParts,
  peer: Peer,
  lane: SubmitEntry['lane'],
  body: Readonly<Record<string, unknown>>,
): SubmitEntry {
  const entry: SubmitEntry = {
    receivedAtMs: venue.venueState.clock.now(),
    lane,
    host: peer.host,
    requestId: typeof body.requestId === 'string' ? body.requestId : null,
    account: parseAddress(body.from) ?? null,
    digest: null,
    signature: typeof body.signature === 'string' ? body.signature : null,
    result: 'received',
    taskId: null,
  }
  venue.record.push(entry)
  trimRecord(venue.record, venue.venueState)
  return entry
}

function logAccepted(venue: VenueParts, log: StateLog, entry: SubmitEntry): void {
  const operation = venue.venueState.operations.get(entry.taskId ?? '')
  if (operation === undefined) return
  const written = writtenOperation(operation, venue.peers)
  log.append({ kind: 'accepted', operation: written, entry, task: venue.venueState.counters.task })
}

async function submitWithFaults(
  venue: VenueParts,
  entry: SubmitEntry,
  work: () => Promise<Json>,
): Promise<Json | typeof neverAnswer> {
  const fault = takeFault(venue.faults, 'submit')
  if (fault === '500-before-work') throw new HttpFailure(500, { message: 'Internal Server Error' })
  const answer = await work()
  if (entry.result === 'accepted' && venue.log !== undefined) logAccepted(venue, venue.log, entry)
  if (fault === '503-after-work') throw new HttpFailure(503, { message: 'Service Unavailable' })
  return fault === 'accept-and-never-answer' ? neverAnswer : answer
}

/** `POST /orders/txns/submit`. Throws HttpFailure. */
export async function submitRoute(
  venue: VenueParts,
  peer: Peer,
  request: BodySource,
): Promise<Json | typeof neverAnswer> {
  const body = await bodyOf(request)
  const entry = entryOf(venue, peer, 'order-chain', body)
  return submitWithFaults(venue, entry, () => submitOrder(venue.venueState, peer, body, entry))
}

/** `POST /orders/txns/status`. Throws HttpFailure. */
export async function statusRoute(venue: VenueParts, peer: Peer, request: BodySource): Promise<Json> {
  const body = await bodyOf(request)
  const fault = takeFault(venue.faults, 'status')
  if (fault === 'unavailable') throw new HttpFailure(503, { message: 'Service Unavailable' })
  if (fault === 'not-found') throw new HttpFailure(404, { message: 'Transaction not found' })
  return orderStatus(venue.venueState, peer, body)
}

/** `POST /relay/submit`. Throws HttpFailure. */
export async function relaySubmitRoute(
  venue: VenueParts,
  peer: Peer,
  request: BodySource,
): Promise<Json | typeof neverAnswer> {
  const body = await bodyOf(request)
  const entry = entryOf(venue, peer, 'relay', body)
  return submitWithFaults(venue, entry, () => submitRelay(venue.venueState, body, entry))
}

/** `POST /relay/status`. Throws HttpFailure. */
export async function relayStatusRoute(venue: VenueParts, request: BodySource): Promise<Json> {
  const body = await bodyOf(request)
  advanceVenue(venue.venueState)
  return relayStatus(venue.venueState, body)
}
