/** An approval is signed only when it grants what was asked for, and used only when it is this owner's for this key. */
import { expect, test } from 'vitest'
import {
  approvalDifferences,
  approvalOf,
  ownerDigestOf,
  signedApprovalDifferences,
} from '../../src/execution/approval/verifyApproval.ts'
import { type Address, type Hex, ZERO_HASH } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { approvalTypes } from '../../src/protocol/signing/approvalTypes.ts'
import { minifiedDigestOf } from '../../src/protocol/signing/messages.ts'
import { domainSeparator, relayRouterDomain } from '../../src/protocol/signing/relayRouter.ts'

const owner: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const subaccount: Address = '0x1563915e194D8CfBA1943570603F7606A3115508'
const router = arbitrum.contracts.subaccountGelatoRelayRouter
const grant = { subaccount, expiresAtSeconds: 1_800_604_800, maxAllowedCount: 90n, nonce: 3n }
const message = approvalOf(arbitrum, grant)
const proposed = {
  domain: relayRouterDomain(arbitrum.chainId, router),
  types: approvalTypes,
  message,
  relayRouterAddress: router,
}
const key: Hex = `0x${'11'.repeat(32)}`
const signed = { ...message, signature: signDigest(key, ownerDigestOf(arbitrum, message)) }

test('what was asked for may be signed, and what the owner signed may be used', () => {
  expect(approvalDifferences(arbitrum, grant, proposed)).toEqual([])
  expect(signedApprovalDifferences(arbitrum, owner, subaccount, signed)).toEqual([])
})

test('the owner may have signed its minified form, at this router alone', () => {
  const at = (contract: Address) =>
    minifiedDigestOf(domainSeparator(arbitrum.chainId, contract), ownerDigestOf(arbitrum, message))
  const of = (digest: Hex, by = key) =>
    signedApprovalDifferences(arbitrum, owner, subaccount, { ...message, signature: signDigest(by, digest) })
  expect(of(at(router))).toEqual([])
  expect(of(at(arbitrum.contracts.gelatoRelayRouter))).toMatchObject([{ field: 'signature' }])
  expect(of(at(router), `0x${'22'.repeat(32)}`)).toMatchObject([{ field: 'signature' }])
  // Another message than the one that was minified.
  const changed = { ...message, maxAllowedCount: 91n, signature: signDigest(key, at(router)) }
  expect(signedApprovalDifferences(arbitrum, owner, subaccount, changed)).toMatchObject([
    { field: 'signature' },
  ])
})

const changes = {
  subaccount: owner,
  shouldAdd: false,
  expiresAt: 1_900_000_000n,
  maxAllowedCount: 91n,
  actionType: ZERO_HASH,
  nonce: 4n,
  desChainId: 1n,
  deadline: 1_900_000_000n,
  integrationId: `0x${'01'.repeat(32)}`,
} as const

test.each(Object.entries(changes))('another %s is refused before it is signed and after', (name, value) => {
  const other = { ...message, [name]: value }
  const fields = approvalDifferences(arbitrum, grant, { ...proposed, message: other }).map(
    ({ field }) => field,
  )
  expect(fields).toEqual([`message.${name}`])
  // The signature is over the message as it was.
  const after = signedApprovalDifferences(arbitrum, owner, subaccount, { ...signed, [name]: value })
  expect(after.map(({ field }) => field)).toContain('signature')
})

test.each([
  ['name', 'Other', 'domain.name'],
  ['version', '2', 'domain.version'],
  ['chainId', 1, 'domain.chainId'],
  ['verifyingContract', arbitrum.contracts.gelatoRelayRouter, 'domain.verifyingContract'],
])('another %s of the domain is refused', (name, value, field) => {
  const domain = { ...proposed.domain, [name]: value }
  expect(approvalDifferences(arbitrum, grant, { ...proposed, domain })).toMatchObject([{ field }])
})

test('another router beside it, a field more in the types, and another type are refused', () => {
  const types = {
    SubaccountApproval: [...approvalTypes.SubaccountApproval, { name: 'more', type: 'bytes' }],
    Other: [],
  }
  const relayRouterAddress = arbitrum.contracts.gelatoRelayRouter
  const differences = approvalDifferences(arbitrum, grant, { ...proposed, types, relayRouterAddress })
  expect(differences.map(({ field }) => field)).toEqual([
    'relayRouterAddress',
    'types.SubaccountApproval',
    'types.Other',
  ])
})

test('an approval of another owner, for another key or without a signature is not used', () => {
  const of = (approval: typeof signed, who = owner) =>
    signedApprovalDifferences(arbitrum, who, subaccount, approval).map(({ field }) => field)
  expect(of(signed, subaccount)).toEqual(['signature'])
  expect(of({ ...signed, signature: '0x' })).toEqual(['signature'])
  expect(signedApprovalDifferences(arbitrum, owner, owner, signed).map(({ field }) => field)).toEqual([
    'message.subaccount',
  ])
})
