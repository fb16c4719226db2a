/** What a host wraps around a message: mode, types, domain and its own offer's end. We hash with our own of each. */
import type { Prepared } from '../api/orders.ts'
import type { Chain } from '../chains/chain.ts'
import { batchTypes, relayRouterDomainName, relayRouterDomainVersion } from '../chains/relayRouter.ts'
import type { Address } from '../domain/address.ts'
import type { Findings } from './findings.ts'
import type { SigningPolicy } from './policy.ts'

/** Compares the envelope with our own types and the pinned `router`. `nowSeconds`: Unix seconds. */
export function checkEnvelope(
  findings: Findings,
  chain: Chain,
  router: Address,
  prepared: Prepared,
  policy: SigningPolicy,
  nowSeconds: number,
): void {
  findings.same('mode', 'express', prepared.mode)
  const { domain, primaryType, types } = prepared.typedData
  findings.same('typedData.domain.name', relayRouterDomainName, domain.name)
  findings.same('typedData.domain.version', relayRouterDomainVersion, domain.version)
  findings.same('typedData.domain.chainId', chain.chainId, domain.chainId)
  findings.hex('typedData.domain.verifyingContract', router, domain.verifyingContract)
  if (prepared.relayRouterAddress !== undefined)
    findings.hex('relayRouterAddress', router, prepared.relayRouterAddress)
  findings.same('typedData.primaryType', 'Batch', primaryType)
  // We hash with our own types; a venue that lists others means something else than we do.
  const ours: Readonly<Record<string, readonly { name: string; type: string }[]>> = batchTypes
  const names = new Set([...Object.keys(ours), ...Object.keys(types)])
  for (const name of names) {
    if (name === 'EIP712Domain') continue
    const expected = Object.hasOwn(ours, name) ? fieldsText(ours[name]) : 'absent'
    const found = Object.hasOwn(types, name) ? fieldsText(types[name]) : 'absent'
    findings.same(`typedData.types.${name}`, expected, found)
  }
  // The host's own offer may end before the deadline; half of the deadline's margin must be left to hand it in.
  const minOfferSeconds = policy.minDeadlineSeconds / 2
  if (prepared.expiresAtSeconds !== undefined && prepared.expiresAtSeconds < nowSeconds + minOfferSeconds) {
    findings.add('expiresAt', `at least ${minOfferSeconds} s ahead`, String(prepared.expiresAtSeconds))
  }
}

function fieldsText(fields: readonly { readonly name: string; readonly type: string }[] | undefined): string {
  return (fields ?? []).map(({ name, type }) => `${type} ${name}`).join(',')
}
