/** The order chain's routes (wire: application-api-orders): shape, quote, payload, answer. */
import type { Address } from '../domain/address.ts'
import { advanceWorld } from './advance.ts'
import { takeFault } from './faults.ts'
import { bodyOf, HttpFailure, type Json, parseAddress, refused } from './http.ts'
import { ProtocolRevert } from './model/revert.ts'
import { orderStatus, type Peer, storePrepared, submitOrder } from './orderChain.ts'
import { buildPayload } from './payload.ts'
import { type Quote, quoteOrder } from './prepare.ts'
import { readPrepare } from './prepareShape.ts'
import type { SubmitEntry } from './record.ts'
import { relayStatus, submitRelay } from './relay.ts'
import type { VenueState } from './venue.ts'

/** Somebody else: where a poisoned payload sends the money. */
const stranger: Address = '0x00000000000000000000000000000000DeaDBeef'

/** An answer that never comes: the caller holds the connection open until it gives up. */
export const neverAnswer = Symbol('never answer')

/** `POST /orders/txns/prepare`. Throws HttpFailure. */
export async function prepareRoute(venue: VenueState, peer: Peer, request: Request): Promise<Json> {
  const { world, faults } = venue
  const wanted = readPrepare(await bodyOf(request))
  const fault = takeFault(faults, 'prepare')
  if (fault === 'unavailable') throw new HttpFailure(503, { message: 'Service Unavailable' })
  const nowMs = world.clock.now()
  let quote: Quote
  try {
    quote = quoteOrder(world, wanted, nowMs)
  } catch (error) {
    if (error instanceof ProtocolRevert)
      throw refused('INVALID_PARAMS', `The order cannot work: ${error.message}`)
    throw error
  }
  if (wanted.mode === 'classic')
    throw refused('INVALID_PARAMS', 'Classic mode is not served by this paper venue')
  const built = buildPayload(world, {
    actions: { creates: quote.orders, updates: [], cancels: [] },
    feeToken: quote.feeToken,
    executionFees: quote.executionFees,
    nowMs,
    ...(fault === 'foreign-receiver' ? { foreignReceiver: stranger } : {}),
  })
  const record = storePrepared(world, peer, {
    account: wanted.from,
    mode: wanted.mode,
    batch: built.batch,
    relayParams: built.relayParams,
    batchParams: built.payload.batchParams ?? null,
    relayParamsJson: built.payload.relayParams ?? null,
    nowMs,
    expiresAtSeconds: built.deadlineSeconds,
  })
  return {
    requestId: record.requestId,
    idempotencyKey: record.idempotencyKey,
    mode: wanted.mode,
    payloadType: 'typed-data',
    payload: built.payload,
    estimates: quote.estimates as Json,
    expiresAt: built.deadlineSeconds,
    warnings: quote.warnings.map((warning) => warning.message),
    validationWarnings: quote.warnings as unknown as Json,
  }
}

function entryOf(
  venue: VenueState,
  peer: Peer,
  lane: SubmitEntry['lane'],
  body: Readonly<Record<string, unknown>>,
): SubmitEntry {
  const entry: SubmitEntry = {
    receivedAtMs: venue.world.clock.now(),
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
  return entry
}

async function submitWithFaults(
  venue: VenueState,
  work: () => Promise<Json>,
): Promise<Json | typeof neverAnswer> {
  const fault = takeFault(venue.faults, 'submit')
  if (fault === '500-before-work') throw new HttpFailure(500, { message: 'Internal Server Error' })
  const answer = await work()
  if (fault === '503-after-work') throw new HttpFailure(503, { message: 'Service Unavailable' })
  return fault === 'accept-and-never-answer' ? neverAnswer : answer
}

/** `POST /orders/txns/submit`. Throws HttpFailure. */
export async function submitRoute(
  venue: VenueState,
  peer: Peer,
  request: Request,
): Promise<Json | typeof neverAnswer> {
  const body = await bodyOf(request)
  const entry = entryOf(venue, peer, 'order-chain', body)
  return submitWithFaults(venue, () => submitOrder(venue.world, peer, body, entry))
}

/** `POST /orders/txns/status`. Throws HttpFailure. */
export async function statusRoute(venue: VenueState, peer: Peer, request: Request): Promise<Json> {
  const body = await bodyOf(request)
  const fault = takeFault(venue.faults, 'status')
  if (fault === 'unavailable') throw new HttpFailure(503, { message: 'Service Unavailable' })
  if (fault === 'not-found') throw new HttpFailure(404, { message: 'Transaction not found' })
  return orderStatus(venue.world, peer, body)
}

/** `POST /relay/submit`. Throws HttpFailure. */
export async function relaySubmitRoute(
  venue: VenueState,
  peer: Peer,
  request: Request,
): Promise<Json | typeof neverAnswer> {
  const body = await bodyOf(request)
  const entry = entryOf(venue, peer, 'relay', body)
  return submitWithFaults(venue, () => submitRelay(venue.world, body, entry))
}

/** `POST /relay/status`. Throws HttpFailure. */
export async function relayStatusRoute(venue: VenueState, request: Request): Promise<Json> {
  const body = await bodyOf(request)
  advanceWorld(venue.world)
  return relayStatus(venue.world, body)
}
