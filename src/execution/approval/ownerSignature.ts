/** An owner's signature over messages signed elsewhere: approvals of delegated keys, and their removal. */
import { reasonOf } from '../../base/errors.ts'
import { type Address, type Hex, sameHex } from '../../protocol/address.ts'
import { contractSignature, recoverSigner } from '../../protocol/crypto/secp256k1.ts'
import { minifiedDigestOf } from '../../protocol/signing/messages.ts'
import type { Differences } from '../context/differences.ts'

/**
 * Finds any fault of an owner's signature at the router of `separator`. It may be over the digest itself, or over its minified form. The routers try
 * that next, and wallets that cannot show a whole message sign it (contract `BaseGelatoRelayRouter`, `digests`). The intended digest stays that of
 * the whole message.
 */
export function checkOwnerSignature(
  differences: Differences,
  owner: Address,
  separator: Hex,
  digest: Hex,
  signature: Hex,
): void {
  const expected = `of ${owner}`
  try {
    if (contractSignature(signature) !== signature.toLowerCase()) {
      differences.add('signature', `${expected}, with a v of 27 or 28`, 'a v of 0 or 1')
      return
    }
    const signer = recoverSigner(digest, signature)
    if (sameHex(owner, signer)) return
    if (sameHex(owner, recoverSigner(minifiedDigestOf(separator, digest), signature))) return
    differences.add('signature', expected, `of ${signer}`)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const isAny = /^0x[0-9a-f]{130}$/i.test(signature)
    differences.add('signature', expected, isAny ? reasonOf(error).replaceAll(signature, 'it') : 'of nobody')
  }
}
