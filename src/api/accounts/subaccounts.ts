/**
 * Subaccounts: a key of its own that may trade for an account (docs/reference/api-coverage.md POST /subaccounts/approval/prepare).
 * The main key signs an approval once; then every prepare names the subaccount and carries the approval, the subaccount's
 * key signs, and submit echoes the approval.
 */

import type { Address } from '../../protocol/address.ts'
import type { SubaccountApprovalMessage } from '../../protocol/signing/subaccountApproval.ts'
import {
  address,
  boolean,
  bytes32,
  inside,
  Malformed,
  object,
  optional,
  present,
  uint,
  unixSeconds,
  word,
} from '../decode/decode.ts'
import { type OrderTypedData, typedDataDomain, typedDataTypes } from '../orders/typedData.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Which key of which account. */
export interface SubaccountQuery {
  readonly account: Address
  readonly subaccountAddress: Address
}

/** Present right of a subaccount. A pair that was never used is inactive with zero counts. */
export interface SubaccountStatus {
  readonly isActive: boolean
  readonly maxAllowedCount: bigint
  readonly currentActionsCount: bigint
  readonly remainingActions: bigint
  /** Unix seconds; 0 when it was never approved. */
  readonly expiresAtSeconds: number
  readonly approvalNonce: bigint
  readonly multichainApprovalNonce: bigint
  readonly integrationId: string | null
}

/** Terms of an approval. */
export interface SubaccountApprovalRequest extends SubaccountQuery {
  /** True to add the subaccount, also when its limits change; always sent. */
  readonly shouldAdd: boolean
  /** Unix seconds. */
  readonly expiresAtSeconds: number
  /** Actions in all, those already used included. */
  readonly maxAllowedCount: bigint
}

/** Typed data of an approval as one host proposes it. Nothing in it is trusted before it was verified. */
export interface PreparedApproval {
  readonly domain: OrderTypedData['domain']
  readonly primaryType: 'SubaccountApproval'
  readonly types: OrderTypedData['types']
  readonly message: SubaccountApprovalMessage
  readonly nonce: bigint
  readonly relayRouterAddress?: Address
}

const statusRoute: Route<SubaccountQuery, SubaccountStatus> = {
  path: '/subaccounts/status',
  method: 'POST',
  service: 'api',
  kind: 'read',
  body: ({ account, subaccountAddress }) => ({ account, subaccountAddress }),
  decode: (body) => {
    const fields = object(body)
    return {
      isActive: boolean(fields.active, 'active'),
      maxAllowedCount: uint(fields.maxAllowedCount, 'maxAllowedCount'),
      currentActionsCount: uint(fields.currentActionsCount, 'currentActionsCount'),
      remainingActions: uint(fields.remainingActions, 'remainingActions'),
      expiresAtSeconds: unixSeconds(fields.expiresAt, 'expiresAt'),
      approvalNonce: uint(fields.approvalNonce, 'approvalNonce'),
      multichainApprovalNonce: uint(fields.multichainApprovalNonce, 'multichainApprovalNonce'),
      integrationId: optional(fields.integrationId, 'integrationId', word) ?? null,
    }
  },
}

const approvalRoute: Route<SubaccountApprovalRequest, PreparedApproval> = {
  path: '/subaccounts/approval/prepare',
  method: 'POST',
  service: 'api',
  kind: 'prepare',
  isExact: true,
  body: ({ account, subaccountAddress, shouldAdd, expiresAtSeconds, maxAllowedCount }) => ({
    account,
    subaccountAddress,
    shouldAdd,
    expiresAt: String(expiresAtSeconds),
    maxAllowedCount: maxAllowedCount.toString(),
  }),
  decode: approval,
}

/** Reads the remaining right of a subaccount (`POST /subaccounts/status`, which changes nothing). */
export function getSubaccountStatus(
  transport: Transport,
  query: SubaccountQuery,
  options?: CallOptions,
): Promise<Read<SubaccountStatus>> {
  return transport.call(statusRoute, query, options)
}

/**
 * Typed data of an approval for the main key to sign (`POST /subaccounts/approval/prepare`). Moves nothing; the approval
 * becomes valid with the first order that carries it.
 */
export function prepareSubaccountApproval(
  transport: Transport,
  request: SubaccountApprovalRequest,
  options?: CallOptions,
): Promise<Read<PreparedApproval>> {
  return transport.call(approvalRoute, request, options)
}

function approvalMessage(value: unknown): SubaccountApprovalMessage {
  const message = object(value)
  return {
    subaccount: address(message.subaccount, 'subaccount'),
    shouldAdd: boolean(message.shouldAdd, 'shouldAdd'),
    expiresAt: uint(message.expiresAt, 'expiresAt'),
    maxAllowedCount: uint(message.maxAllowedCount, 'maxAllowedCount'),
    actionType: bytes32(message.actionType, 'actionType'),
    nonce: uint(message.nonce, 'nonce'),
    desChainId: uint(message.desChainId, 'desChainId'),
    deadline: uint(message.deadline, 'deadline'),
    integrationId: bytes32(message.integrationId, 'integrationId'),
  }
}

function approval(body: unknown): PreparedApproval {
  const fields = object(body)
  if (fields.primaryType !== undefined && fields.primaryType !== 'SubaccountApproval') {
    throw new Malformed('primaryType', 'is not SubaccountApproval', fields.primaryType)
  }
  return {
    domain: inside(fields.domain, 'domain', typedDataDomain),
    primaryType: 'SubaccountApproval',
    types: inside(fields.types, 'types', typedDataTypes),
    message: inside(fields.message, 'message', approvalMessage),
    nonce: uint(fields.nonce, 'nonce'),
    ...present({ relayRouterAddress: optional(fields.relayRouterAddress, 'relayRouterAddress', address) }),
  }
}
