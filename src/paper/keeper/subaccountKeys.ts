/**
 * Session keys that trade for an account: what is approved, and what each operation uses of it
 * (test/paper/subaccounts.test.ts, J).
 */
import { defined } from '../../base/defined.ts'
import { type Address, hexKey, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import { domainSeparator, relayRouterDomain } from '../../protocol/signing/relayRouter.ts'
import { isSignedAtRouter } from '../blocks/signature.ts'
import {
  approvalDigest,
  approvalJson,
  approvalTypes,
  readApproval,
  SUBACCOUNT_ORDER_ACTION,
  type SubaccountApproval,
} from '../http/approval.ts'
import { badFields, type FieldError, type Json, parseAddress, refused } from '../http/http.ts'
import { uintOf } from '../http/prepareShape.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import type { SignedBatch, SubaccountState, SubaccountUse } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

type Body = Readonly<Record<string, unknown>>

/** Key of an account and a session key in the venue. */
export function subaccountKey(account: Address, subaccount: Address): string {
  return `${hexKey(account)}:${hexKey(subaccount)}`
}

/** Next nonce of an account's approvals. */
function approvalNonceOf(venueState: VenueState, account: Address): bigint {
  return venueState.approvalNonces.get(hexKey(account)) ?? 0n
}

function pairOf(body: Body): { account: Address; subaccount: Address; errors: Record<string, FieldError> } {
  const errors: Record<string, FieldError> = {}
  const read = (name: string): Address => {
    const address = parseAddress(body[name])
    if (address !== undefined) return address
    errors[name] = {
      message: body[name] === undefined ? `'${name}' is required` : `'${name}' is not an address`,
      ...defined({ value: typeof body[name] === 'string' ? body[name] : undefined }),
    }
    return ZERO_ADDRESS
  }
  return { account: read('account'), subaccount: read('subaccountAddress'), errors }
}

/** `POST /subaccounts/status`: zeros for a pair that was never used. Throws HttpFailure 400. */
export function subaccountStatus(venueState: VenueState, body: Body): Json {
  const { account, subaccount, errors } = pairOf(body)
  if (Object.keys(errors).length > 0) throw badFields(errors)
  const state = venueState.subaccounts.get(subaccountKey(account, subaccount))
  const max = state?.maxAllowedCount ?? 0n
  const current = state?.currentActionsCount ?? 0n
  return {
    active: state?.isActive ?? false,
    maxAllowedCount: max.toString(),
    currentActionsCount: current.toString(),
    remainingActions: (max > current ? max - current : 0n).toString(),
    expiresAt: (state?.expiresAt ?? 0n).toString(),
    approvalNonce: approvalNonceOf(venueState, account).toString(),
    multichainApprovalNonce: '0',
    integrationId: null,
  }
}

/** `POST /subaccounts/approval/prepare`: what the main account signs. Throws HttpFailure 400. */
export function prepareApproval(venueState: VenueState, body: Body): Json {
  const { account, subaccount, errors } = pairOf(body)
  const uint = (name: string): bigint => {
    const value = uintOf(body[name])
    if (value === undefined) errors[name] = { message: `'${name}' must be a non-negative integer` }
    return value ?? 0n
  }
  const expiresAt = uint('expiresAt')
  const maxAllowedCount = uint('maxAllowedCount')
  if (typeof body.shouldAdd !== 'boolean') errors.shouldAdd = { message: "'shouldAdd' must be true or false" }
  if (Object.keys(errors).length > 0) throw badFields(errors)
  if (sameHex(account, subaccount)) {
    throw refused('INVALID_PARAMS', 'The subaccount is the account itself')
  }
  const { chainId, contracts } = venueState.chain
  const nonce = approvalNonceOf(venueState, account)
  const message = approvalJson({
    subaccount,
    shouldAdd: body.shouldAdd === true,
    expiresAt,
    maxAllowedCount,
    actionType: SUBACCOUNT_ORDER_ACTION,
    nonce,
    desChainId: BigInt(chainId),
    deadline: expiresAt,
    integrationId: ZERO_HASH,
    signature: '0x',
  })
  return {
    domain: relayRouterDomain(chainId, contracts.subaccountGelatoRelayRouter),
    types: approvalTypes as unknown as Json,
    message,
    primaryType: 'SubaccountApproval',
    relayRouterAddress: contracts.subaccountGelatoRelayRouter,
    nonce: nonce.toString(),
  }
}

/** The session key of an order request, or undefined when the account signs itself. Throws HttpFailure 400. */
export async function subaccountOf(
  venueState: VenueState,
  body: Body,
  account: Address,
): Promise<SubaccountUse | undefined> {
  if (body.subaccountAddress === undefined && body.subaccountApproval === undefined) return undefined
  const address = parseAddress(body.subaccountAddress)
  const approval = readApproval(body.subaccountApproval)
  const wrong = [
    ...(address === undefined ? ['subaccountAddress'] : []),
    ...('subaccount' in approval ? [] : approval),
  ]
  if (wrong.length > 0 || address === undefined || !('subaccount' in approval)) {
    throw badFields(
      Object.fromEntries(wrong.map((name) => [name, { message: `'${name}' is missing or malformed` }])),
    )
  }
  if (!sameHex(address, approval.subaccount)) {
    throw refused('INVALID_PARAMS', 'subaccountApproval is the approval of another subaccount')
  }
  return { address, approval, isApproved: await isApprovedBy(venueState, account, approval) }
}

/** Tells whether an approval may count: it is empty, or the account signed it, plain or minified. */
export async function isApprovedBy(
  venueState: VenueState,
  account: Address,
  approval: SubaccountApproval,
): Promise<boolean> {
  if (approval.signature === '0x') return true
  const { chainId, contracts } = venueState.chain
  const separator = domainSeparator(chainId, contracts.subaccountGelatoRelayRouter)
  return isSignedAtRouter(account, separator, approvalDigest(venueState.chain, approval), approval.signature)
}

/**
 * Checks a session key as the router does when the operation is mined. Returns a function that writes the changes once everything else succeeded.
 *
 * @throws ProtocolRevert with the router's own errors
 */
export function checkSubaccount(venueState: VenueState, operation: SignedBatch, nowMs: number): () => void {
  const { subaccount: use, account, batch, removes } = operation
  const { externalCallTargets } = operation.relayParams.externalCalls
  if ((use !== undefined || removes !== undefined) && externalCallTargets.length > 0) {
    throw new ProtocolRevert('NonEmptyExternalCallsForSubaccountOrder')
  }
  if (use === undefined) return () => undefined
  const { address, approval } = use
  for (const { addresses } of batch.createOrderParamsList) {
    if (!sameHex(addresses.receiver, account)) {
      throw new ProtocolRevert('InvalidReceiverForSubaccountOrder', [addresses.receiver, account])
    }
    const { cancellationReceiver } = addresses
    if (!sameHex(cancellationReceiver, ZERO_ADDRESS) && !sameHex(cancellationReceiver, account)) {
      throw new ProtocolRevert('InvalidCancellationReceiverForSubaccountOrder', [
        cancellationReceiver,
        account,
      ])
    }
  }
  const nowSeconds = BigInt(Math.floor(nowMs / 1000))
  const state: SubaccountState = {
    isActive: false,
    maxAllowedCount: 0n,
    currentActionsCount: 0n,
    expiresAt: 0n,
    ...venueState.subaccounts.get(subaccountKey(account, address)),
  }
  const nonce = approvalNonceOf(venueState, account)
  const isSigned = approval.signature !== '0x'
  if (isSigned) applyApproval(venueState, use, state, nonce, nowSeconds)
  if (!state.isActive) throw new ProtocolRevert('SubaccountNotAuthorized', [account, address])
  if (nowSeconds > state.expiresAt) {
    throw new ProtocolRevert('SubaccountApprovalExpired', [account, address, state.expiresAt, nowSeconds])
  }
  const actions =
    batch.createOrderParamsList.length + batch.updateOrderParamsList.length + batch.cancelOrderKeys.length
  const count = state.currentActionsCount + BigInt(actions)
  if (count > state.maxAllowedCount) {
    throw new ProtocolRevert('MaxSubaccountActionCountExceeded', [
      account,
      address,
      count,
      state.maxAllowedCount,
    ])
  }
  state.currentActionsCount = count
  return () => {
    venueState.subaccounts.set(subaccountKey(account, address), state)
    if (isSigned) venueState.approvalNonces.set(hexKey(account), nonce + 1n)
  }
}

/** Takes a session key's right away; its count stays as it is. Nothing happens to one that has none. */
export function removeSubaccount(venueState: VenueState, account: Address, subaccount: Address): void {
  const state = venueState.subaccounts.get(subaccountKey(account, subaccount))
  if (state !== undefined) state.isActive = false
}

function applyApproval(
  venueState: VenueState,
  { address, approval, isApproved }: SubaccountUse,
  state: SubaccountState,
  nonce: bigint,
  nowSeconds: bigint,
): void {
  if (!sameHex(approval.subaccount, address)) throw new ProtocolRevert('InvalidSubaccountApprovalSubaccount')
  if (approval.desChainId !== BigInt(venueState.chain.chainId)) {
    throw new ProtocolRevert('InvalidSubaccountApprovalDesChainId', [approval.desChainId])
  }
  if (nowSeconds > approval.deadline) {
    throw new ProtocolRevert('SubaccountApprovalDeadlinePassed', [nowSeconds, approval.deadline])
  }
  if (approval.nonce !== nonce) {
    throw new ProtocolRevert('InvalidSubaccountApprovalNonce', [nonce, approval.nonce])
  }
  if (!isApproved) throw new ProtocolRevert('InvalidSignature', ['subaccount approval'])
  if (approval.maxAllowedCount > 0n) state.maxAllowedCount = approval.maxAllowedCount
  if (approval.expiresAt > 0n) state.expiresAt = approval.expiresAt
  if (approval.shouldAdd) state.isActive = true
}
