/**
 * Submits of one peer: what was prepared here is checked in the documented order and goes on its way once
 * (docs/reference/api-coverage.md POST /orders/txns/submit; test/paper/behaviours-orders.test.ts, F).
 */

import { defined } from '../../base/defined.ts'
import { isObject } from '../../base/isObject.ts'
import { type Address, type Hex, sameHex } from '../../protocol/address.ts'
import { digestOf, domainSeparator } from '../../protocol/signing/relayRouter.ts'
import { isSignedAtRouter } from '../blocks/signature.ts'
import { hashApproval, readApproval } from '../http/approval.ts'
import { badFields, type FieldError, type Json, notFound, parseAddress, refused } from '../http/http.ts'
import { acceptOperation } from '../keeper/operations.ts'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { VenueState } from '../state/venueState.ts'
import { findRecord, type OrderChainRecord, type Peer } from '../venue/peer.ts'
import { stateOfRecord } from './requestStatus.ts'

const separators = new Map<string, Hex>()

/** Domain separator of a relay router of the chain. */
export function separatorOf(venueState: VenueState, router: Address): Hex {
  const { chainId } = venueState.chain
  const key = `${chainId}:${router}`
  let separator = separators.get(key)
  if (separator === undefined) {
    separator = domainSeparator(chainId, router)
    separators.set(key, separator)
  }
  return separator
}

/** Separator of the router that a request is for: the account's, or the one of session keys. */
function separatorOfRecord(venueState: VenueState, { subaccount }: OrderChainRecord): Hex {
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = venueState.chain.contracts
  return separatorOf(venueState, subaccount === undefined ? gelatoRelayRouter : subaccountGelatoRelayRouter)
}

function digestOfRecord(venueState: VenueState, record: OrderChainRecord): Hex {
  return digestOf(separatorOfRecord(venueState, record), record.batch)
}

/** The amount of `{ "type": "bigint", "value": "1" }`; any other value is itself. */
function plain(value: unknown): unknown {
  return isObject(value) && value.type === 'bigint' && typeof value.value === 'string' ? value.value : value
}

/**
 * Tells whether two JSON values have the same meaning. Numbers may be texts or the objects of bigints, hex may differ in case, and the order of keys
 * is free.
 */
export function saysTheSame(given: unknown, expected: unknown): boolean {
  const one = plain(given)
  const other = plain(expected)
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
  venueState: VenueState,
  peer: Peer,
  body: Readonly<Record<string, unknown>>,
  entry: SubmitEntry,
): Promise<Json> {
  const { record, digest } = await checkSubmit(venueState, peer, body, entry)
  if (record.taskId === undefined) {
    const operation = acceptOperation(venueState, {
      account: record.account,
      requestId: record.requestId,
      batch: record.batch,
      relayParams: record.relayParams,
      subaccount: record.subaccount,
      digest,
      signature: body.signature as Hex,
      nowMs: venueState.clock.now(),
    })
    record.taskId = operation.taskId
    entry.result = 'accepted'
  } else {
    entry.result = 'repeated'
  }
  entry.taskId = record.taskId
  const { status, error, createdTxnHash } = stateOfRecord(venueState, record)
  return {
    requestId: record.requestId,
    status,
    taskId: record.taskId,
    ...defined({ txHash: createdTxnHash, error }),
  }
}

/** The checks of a submit in their documented order; returns the record, submitted before or now allowed to be, and its digest. */
async function checkSubmit(
  venueState: VenueState,
  peer: Peer,
  body: Readonly<Record<string, unknown>>,
  entry: SubmitEntry,
): Promise<{ readonly record: OrderChainRecord; readonly digest: Hex }> {
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
  const record = findRecord(peer, body)
  if (record === undefined) {
    entry.result = 'not found'
    throw notFound('Transaction not found')
  }
  const digest = digestOfRecord(venueState, record)
  entry.digest = digest
  const refuse = (code: string, message: string): never => {
    entry.result = code
    throw refused(code, message)
  }
  // The documents leave open what two names of two requests mean. Neither is guessed, not even for the answer to a repeat.
  const { idempotencyKey } = body
  if (typeof idempotencyKey === 'string' && idempotencyKey !== record.idempotencyKey) {
    refuse('INVALID_PARAMS', "idempotencyKey differs from the request's")
  }
  if (record.taskId !== undefined) return { record, digest }
  if (Math.floor(venueState.clock.now() / 1000) > record.expiresAtSeconds) {
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
  if (!isSignedAtRouter(signer, separatorOfRecord(venueState, record), digest, signature as Hex)) {
    refuse(
      'INVALID_SIGNATURE',
      `The prepared message is not signed by the ${subaccount === undefined ? 'account' : 'subaccount'}`,
    )
  }
  return { record, digest }
}
