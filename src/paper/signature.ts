/** Who signed a digest. */
import { recoverSigner as signerOf } from '../chains/secp256k1.ts'
import { type Address, type Hex, sameHex } from '../domain/address.ts'

/** The address that made a 65-byte signature over a digest, or undefined when there is none. */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Address | undefined> {
  try {
    return signerOf(digest, signature)
  } catch {
    // Malformed, or numbers outside the curve: no signer.
    return undefined
  }
}

/** Whether an address signed a digest. */
export async function isSignedBy(account: Address, digest: Hex, signature: Hex): Promise<boolean> {
  const signer = await recoverSigner(digest, signature)
  return signer !== undefined && sameHex(signer, account)
}
