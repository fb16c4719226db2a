/** An owner's approval of a delegated key: the content that may be signed as one, and the check of a signed one. */
import type { PreparedApproval } from '../../api/accounts/subaccounts.ts'
import type { Difference } from '../../domain/orderEvent.ts'
import { type Address, type Hex, ZERO_HASH } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { approvalTypes, SUBACCOUNT_ORDER_ACTION } from '../../protocol/signing/approvalTypes.ts'
import {
  domainSeparator,
  relayRouterDomainName,
  relayRouterDomainVersion,
} from '../../protocol/signing/relayRouter.ts'
import {
  approvalDigestOf,
  type SubaccountApproval,
  type SubaccountApprovalMessage,
} from '../../protocol/signing/subaccountApproval.ts'
import { Differences } from '../context/differences.ts'
import { checkOwnerSignature } from './ownerSignature.ts'

/** Terms that an owner grants. */
export interface Grant {
  readonly subaccount: Address
  /** Unix seconds; the chain takes the approval until then, and the key's orders. */
  readonly expiresAtSeconds: number
  /** Actions in all, those already used included. */
  readonly maxAllowedCount: bigint
  /** The account's next approval nonce. */
  readonly nonce: bigint
}

/** The message that grants it: orders alone, on this chain alone. */
export function approvalOf(chain: Chain, { subaccount, expiresAtSeconds, maxAllowedCount, nonce }: Grant) {
  return {
    subaccount,
    shouldAdd: true,
    expiresAt: BigInt(expiresAtSeconds),
    maxAllowedCount,
    actionType: SUBACCOUNT_ORDER_ACTION,
    nonce,
    desChainId: BigInt(chain.chainId),
    deadline: BigInt(expiresAtSeconds),
    integrationId: ZERO_HASH,
  } satisfies SubaccountApprovalMessage
}

/** The digest that the owner signs, computed from our own types and the pinned router. */
export function ownerDigestOf(chain: Chain, message: SubaccountApprovalMessage): Hex {
  const separator = domainSeparator(chain.chainId, chain.contracts.subaccountGelatoRelayRouter)
  return approvalDigestOf(separator, message)
}

/** Returns every difference between a host's proposal and the granted approval; empty when it may be signed. */
export function approvalDifferences(
  chain: Chain,
  grant: Grant,
  proposed: Pick<PreparedApproval, 'domain' | 'message' | 'types'> & {
    readonly relayRouterAddress?: Address
  },
): readonly Difference[] {
  const differences = new Differences()
  const router = chain.contracts.subaccountGelatoRelayRouter
  const { domain, types, message, relayRouterAddress } = proposed
  differences.same('domain.name', relayRouterDomainName, domain.name)
  differences.same('domain.version', relayRouterDomainVersion, domain.version)
  differences.same('domain.chainId', chain.chainId, domain.chainId)
  differences.hex('domain.verifyingContract', router, domain.verifyingContract)
  if (relayRouterAddress !== undefined) differences.hex('relayRouterAddress', router, relayRouterAddress)
  for (const name of new Set(['SubaccountApproval', ...Object.keys(types)])) {
    if (name === 'EIP712Domain') continue
    const ours = name === 'SubaccountApproval' ? approvalTypes.SubaccountApproval : undefined
    const theirs = Object.hasOwn(types, name) ? types[name] : undefined
    differences.same(`types.${name}`, JSON.stringify(ours ?? 'absent'), JSON.stringify(theirs ?? 'absent'))
  }
  checkMessage(differences, approvalOf(chain, grant), message)
  return differences.list
}

function checkMessage(
  differences: Differences,
  meant: SubaccountApprovalMessage,
  found: SubaccountApprovalMessage,
): void {
  differences.hex('message.subaccount', meant.subaccount, found.subaccount)
  differences.same('message.shouldAdd', meant.shouldAdd, found.shouldAdd)
  differences.same('message.expiresAt', meant.expiresAt, found.expiresAt)
  differences.same('message.maxAllowedCount', meant.maxAllowedCount, found.maxAllowedCount)
  differences.hex('message.actionType', meant.actionType, found.actionType)
  differences.same('message.nonce', meant.nonce, found.nonce)
  differences.same('message.desChainId', meant.desChainId, found.desChainId)
  differences.same('message.deadline', meant.deadline, found.deadline)
  differences.hex('message.integrationId', meant.integrationId, found.integrationId)
}

/**
 * Every reason why a signed approval is not one of this owner for this key on this chain; empty when it is. Count, end and
 * nonce are the owner's to choose; everything else is fixed.
 */
export function signedApprovalDifferences(
  chain: Chain,
  owner: Address,
  subaccount: Address,
  { signature, ...message }: SubaccountApproval,
): readonly Difference[] {
  const differences = new Differences()
  const { expiresAt, maxAllowedCount, nonce, deadline } = message
  const grant = { subaccount, expiresAtSeconds: Number(expiresAt), maxAllowedCount, nonce }
  checkMessage(differences, { ...approvalOf(chain, grant), expiresAt, deadline }, message)
  differences.same('message.deadline', expiresAt, deadline)
  const separator = domainSeparator(chain.chainId, chain.contracts.subaccountGelatoRelayRouter)
  checkOwnerSignature(differences, owner, separator, approvalDigestOf(separator, message), signature)
  return differences.list
}
