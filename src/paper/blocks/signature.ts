/** Recovers the signer of a digest. */
import { concat, keccak256 } from 'viem/utils'
import { type Address, type Hex, sameHex } from '../../protocol/address.ts'
import { recoverSigner as signerOf } from '../../protocol/crypto/secp256k1.ts'

/** The address that made a 65-byte signature over a digest, or undefined when there is none. */
function recoverSigner(digest: Hex, signature: Hex): Address | undefined {
  try {
    return signerOf(digest, signature)
  } catch {
    // Malformed, or numbers outside the curve: no signer.
    return undefined
  }
}

/** Tells whether an address signed a digest. */
export function isSignedBy(account: Address, digest: Hex, signature: Hex): boolean {
  const signer = recoverSigner(digest, signature)
  return signer !== undefined && sameHex(signer, account)
}

/** Type hash of `Minified(bytes32 digest)` (contract `RelayUtils`). */
const MINIFIED: Hex = '0x628dc8f0a85eab83d09660a94c931f2eb72f3de1accdc60a72d68a75b8c0a787'

/** Hashes the digest once more, for hardware wallets that cannot show a whole batch. */
export function minifiedDigest(separator: Hex, digest: Hex): Hex {
  return keccak256(concat(['0x1901', separator, keccak256(concat([MINIFIED, digest]))]))
}

/** Tells whether an address signed a router's digest, plain or minified (contract `BaseGelatoRelayRouter`, `digests`). */
export function isSignedAtRouter(account: Address, separator: Hex, digest: Hex, signature: Hex): boolean {
  return (
    isSignedBy(account, digest, signature) ||
    isSignedBy(account, minifiedDigest(separator, digest), signature)
  )
}
