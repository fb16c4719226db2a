/** Interface of signers. */
import type { Address, Hex } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'

/** The attempt and intent of a signature; the guard against double signing uses it. */
export interface SignClaim {
  readonly intentId: string
  readonly attempt: number
  /** Unix seconds after which the signed message cannot land. */
  readonly deadlineSeconds: number
  /** Most that the message can add to positions, USD; 0 for a message that only reduces, cancels or moves collateral. */
  readonly addsUsd: Usd
}

/** Request for a signature: the digest computed here, and its message, for signers that hash themselves. */
export interface SignRequest {
  /** EIP-712 digest, 32 bytes. */
  readonly digest: Hex
  /** Absent for a message that is no order: the owner's approval of a subaccount. */
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

/** A signature that stays in this process until the key's guard has its line on the disk. */
export interface HeldSignature {
  /** 65 bytes r, s, v. */
  readonly signature: Hex
  /** Resolves when the line is durable. Rejects with GuardError GUARD_NOT_WRITTEN: the signature must never leave then. */
  readonly recorded: Promise<void>
}

/** Signs for one address. A local key, a keystore or a remote signer fit. */
export interface Signer {
  readonly address: Address
  /** True where the key is in this process, so that nobody else sees a signature before it is sent. */
  readonly isLocal?: true
  /** The 65-byte signature r, s, v over the digest. Rejects when the signer cannot or will not sign. */
  sign(request: SignRequest): Promise<Hex>
  /**
   * Signs while the guard's line is being written to disk, so that the caller waits for it together with other writes. Absent where `sign` alone is
   * safe: a remote signer may show others what it signs. Rejects as `sign` does.
   */
  signHeld?(request: SignRequest): Promise<HeldSignature>
}
