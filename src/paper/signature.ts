/** Who signed a digest. One function, so that a faster recovery can replace viem's. */
import { recoverAddress } from 'viem'
import { type Address, type Hex, sameHex } from '../domain/address.ts'

/** The address that made a 65-byte signature over a digest, or undefined when there is none. */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Address | undefined> {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined
  try {
    return await recoverAddress({ hash: digest, signature })
  } catch {
    // Numbers outside the curve have no signer.
    return undefined
  }
}

/** Whether an address signed a digest. */
export async function isSignedBy(account: Address, digest: Hex, signature: Hex): Promise<boolean> {
  const signer = await recoverSigner(digest, signature)
  return signer !== undefined && sameHex(signer, account)
}
