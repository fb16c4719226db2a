/**
 * The order chain of one peer: prepare, submit, status. Records live at the peer that prepared them; the world behind
 * the peers is one (wire: application-api-orders, sections 2 to 5; behaviours D, F, G).
 */

import { type Batch, digestOf, domainSeparator, type RelayParams } from '../chains/relayRouter.ts'
import { type Address, type Hex, hexKey, sameHex } from '../domain/address.ts'
import { hashApproval, readApproval } from './approval.ts'
import { badFields, type FieldError, isObject, type Json, notFound, parseAddress, refused } from './http.ts'
import { acceptOperation } from './operations.ts'
import type { SubmitEntry } from './record.ts'
import { isSignedAtRouter } from './signature.ts'
import type { SubaccountUse } from './subaccounts.ts'
import { madeHash, type Operation, type World } from './world.ts'

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

/** Most records a peer keeps; the oldest go first. */
const MAX_RECORDS = 20_000

/** A peer without records. */
export function createPeer(host: string): Peer {
  return { host, byRequestId: new Map(), byIdempotencyKey: new Map() }
}

/** Stores a prepared request; returns it with its ids. */
export function storePrepared(
  world: World,
  peer: Peer,
  prepared: {
    readonly account: Address
    readonly mode: 'express' | 'classic'
    readonly batch: Batch
    readonly relayParams: RelayParams
    readonly subaccount?: SubaccountUse | undefined
    /** JSON of what a submit must echo. */
    readonly batchParams: Json
    readonly relayParamsJson: Json
    readonly nowMs: number
    readonly expiresAtSeconds: number
  },
): OrderChainRecord {
  world.counters.request += 1
  const record: OrderChainRecord = {
    requestId: madeHash(world, `request:${peer.host}`, world.counters.request),
    idempotencyKey: madeHash(world, `idempotency:${peer.host}`, world.counters.request),
    account: prepared.account,
    mode: prepared.mode,
    batch: prepared.batch,
    relayParams: prepared.relayParams,
    ...(prepared.subaccount === undefined ? {} : { subaccount: prepared.subaccount }),
    batchParamsText: JSON.stringify(prepared.batchParams),
    relayParamsText: JSON.stringify(prepared.relayParamsJson),
    createdAtMs: prepared.nowMs,
    expiresAtSeconds: prepared.expiresAtSeconds,
    taskId: undefined,
  }
  keepRecord(peer, record)
  if (peer.byRequestId.size > MAX_RECORDS) forgetOldest(peer)
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

function find(peer: Peer, body: Readonly<Record<string, unknown>>): OrderChainRecord | undefined {
  const { requestId, idempotencyKey } = body
  if (typeof requestId === 'string' && requestId !== '') return peer.byRequestId.get(requestId)
  return typeof idempotencyKey === 'string' ? peer.byIdempotencyKey.get(idempotencyKey) : undefined
}

const separators = new Map<string, Hex>()

/** Domain separator of a relay router of the chain. */
export function separatorOf(world: World, router: Address): Hex {
  const { chainId } = world.chain
  const key = `${chainId}:${router}`
  let separator = separators.get(key)
  if (separator === undefined) {
    separator = domainSeparator(chainId, router)
    separators.set(key, separator)
  }
  return separator
}

/** Separator of the router that a request is for: the account's, or the one of session keys. */
function separatorOfRecord(world: World, { subaccount }: OrderChainRecord): Hex {
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = world.chain.contracts
  return separatorOf(world, subaccount === undefined ? gelatoRelayRouter : subaccountGelatoRelayRouter)
}

function digestOfRecord(world: World, record: OrderChainRecord): Hex {
  return digestOf(separatorOfRecord(world, record), record.batch)
}

/** Whether two JSON values say the same: numbers may be texts, hex may differ in case, order of keys is free. */
export function saysTheSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, i) => saysTheSame(value, other[i]))
    )
  }
  if (isObject(one) && isObject(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)])
    return [...keys].every((key) => saysTheSame(one[key], other[key]))
  }
  if (isObject(one) || isObject(other)) return false
  const left = String(one)
  const right = String(other)
  return left === right || (/^0x/i.test(left) && sameHex(left, right))
}

/**
 * Takes a signed order in. The answer is the record's state; a repeated submit answers the same and never executes twice.
 *
 * @throws HttpFailure 400 and 404 as documented
 */
export async function submitOrder(
  world: World,
  peer: Peer,
  body: Readonly<Record<string, unknown>>,
  entry: SubmitEntry,
): Promise<Json> {
  const record = await checkSubmit(world, peer, body, entry)
  if (record.taskId === undefined) {
    const digest = digestOfRecord(world, record)
    const operation = acceptOperation(world, {
      account: record.account,
      requestId: record.requestId,
      batch: record.batch,
      relayParams: record.relayParams,
      subaccount: record.subaccount,
      digest,
      signature: body.signature as Hex,
      nowMs: world.clock.now(),
    })
    record.taskId = operation.taskId
    entry.result = 'accepted'
  } else {
    entry.result = 'repeated'
  }
  entry.taskId = record.taskId
  const { status, error, createdTxnHash } = stateOf(world, record)
  return {
    requestId: record.requestId,
    status,
    taskId: record.taskId,
    ...(createdTxnHash === undefined ? {} : { txHash: createdTxnHash }),
    ...(error === undefined ? {} : { error }),
  }
}

/** The checks of a submit in their documented order; returns the record, submitted before or now allowed to be. */
async function checkSubmit(
  world: World,
  peer: Peer,
  body: Readonly<Record<string, unknown>>,
  entry: SubmitEntry,
): Promise<OrderChainRecord> {
  const errors: Record<string, FieldError> = {}
  const signature = typeof body.signature === 'string' ? body.signature : undefined
  if (signature === undefined) errors.signature = { message: "'signature' is required" }
  const from = parseAddress(body.from)
  if (from === undefined) errors.from = { message: "'from' is required and must be an address" }
  const echo = isObject(body.eip712Data) ? body.eip712Data : {}
  for (const name of ['batchParams', 'relayParams'] as const) {
    if (!isObject(echo[name])) {
      errors[`eip712Data.${name}`] = { message: `'eip712Data.${name}' is required` }
    }
  }
  if (Object.keys(errors).length > 0 || signature === undefined || from === undefined) {
    entry.result = 'bad shape'
    throw badFields(errors)
  }
  const record = find(peer, body)
  if (record === undefined) {
    entry.result = 'not found'
    throw notFound('Transaction not found')
  }
  const digest = digestOfRecord(world, record)
  entry.digest = digest
  if (record.taskId !== undefined) return record
  const refuse = (code: string, message: string): never => {
    entry.result = code
    throw refused(code, message)
  }
  if (Math.floor(world.clock.now() / 1000) > record.expiresAtSeconds) {
    refuse('REQUEST_EXPIRED', 'The request has expired; prepare the order again')
  }
  if (record.mode === 'classic' || body.mode === 'classic') {
    refuse('INVALID_PARAMS', 'A classic request is sent as a transaction, not submitted')
  }
  if (!sameHex(from, record.account)) refuse('INVALID_PARAMS', 'from is not the account of the request')
  for (const [name, text] of [
    ['batchParams', record.batchParamsText],
    ['relayParams', record.relayParamsText],
  ] as const) {
    const given = echo[name]
    if (JSON.stringify(given) !== text && !saysTheSame(given, JSON.parse(text))) {
      refuse('INVALID_PARAMS', `eip712Data.${name} differs from what was prepared`)
    }
  }
  const { subaccount } = record
  if (subaccount !== undefined) {
    const given = readApproval(echo.subaccountApproval)
    if (!('subaccount' in given) || hashApproval(given) !== record.batch.subaccountApproval) {
      refuse('INVALID_PARAMS', 'eip712Data.subaccountApproval differs from what was prepared')
    }
  }
  const signer = subaccount?.address ?? record.account
  if (!(await isSignedAtRouter(signer, separatorOfRecord(world, record), digest, signature as Hex))) {
    refuse(
      'INVALID_SIGNATURE',
      `The signature is not one of the ${subaccount === undefined ? 'account' : 'subaccount'} over the prepared message`,
    )
  }
  return record
}

/** Status words of the wire. */
export type OrderChainStatus =
  | 'prepared'
  | 'relay_accepted'
  | 'relay_pending'
  | 'relay_submitted'
  | 'created'
  | 'executed'
  | 'cancelled'
  | 'relay_failed'
  | 'relay_reverted'

interface RecordState {
  readonly status: OrderChainStatus
  readonly updatedAtMs: number
  readonly orderKeys: readonly Hex[]
  readonly createdTxnHash?: Hex
  readonly executionTxnHash?: Hex
  readonly cancellationReason?: string
  readonly error?: { readonly code: string; readonly message: string }
}

function stateOf(world: World, record: OrderChainRecord): RecordState {
  const operation = record.taskId === undefined ? undefined : world.operations.get(record.taskId)
  // Forgotten for its age: the record says no more, rather than going back to `prepared`.
  if (record.taskId !== undefined && operation === undefined) throw notFound('Transaction not found')
  if (operation === undefined) return { status: 'prepared', updatedAtMs: record.createdAtMs, orderKeys: [] }
  return stateOfOperation(world, operation)
}

/** What the relay does before the transaction is mined: it has it, has queued it from a quarter of the time, has sent it from half. */
function pendingStep(
  { acceptedAtMs, landsAtMs }: Operation,
  nowMs: number,
): Pick<RecordState, 'status' | 'updatedAtMs'> {
  const queuedAtMs = Math.ceil((3 * acceptedAtMs + landsAtMs) / 4)
  const sentAtMs = Math.ceil((acceptedAtMs + landsAtMs) / 2)
  if (nowMs >= sentAtMs) return { status: 'relay_submitted', updatedAtMs: sentAtMs }
  if (nowMs >= queuedAtMs) return { status: 'relay_pending', updatedAtMs: queuedAtMs }
  return { status: 'relay_accepted', updatedAtMs: acceptedAtMs }
}

function stateOfOperation(world: World, operation: Operation): RecordState {
  const { status, updatedAtMs, txHash, error, orderKeys } = operation
  if (status === 'pending') return { ...pendingStep(operation, world.clock.now()), orderKeys }
  if (status !== 'executed') {
    const shown = error === undefined ? {} : { error: { code: error.code, message: error.message } }
    return {
      status: status === 'failed' ? 'relay_failed' : 'relay_reverted',
      updatedAtMs,
      orderKeys,
      ...shown,
    }
  }
  const created = txHash === undefined ? {} : { createdTxnHash: txHash }
  const [main] = orderKeys
  const outcome = main === undefined ? undefined : world.outcomes.get(hexKey(main))
  // A batch of edits and cancels alone is done when it is mined.
  if (outcome === undefined) return { status: 'executed', updatedAtMs, orderKeys, ...created }
  return {
    status: outcome.status,
    updatedAtMs: outcome.updatedAtMs,
    orderKeys,
    ...created,
    ...(outcome.executionTxnHash === undefined ? {} : { executionTxnHash: outcome.executionTxnHash }),
    ...(outcome.status === 'cancelled' ? { cancellationReason: outcome.reason ?? '' } : {}),
  }
}

/** Status of a record by requestId or idempotencyKey. Throws HttpFailure 400 without either, 404 for an unknown one. */
export function orderStatus(world: World, peer: Peer, body: Readonly<Record<string, unknown>>): Json {
  if (typeof body.requestId !== 'string' && typeof body.idempotencyKey !== 'string') {
    throw badFields({ requestId: { message: "'requestId' or 'idempotencyKey' is required" } })
  }
  const record = find(peer, body)
  if (record === undefined) throw notFound('Transaction not found')
  const state = stateOf(world, record)
  return {
    requestId: record.requestId,
    status: state.status,
    taskId: record.taskId,
    txHash: state.executionTxnHash ?? state.createdTxnHash,
    createdTxnHash: state.createdTxnHash,
    executionTxnHash: state.executionTxnHash,
    orderKeys: state.orderKeys.length === 0 ? undefined : state.orderKeys,
    cancellationReason: state.cancellationReason,
    error: state.error,
    createdAt: new Date(record.createdAtMs).toISOString(),
    updatedAt: new Date(state.updatedAtMs).toISOString(),
  }
}
