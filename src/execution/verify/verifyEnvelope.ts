/** Envelope of a host's message: mode, types, domain and the end of its offer. We hash with our own version of each. */
import type { Prepared } from '../../api/orders/expressOrders.ts'
import type { Address } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { batchTypes } from '../../protocol/signing/batchTypes.ts'
import { relayRouterDomainName, relayRouterDomainVersion } from '../../protocol/signing/relayRouter.ts'
import type { Differences } from '../context/differences.ts'
import type { SigningPolicy } from '../context/policy.ts'

/** Compares the envelope with our own types and the pinned `router`. `nowSeconds`: Unix seconds. */
export function checkEnvelope(
  differences: Differences,
  chain: Chain,
  router: Address,
  prepared: Prepared,
  policy: SigningPolicy,
  nowSeconds: number,
): void {
  differences.same('mode', 'express', prepared.mode)
  const { domain, primaryType, types } = prepared.typedData
  differences.same('typedData.domain.name', relayRouterDomainName, domain.name)
  differences.same('typedData.domain.version', relayRouterDomainVersion, domain.version)
  differences.same('typedData.domain.chainId', chain.chainId, domain.chainId)
  differences.hex('typedData.domain.verifyingContract', router, domain.verifyingContract)
  if (prepared.relayRouterAddress !== undefined)
    differences.hex('relayRouterAddress', router, prepared.relayRouterAddress)
  differences.same('typedData.primaryType', 'Batch', primaryType)
  // We hash with our own types; a venue that lists others means something else than we do.
  const names = new Set([...Object.keys(ours), ...Object.keys(types)])
  for (const name of names) {
    if (name === 'EIP712Domain') continue
    const expected = fieldsOf(ours, name)
    const found = fieldsOf(types, name)
    if (isSame(expected, found)) continue
    differences.add(`typedData.types.${name}`, fieldsText(expected), fieldsText(found))
  }
  // The host's own offer may end before the deadline; half of the deadline's margin must be left to hand it in.
  const minOfferSeconds = policy.minDeadlineSeconds / 2
  if (prepared.expiresAtSeconds !== undefined && prepared.expiresAtSeconds < nowSeconds + minOfferSeconds) {
    const expected = `at least ${minOfferSeconds} s ahead`
    differences.add('expiresAt', expected, String(prepared.expiresAtSeconds), 'OFFER_EXPIRED')
  }
}

type TypeFields = readonly { readonly name: string; readonly type: string }[]

const ours: Readonly<Record<string, TypeFields>> = batchTypes

function fieldsOf(types: Readonly<Record<string, TypeFields>>, name: string): TypeFields | undefined {
  return Object.hasOwn(types, name) ? types[name] : undefined
}

/** Field by field: texts of types that agree, which is all but always, are never made. */
function isSame(expected: TypeFields | undefined, found: TypeFields | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found
  return (
    expected.length === found.length &&
    expected.every(({ name, type }, index) => name === found[index]?.name && type === found[index]?.type)
  )
}

function fieldsText(fields: TypeFields | undefined): string {
  return fields === undefined ? 'absent' : fields.map(({ name, type }) => `${type} ${name}`).join(',')
}
