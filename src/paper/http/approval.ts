/**
 * Approvals of session keys: the message the main account signs, and the hash of it that a Batch carries
 * (docs/reference/api-coverage.md POST /subaccounts/approval/prepare; contract `SubaccountUtils`, `SubaccountApproval`).
 */
import { encodeAbiParameters, hashTypedData, keccak256, parseAbiParameters } from 'viem/utils'
import { isObject } from '../../base/isObject.ts'
import { type Address, type Hex, ZERO_HASH } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { relayRouterDomain } from '../../protocol/signing/relayRouter.ts'
import { type Json, parseAddress } from './http.ts'
import { uintOf } from './prepareShape.ts'

/** Action that an approval allows: orders (contract `SubaccountUtils`, `SubaccountApproval`). */
export const SUBACCOUNT_ORDER_ACTION: Hex =
  '0x2a0791687fd34f2095c484a9fa4e25057d3ef79a97fcd8c61436047a7bdf4cbe'

/** An approval as the router decodes it. Times in Unix seconds. */
export interface SubaccountApproval {
  readonly subaccount: Address
  readonly shouldAdd: boolean
  readonly expiresAt: bigint
  readonly maxAllowedCount: bigint
  readonly actionType: Hex
  readonly nonce: bigint
  readonly desChainId: bigint
  readonly deadline: bigint
  readonly integrationId: Hex
  /** Signature of the main account; `0x` in the empty approval, which changes nothing. */
  readonly signature: Hex
}

/** EIP-712 types of an approval, in the router's order. */
export const approvalTypes = {
  SubaccountApproval: [
    { name: 'subaccount', type: 'address' },
    { name: 'shouldAdd', type: 'bool' },
    { name: 'expiresAt', type: 'uint256' },
    { name: 'maxAllowedCount', type: 'uint256' },
    { name: 'actionType', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'desChainId', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'integrationId', type: 'bytes32' },
  ],
} as const

const encodedApproval = parseAbiParameters([
  'Approval approval',
  'struct Approval { address subaccount; bool shouldAdd; uint256 expiresAt; uint256 maxAllowedCount; bytes32 actionType; uint256 nonce; uint256 desChainId; uint256 deadline; bytes32 integrationId; bytes signature; }',
])

/** Hash of an approval in a Batch: keccak256(abi.encode(approval)), one dynamic tuple, signature included. */
export function hashApproval(approval: SubaccountApproval): Hex {
  return keccak256(encodeAbiParameters(encodedApproval, [approval]))
}

/** Digest the main account signs: the first nine fields, domain of the subaccount router. */
export function approvalDigest(chain: Chain, approval: SubaccountApproval): Hex {
  const { signature: _signature, ...message } = approval
  return hashTypedData({
    domain: relayRouterDomain(chain.chainId, chain.contracts.subaccountGelatoRelayRouter),
    types: approvalTypes,
    primaryType: 'SubaccountApproval',
    message,
  })
}

/** Message of an approval in JSON: amounts as decimal strings. */
export function approvalJson(approval: SubaccountApproval): Record<string, Json> {
  const shown: Record<string, Json> = {}
  for (const { name } of approvalTypes.SubaccountApproval) {
    const value = approval[name]
    shown[name] = typeof value === 'bigint' ? value.toString() : value
  }
  return shown
}

/** Reads an approval of a request; the names of the fields that are wrong instead, when some are. */
export function readApproval(value: unknown): SubaccountApproval | readonly string[] {
  if (!isObject(value)) return ['subaccountApproval']
  const wrong: string[] = []
  const refuse = <T>(name: string, instead: T): T => {
    wrong.push(`subaccountApproval.${name}`)
    return instead
  }
  const uint = (name: string): bigint => uintOf(value[name]) ?? refuse(name, 0n)
  const hex = (name: string, form: RegExp): Hex => {
    const text = value[name]
    return typeof text === 'string' && form.test(text) ? (text as Hex) : refuse(name, ZERO_HASH)
  }
  const word = /^0x[0-9a-fA-F]{64}$/
  const { shouldAdd } = value
  const approval: SubaccountApproval = {
    subaccount: parseAddress(value.subaccount) ?? refuse<Address>('subaccount', '0x'),
    shouldAdd: typeof shouldAdd === 'boolean' ? shouldAdd : refuse('shouldAdd', false),
    expiresAt: uint('expiresAt'),
    maxAllowedCount: uint('maxAllowedCount'),
    actionType: hex('actionType', word),
    nonce: uint('nonce'),
    desChainId: uint('desChainId'),
    deadline: uint('deadline'),
    // Older clients leave the integration out; there is none then.
    integrationId: value.integrationId === undefined ? ZERO_HASH : hex('integrationId', word),
    signature: hex('signature', /^0x([0-9a-fA-F]{2})*$/),
  }
  return wrong.length === 0 ? approval : wrong
}
