/**
 * Encrypted key files, Web3 Secret Storage version 3: the format of geth, Clef, ethers and most wallets. Written with
 * scrypt (N = 2^18, r = 8, p = 1), aes-128-ctr and a keccak256 mac; pbkdf2 is read, too.
 *
 * A file names its own cost, so a file is judged before anything is computed: what would take more memory or time than the
 * bounds below is refused.
 */
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'
import { scryptAsync as nobleScrypt } from '@noble/hashes/scrypt'
import { getAddress } from 'viem/utils'
import { fileBounds, parseBounded } from '../base/boundedJson.ts'
import { BaseError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'
import { type Address, type Hex, sameHex } from '../protocol/address.ts'
import { keccakOfBytes } from '../protocol/crypto/keccak.ts'
import { addressOfKey, type Curve, nobleCurve } from '../protocol/crypto/secp256k1.ts'
import { privateKeyOf } from './local.ts'

/** A keystore cannot be used. Never holds the key or the password. */
export class KeystoreError extends BaseError {}

/** Derivation of a key from a password: the function, and its cost. */
export type KeyDerivation =
  | {
      readonly kdf: 'scrypt'
      readonly salt: Buffer
      readonly n: number
      readonly r: number
      readonly p: number
    }
  | { readonly kdf: 'pbkdf2'; readonly salt: Buffer; readonly c: number }

/** A keystore that was read and judged, still encrypted. */
export interface Keystore {
  /** Where it was read, for messages. */
  readonly path: string
  /** Address that the file states, checksummed; only opening the file proves it. The format allows its absence. */
  readonly address: Address | undefined
  readonly derivation: KeyDerivation
  readonly iv: Buffer
  readonly ciphertext: Buffer
  readonly mac: Buffer
}

/** Cost of scrypt. */
export interface ScryptCost {
  /** A power of two. */
  readonly n: number
  readonly r: number
  readonly p: number
}

/** Cost of opening a new keystore: about a second, and 256 MiB for that time. */
const standardCost: ScryptCost = { n: 2 ** 18, r: 8, p: 1 }

// Bounds of what is computed for a file: four times the memory and the time of the standard.
const MAX_SCRYPT_BYTES = 1024 * 1024 * 1024
const MAX_SCRYPT_WORK = 2 ** 23
const MAX_PBKDF2_ROUNDS = 10_000_000
const DERIVED_BYTES = 32
const SCRYPT_SLACK_BYTES = 1024 * 1024

/**
 * The address of a key that is written down, to be funded: two packages reckon it, and must agree.
 *
 * @param curve the one beside viem's own; the one that signs unless a test says otherwise.
 * @throws KeystoreError KEYSTORE_ADDRESS_DISPUTED when they do not.
 */
export function agreedAddressOf(key: Hex, curve?: Curve): Address {
  const [signs, holds] = [addressOfKey(key, curve), addressOfKey(key, nobleCurve)]
  if (signs === holds) return signs
  throw new KeystoreError('Two packages compute different addresses for one key.', {
    code: 'KEYSTORE_ADDRESS_DISPUTED',
    facts: { signs, holds },
    details:
      'Nothing was written. Do not fund either address. Reinstall perpd, or install it without the faster package: npm ci --omit=optional.',
  })
}

/**
 * The text of a new keystore for a key.
 *
 * @param privateKey 0x and 64 hex digits.
 * @param cost the standard unless a test says otherwise.
 * @throws RangeError when the key is none, or the password is empty; KeystoreError as `agreedAddressOf`.
 */
export async function encryptKey(
  privateKey: Secret,
  password: Secret,
  cost: ScryptCost = standardCost,
): Promise<Secret> {
  const key = privateKeyOf(privateKey)?.reveal() as Hex | undefined
  if (key === undefined) throw new RangeError('encryptKey: not a private key')
  if (password.reveal() === '') throw new RangeError('encryptKey: the password is empty')
  const address = agreedAddressOf(key)
  const [salt, iv] = [randomBytes(32), randomBytes(16)]
  const derived = await derive(password, { kdf: 'scrypt', salt, ...cost })
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const bytes = Buffer.from(key.slice(2), 'hex')
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()])
  const mac = macOf(derived, ciphertext)
  for (const secret of [bytes, derived]) secret.fill(0)
  const document = {
    version: 3,
    id: randomUUID(),
    address: address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams: { dklen: DERIVED_BYTES, ...cost, salt: salt.toString('hex') },
      mac: mac.toString('hex'),
    },
  }
  return new Secret(`${JSON.stringify(document, undefined, 2)}\n`)
}

/**
 * Opens a keystore.
 *
 * @returns the private key, 0x and 64 hex digits.
 * @throws KeystoreError KEYSTORE_PASSWORD when the password is not the one, KEYSTORE_ADDRESS when the key is another
 * account's than the file says, KEYSTORE_CONTENT when what was encrypted is no key.
 */
export async function decryptKeystore(keystore: Keystore, password: Secret): Promise<Secret> {
  const { path, derivation, iv, ciphertext, mac } = keystore
  const derived = await derive(password, derivation)
  if (!timingSafeEqual(macOf(derived, ciphertext), mac)) {
    derived.fill(0)
    throw new KeystoreError('The password does not open the keystore.', {
      code: 'KEYSTORE_PASSWORD',
      facts: { path },
      details:
        'Nothing was signed. Enter the password that encrypted it; a damaged file gives the same error.',
    })
  }
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const bytes = Buffer.concat([decipher.update(ciphertext), decipher.final()])
  const key = privateKeyOf(new Secret(`0x${bytes.toString('hex')}`))
  for (const secret of [bytes, derived]) secret.fill(0)
  if (key === undefined) throw contentError(path, 'the encrypted bytes', 'a private key')
  const address = addressOfKey(key.reveal() as Hex)
  if (keystore.address !== undefined && !sameHex(keystore.address, address)) {
    throw new KeystoreError('The key in the keystore does not match the address in the file.', {
      code: 'KEYSTORE_ADDRESS',
      facts: { path, says: keystore.address, holds: address },
      details: 'Nothing was signed. The file was changed or mixed up with another; use the one you made.',
    })
  }
  return key
}

/**
 * Reads the text of a keystore and judges its form and cost, without opening it.
 *
 * @param path named in messages.
 * @throws KeystoreError KEYSTORE_CONTENT when it is no version 3 keystore of a kind that is read here, or costs too much.
 */
export function parseKeystore(text: Secret, path: string): Keystore {
  if (privateKeyOf(text) !== undefined) {
    throw contentError(path, 'it', 'an encrypted keystore; this is a bare key: perpd keys import --from FILE')
  }
  let parsed: unknown
  try {
    parsed = parseBounded(text.reveal(), fileBounds)
  } catch {
    // The parser's own message repeats what stands in the file.
    throw contentError(path, 'it', 'JSON')
  }
  const file = objectAt(parsed, 'it', path)
  if (file.version !== 3) throw contentError(path, 'version', '3')
  // Old files of geth have it with a capital.
  const crypto = objectAt(file.crypto ?? file.Crypto, 'crypto', path)
  if (crypto.cipher !== 'aes-128-ctr') throw contentError(path, 'crypto.cipher', 'aes-128-ctr')
  const cipherparams = objectAt(crypto.cipherparams, 'crypto.cipherparams', path)
  return {
    path,
    address: addressAt(file.address, path),
    derivation: derivationOf(crypto.kdf, objectAt(crypto.kdfparams, 'crypto.kdfparams', path), path),
    iv: bytesAt(cipherparams.iv, 'crypto.cipherparams.iv', { least: 16, most: 16 }, path),
    ciphertext: bytesAt(crypto.ciphertext, 'crypto.ciphertext', { least: 32, most: 32 }, path),
    mac: bytesAt(crypto.mac, 'crypto.mac', { least: 32, most: 32 }, path),
  }
}

function derivationOf(kdf: unknown, params: Record<string, unknown>, path: string): KeyDerivation {
  const at = (name: string): string => `crypto.kdfparams.${name}`
  if (params.dklen !== DERIVED_BYTES) throw contentError(path, at('dklen'), String(DERIVED_BYTES))
  const salt = bytesAt(params.salt, at('salt'), { least: 1, most: 128 }, path)
  if (kdf === 'scrypt') {
    const [n, r, p] = [params.n, params.r, params.p].map((value, index) =>
      countAt(value, at('nrp'.charAt(index)), MAX_SCRYPT_WORK, path),
    ) as [number, number, number]
    if (n < 2 || !Number.isInteger(Math.log2(n))) throw contentError(path, at('n'), 'a power of two')
    if (128 * n * r > MAX_SCRYPT_BYTES || n * r * p > MAX_SCRYPT_WORK) {
      throw contentError(path, 'crypto.kdfparams', 'at most four times the cost of n 262144, r 8, p 1')
    }
    return { kdf, salt, n, r, p }
  }
  if (kdf === 'pbkdf2') {
    if (params.prf !== 'hmac-sha256') throw contentError(path, at('prf'), 'hmac-sha256')
    return { kdf, salt, c: countAt(params.c, at('c'), MAX_PBKDF2_ROUNDS, path) }
  }
  throw contentError(path, 'crypto.kdf', 'scrypt or pbkdf2')
}

const scryptOf = promisify<Buffer, Buffer, number, ScryptOptions, Buffer>(scrypt)
const pbkdf2Of = promisify(pbkdf2)

async function derive(password: Secret, derivation: KeyDerivation): Promise<Buffer> {
  const bytes = Buffer.from(password.reveal(), 'utf8')
  try {
    if (derivation.kdf === 'pbkdf2') {
      return await pbkdf2Of(bytes, derivation.salt, derivation.c, DERIVED_BYTES, 'sha256')
    }
    const { n, r, p, salt } = derivation
    // OpenSSL keeps to RFC 7914, N below 2^(16 r); eth-account wrote N = 2^18, r = 1 for years. Three times as slow.
    if (n >= 2 ** (16 * r)) {
      return Buffer.from(await nobleScrypt(bytes, salt, { N: n, r, p, dkLen: DERIVED_BYTES }))
    }
    // The cost was judged when the file was read; OpenSSL's own count is a little above the array and the blocks.
    const maxmem = 128 * r * (n + p) + SCRYPT_SLACK_BYTES
    return await scryptOf(bytes, salt, DERIVED_BYTES, { N: n, r, p, maxmem })
  } finally {
    bytes.fill(0)
  }
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccakOfBytes(Buffer.concat([derived.subarray(16, 32), ciphertext])).slice(2), 'hex')
}

function objectAt(value: unknown, name: string, path: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw contentError(path, name, 'a JSON object')
}

function countAt(value: unknown, name: string, most: number, path: string): number {
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most) return Number(value)
  throw contentError(path, name, `a whole number from 1 to ${most}`)
}

function bytesAt(
  value: unknown,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
  path: string,
): Buffer {
  const digits = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  if (/^(?:[0-9a-fA-F]{2})+$/.test(digits) && digits.length >= 2 * least && digits.length <= 2 * most) {
    return Buffer.from(digits, 'hex')
  }
  const size = least === most ? String(least) : `${least} to ${most}`
  throw contentError(path, name, `${size} bytes as hex`)
}

function addressAt(value: unknown, path: string): Address | undefined {
  if (value === undefined || value === '') return undefined
  const digits = typeof value === 'string' ? value.replace(/^0x/i, '') : ''
  if (/^[0-9a-fA-F]{40}$/.test(digits)) return getAddress(`0x${digits.toLowerCase()}`)
  throw contentError(path, 'address', '20 bytes as hex')
}

/** Names the field and what it should be; never what it is, for it may be a key that was put in the wrong place. */
function contentError(path: string, field: string, expected: string): KeystoreError {
  return new KeystoreError('The file is no keystore that perpd reads.', {
    code: 'KEYSTORE_CONTENT',
    facts: { path, field, expected },
    details: 'Nothing was signed. perpd reads Web3 Secret Storage version 3: scrypt or pbkdf2, aes-128-ctr.',
  })
}
