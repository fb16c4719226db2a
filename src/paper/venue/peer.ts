/** The order records of one peer: what it prepared, by its two ids. Peers do not share them (docs/reference/api-coverage.md A17). */
import { defined } from '../../base/defined.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Batch, RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { JsonText } from '../http/http.ts'
import type { SubaccountUse } from '../state/venueRecords.ts'
import { madeHash, type VenueState } from '../state/venueState.ts'

/** A prepared request at a peer. */
export interface OrderChainRecord {
  readonly requestId: string
  readonly idempotencyKey: string
  readonly account: Address
  readonly mode: 'express' | 'classic'
  readonly batch: Batch
  readonly relayParams: RelayParams
  /** The session key that is to sign; absent when the account does. */
  readonly subaccount?: SubaccountUse
  /** JSON of what a submit must echo. */
  readonly batchParamsText: string
  readonly relayParamsText: string
  readonly createdAtMs: number
  readonly expiresAtSeconds: number
  taskId: Hex | undefined
}

/** The records of one peer. */
export interface Peer {
  /** `api/0`, `api/1`. */
  readonly host: string
  readonly byRequestId: Map<string, OrderChainRecord>
  readonly byIdempotencyKey: Map<string, OrderChainRecord>
}

/** A peer without records. */
export function createPeer(host: string): Peer {
  return { host, byRequestId: new Map(), byIdempotencyKey: new Map() }
}

/** Stores a prepared request; returns it with its ids. */
export function storePrepared(
  venueState: VenueState,
  peer: Peer,
  prepared: {
    readonly account: Address
    readonly mode: 'express' | 'classic'
    readonly batch: Batch
    readonly relayParams: RelayParams
    readonly subaccount?: SubaccountUse | undefined
    /** JSON of what a submit must echo. */
    readonly batchParamsText: JsonText
    readonly relayParamsText: JsonText
    readonly nowMs: number
    readonly expiresAtSeconds: number
  },
): OrderChainRecord {
  venueState.counters.request += 1
  const record: OrderChainRecord = {
    requestId: madeHash(venueState, `request:${peer.host}`, venueState.counters.request),
    idempotencyKey: madeHash(venueState, `idempotency:${peer.host}`, venueState.counters.request),
    account: prepared.account,
    mode: prepared.mode,
    batch: prepared.batch,
    relayParams: prepared.relayParams,
    ...defined({ subaccount: prepared.subaccount }),
    batchParamsText: prepared.batchParamsText.text,
    relayParamsText: prepared.relayParamsText.text,
    createdAtMs: prepared.nowMs,
    expiresAtSeconds: prepared.expiresAtSeconds,
    taskId: undefined,
  }
  keepRecord(peer, record)
  if (peer.byRequestId.size > venueState.settings.mostRequests) forgetOldest(peer)
  return record
}

/** Puts a record into both indexes. */
export function keepRecord(peer: Peer, record: OrderChainRecord): void {
  peer.byRequestId.set(record.requestId, record)
  peer.byIdempotencyKey.set(record.idempotencyKey, record)
}

function forgetOldest(peer: Peer): void {
  for (const record of peer.byRequestId.values()) {
    peer.byRequestId.delete(record.requestId)
    peer.byIdempotencyKey.delete(record.idempotencyKey)
    return
  }
}

/** The record of a request at whichever peer prepared it. */
export function recordOf(peers: readonly Peer[], requestId: string): OrderChainRecord | undefined {
  for (const { byRequestId } of peers) {
    const record = byRequestId.get(requestId)
    if (record !== undefined) return record
  }
  return undefined
}

/** The record that a body names by `requestId` or `idempotencyKey`, if this peer has it. */
export function findRecord(
  peer: Peer,
  body: Readonly<Record<string, unknown>>,
): OrderChainRecord | undefined {
  const { requestId, idempotencyKey } = body
  if (typeof requestId === 'string' && requestId !== '') return peer.byRequestId.get(requestId)
  return typeof idempotencyKey === 'string' ? peer.byIdempotencyKey.get(idempotencyKey) : undefined
}
