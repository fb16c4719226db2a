/** The shape of what signs. */
import type { Address, Hex } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'

/** Which attempt of which intent a signature is for; what guards a key against signing twice goes by it. */
export interface SignClaim {
  readonly intentId: string
  readonly attempt: number
  /** Unix seconds after which the signed message cannot land. */
  readonly deadlineSeconds: number
  /** Most that the message can add to positions, USD; 0 for what only reduces, cancels or moves collateral. */
  readonly addsUsd: Usd
}

/** What is to be signed: the digest computed here, and the message it stands for, for signers that hash themselves. */
export interface SignRequest {
  /** EIP-712 digest, 32 bytes. */
  readonly digest: Hex
  /** Absent for what is no order: the owner's approval of a subaccount. */
  readonly claim?: SignClaim
  /** EIP-712 typed data of the same message; remote signers need it, local ones do not. */
  readonly typedData: {
    readonly domain: {
      readonly name: string
      readonly version: string
      readonly chainId: number
      readonly verifyingContract: Address
    }
    readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
    readonly primaryType: string
    readonly message: Readonly<Record<string, unknown>>
  }
}

/** Signs for one address. A local key, a keystore or a remote signer fit. */
export interface Signer {
  readonly address: Address
  /** The 65-byte signature r, s, v over the digest. Rejects when the signer cannot or will not sign. */
  sign(request: SignRequest): Promise<Hex>
}
