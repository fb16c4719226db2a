/** A key in this process: made here for paper, or read from a file for development. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { isPrivateKey, signDigest } from '../chains/secp256k1.ts'
import type { Hex } from '../domain/address.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { Signer } from '../domain/signer.ts'

/** A key file cannot be used. Never holds the key. */
export class KeyFileError extends BaseError {}

/** A signer over a private key in memory. The key stays in the closure: it cannot be printed or serialised. */
export function createLocalSigner(privateKey: Hex): Signer {
  const address = privateKeyToAddress(privateKey)
  return { address, sign: async ({ digest }) => signDigest(privateKey, digest) }
}

/**
 * Reads a raw private key (0x and 64 hex digits) from a file that nobody but its owner can read.
 *
 * @throws KeyFileError when the file is missing, a link, readable by others, owned by another, or holds no key.
 */
export function readKeyFile(path: string): Signer {
  let descriptor: number
  try {
    // A link could point anywhere by the time it is read.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (cause) {
    throw new KeyFileError('The key file cannot be opened.', {
      code: 'KEY_FILE_UNREADABLE',
      facts: { path, reason: reasonOf(cause) },
      details: 'perpd did not start. Name an existing regular file in account.keyFile (links are refused).',
      cause,
    })
  }
  try {
    const stat = fstatSync(descriptor)
    if (
      !stat.isFile() ||
      (stat.mode & 0o077) !== 0 ||
      (process.getuid !== undefined && stat.uid !== process.getuid())
    ) {
      throw new KeyFileError('The key file is open to others.', {
        code: 'KEY_FILE_PERMISSIONS',
        facts: { path, mode: (stat.mode & 0o777).toString(8), owner: stat.uid },
        details: `perpd did not start. Make it yours alone: chmod 600 ${path}`,
      })
    }
    const text = readFileSync(descriptor, 'utf8').trim()
    if (!isPrivateKey(text)) {
      throw new KeyFileError('The key file holds no private key.', {
        code: 'KEY_FILE_CONTENT',
        facts: { path, expected: '0x and 64 hex digits on one line' },
        details: 'perpd did not start.',
      })
    }
    return createLocalSigner(text)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The paper profile's own key: made on the first start, kept beside the paper state so that the account stays the same.
 * Paper signatures carry the real domain, so this key must never be anybody's real one: it is never read from elsewhere.
 */
export function paperSigner(path: string): Signer {
  try {
    return readKeyFile(path)
  } catch (error) {
    const missing = error instanceof KeyFileError && error.walk((each) => isMissing(each)) !== undefined
    if (!missing) throw error
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, `${generatePrivateKey()}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(path, 0o600)
  return readKeyFile(path)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
