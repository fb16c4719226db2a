/**
 * Signing a digest and recovering its signer, synchronous and fast: WebAssembly from `tiny-secp256k1` where that optional
 * package is installed and gives the right answers, else the curves package that viem itself signs with. Signatures are
 * the same byte for byte: deterministic (RFC 6979), low s, r, s, v with v 27 or 28. What is malformed is refused here, the
 * same way whichever package computes, and by viem's rules.
 */
import { secp256k1 } from '@noble/curves/secp256k1'
import type { Address, Hex } from 'viem'
import { getAddress } from 'viem/utils'
import { keccakOfBytes } from './keccak.ts'

/** The curve arithmetic behind signatures. Inputs are checked before they come here. */
export interface Curve {
  /** The package that computes. */
  readonly source: 'tiny-secp256k1' | '@noble/curves'
  /** Signs 32 bytes: r and s as 64 bytes, and whether y is odd (0 or 1). */
  readonly sign: (privateKey: Uint8Array, digest: Uint8Array) => { rs: Uint8Array; parity: number }
  /** The uncompressed public key, 65 bytes; undefined or thrown when there is no such point. */
  readonly recover: (digest: Uint8Array, rs: Uint8Array, parity: 0 | 1) => Uint8Array | undefined
  /** The uncompressed public key of a private key, 65 bytes. */
  readonly publicKey: (privateKey: Uint8Array) => Uint8Array
}

/** viem's own arithmetic: always there, and what the faster one is held against. */
export const nobleCurve: Curve = {
  source: '@noble/curves',
  sign(privateKey, digest) {
    const signature = secp256k1.sign(digest, privateKey, { lowS: true })
    return { rs: signature.toCompactRawBytes(), parity: signature.recovery }
  },
  recover: (digest, rs, parity) =>
    secp256k1.Signature.fromCompact(rs).addRecoveryBit(parity).recoverPublicKey(digest).toRawBytes(false),
  publicKey: (privateKey) => secp256k1.getPublicKey(privateKey, false),
}

/** The part of `tiny-secp256k1` that is used. */
export interface CurvePackage {
  signRecoverable(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recoveryId: number }
  recover(
    digest: Uint8Array,
    signature: Uint8Array,
    recoveryId: 0 | 1,
    compressed: boolean,
  ): Uint8Array | null
  pointFromScalar(key: Uint8Array, compressed: boolean): Uint8Array | null
}

/** The order of the group: keys, r and s are 1 to n - 1. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')

function isBelowOrder(scalar: Uint8Array): boolean {
  return Buffer.compare(scalar, ORDER) < 0
}

function isScalar(bytes: Uint8Array): boolean {
  return isBelowOrder(bytes) && bytes.some((byte) => byte !== 0)
}

/** Tells whether a value is 0x and the hex of a private key: 32 bytes, 1 to the order of the group less 1. */
export function isPrivateKey(value: string): value is Hex {
  const bytes = bytesOf(value, 32)
  return bytes !== undefined && isScalar(bytes)
}

/** The bytes of 0x-prefixed hex in memory of their own, or undefined when they are not as many as they should be. */
function bytesOf(value: string, byteLength: number): Buffer<ArrayBuffer> | undefined {
  if (value.length !== 2 + byteLength * 2 || !value.startsWith('0x')) return undefined
  const bytes = Buffer.alloc(byteLength)
  // Writing stops at the first byte that is no hex.
  return bytes.write(value.slice(2), 'hex') === byteLength ? bytes : undefined
}

function digestBytes(digest: Hex): Buffer<ArrayBuffer> {
  const bytes = bytesOf(digest, 32)
  if (bytes === undefined) throw new RangeError(`not a digest of 32 bytes: ${digest}`)
  return bytes
}

// The published vector: a batch of the relay router on Arbitrum, signed by the key 0x11..11.
const KNOWN = {
  privateKey: `0x${'11'.repeat(32)}`,
  digest: '0x0b3e949ed2b86ef6c9e650faa8d536d7853caf9aea0a5dcc83355cc990afca8d',
  signature:
    '0x039bd55c95e6a7d570b326f59b75701456acec11fcca9987ec9dee1f3a17d2f228440cdaf72118a3b7300f1776c97502c3e2e04478bd0501d7c469cb0b2e59ab1b',
  signer: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
} as const satisfies Record<string, Hex>

/**
 * The fastest curve there is: the package's when it loads, signs and recovers a known signature rightly and knows its key's address, else viem's.
 *
 * @param load imports the package; handed in so that a missing or broken package can be tried.
 */
export async function loadCurve(load: () => Promise<CurvePackage>): Promise<Curve> {
  try {
    const { signRecoverable, recover, pointFromScalar } = await load()
    const curve: Curve = {
      source: 'tiny-secp256k1',
      sign(privateKey, digest) {
        // Its nonce takes a digest over the order as it is, RFC 6979 and viem reduce it first: one in 2^128.
        if (!isBelowOrder(digest)) return nobleCurve.sign(privateKey, digest)
        const { signature, recoveryId } = signRecoverable(digest, privateKey)
        return { rs: signature, parity: recoveryId }
      },
      recover: (digest, rs, parity) => recover(digest, rs, parity, false) ?? undefined,
      publicKey: (privateKey) => pointFromScalar(privateKey, false) ?? nobleCurve.publicKey(privateKey),
    }
    const right =
      signDigest(KNOWN.privateKey, KNOWN.digest, curve) === KNOWN.signature &&
      recoverSigner(KNOWN.digest, KNOWN.signature, curve) === KNOWN.signer &&
      addressOfKey(KNOWN.privateKey, curve) === KNOWN.signer
    return right ? curve : nobleCurve
  } catch {
    // Not installed, or not loadable here: slower, never wrong.
    return nobleCurve
  }
}

const fastest = await loadCurve(() => import('tiny-secp256k1'))

/** The package that signs and recovers in this process. */
export const curveSource = fastest.source

/**
 * Signs a digest: 65 bytes r, s, v, byte for byte what viem's `account.sign({ hash })` gives.
 *
 * @param privateKey 32 bytes, or their hex; never part of a message.
 * @param curve the arithmetic; the fastest there is unless a test says otherwise.
 * @throws RangeError when the key is not 1 to the order of the group less 1, or the digest not 32 bytes.
 */
export function signDigest(privateKey: Hex | Uint8Array, digest: Hex, curve: Curve = fastest): Hex {
  const message = digestBytes(digest)
  const key = keyBytes(privateKey)
  const { rs, parity } = curve.sign(key, message)
  // The caller's own bytes stay as they are; a copy made here goes.
  if (key !== privateKey) key.fill(0)
  return `0x${Buffer.from(rs.buffer, rs.byteOffset, 64).toString('hex')}${parity === 0 ? '1b' : '1c'}`
}

/**
 * The checksummed address (EIP-55) of a private key, as viem's `privateKeyToAddress` gives it.
 *
 * @param privateKey 32 bytes, or their hex; never part of a message.
 * @param curve the arithmetic; the fastest there is unless a test says otherwise.
 * @throws RangeError when the key is not 1 to the order of the group less 1.
 */
export function addressOfKey(privateKey: Hex | Uint8Array, curve: Curve = fastest): Address {
  const key = keyBytes(privateKey)
  const address = addressOf(curve.publicKey(key))
  if (key !== privateKey) key.fill(0)
  return address
}

/** The key itself where it is bytes, else a copy of the caller's to wipe. */
function keyBytes(privateKey: Hex | Uint8Array): Uint8Array {
  const key = typeof privateKey === 'string' ? bytesOf(privateKey, 32) : privateKey
  if (key === undefined || key.length !== 32 || !isScalar(key)) {
    throw new RangeError('not a private key: 32 bytes, 1 to the order of the group less 1, are expected')
  }
  return key
}

/**
 * The checksummed address (EIP-55) whose key signed a digest, as viem's `recoverAddress` gives it. A high s is taken, as
 * viem takes it: whoever counts signatures must compare digests, not signatures.
 *
 * @param signature 65 bytes r, s, v, with v 0, 1, 27 or 28.
 * @param curve the arithmetic; the fastest there is unless a test says otherwise.
 * @throws RangeError when the digest is not 32 bytes, the signature is malformed, or it has no signer.
 */
export function recoverSigner(digest: Hex, signature: Hex, curve: Curve = fastest): Address {
  const message = digestBytes(digest)
  const bytes = bytesOf(signature, 65)
  const v = bytes?.[64]
  if (bytes === undefined || v === undefined) {
    throw new RangeError(`not a signature of 65 bytes: ${signature}`)
  }
  const parity = v >= 27 ? v - 27 : v
  if (parity !== 0 && parity !== 1) throw new RangeError(`v of a signature is 0, 1, 27 or 28, not ${v}`)
  const rs = bytes.subarray(0, 64)
  if (!isScalar(rs.subarray(0, 32)) || !isScalar(rs.subarray(32))) {
    throw new RangeError(`r and s are 1 to the order of the group less 1: ${signature}`)
  }
  return addressOf(publicKeyOf(message, rs, parity, curve))
}

/** Half the order of the group: the contracts take a signature with s up to it, and refuse its twin. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * A signature in the one form that the contracts take: lower case, s in the lower half, v 27 or 28.
 *
 * @param signature 65 bytes r, s, v, with v 0, 1, 27 or 28, as wallets give it.
 * @throws RangeError when it is malformed, or has no such form.
 */
export function contractSignature(signature: string): Hex {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) throw new RangeError('it is not 65 bytes of hex')
  const text = signature.toLowerCase()
  if (BigInt(`0x${text.slice(66, 130)}`) > HALF_ORDER) throw new RangeError('its s is in the upper half')
  const v = Number.parseInt(text.slice(130), 16)
  if (v > 1 && v !== 27 && v !== 28) throw new RangeError(`v of a signature is 0, 1, 27 or 28, not ${v}`)
  return `0x${text.slice(2, 130)}${(v < 27 ? v + 27 : v).toString(16)}`
}

function publicKeyOf(digest: Uint8Array, rs: Uint8Array, parity: 0 | 1, curve: Curve): Uint8Array {
  let cause: unknown
  try {
    const publicKey = curve.recover(digest, rs, parity)
    if (publicKey !== undefined) return publicKey
  } catch (error) {
    cause = error
  }
  throw new RangeError('the signature has no signer: its numbers are of no public key', { cause })
}

function addressOf(publicKey: Uint8Array): Address {
  // viem keeps the checksums of the addresses it saw last, so a known signer costs no second hash.
  return getAddress(`0x${keccakOfBytes(publicKey.subarray(1)).slice(26)}`)
}
