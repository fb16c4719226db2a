/** A key in this process: made here for paper, or read from a file for development. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { isPrivateKey, signDigest } from '../chains/secp256k1.ts'
import type { Hex } from '../domain/address.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { Signer } from '../domain/signer.ts'

/** First line of every key file that perpd makes for paper. */
const paperMark = 'perpd paper key: play money only'

/** A key file cannot be used. Never holds the key. */
export class KeyFileError extends BaseError {}

/** A signer over a private key in memory. The key stays in the closure: it cannot be printed or serialised. */
export function createLocalSigner(privateKey: Hex): Signer {
  const address = privateKeyToAddress(privateKey)
  return { address, sign: async ({ digest }) => signDigest(privateKey, digest) }
}

/** What is told about a key file: the setting that names it. */
export type KeyFileSetting = 'account.keyFile' | 'paper.keyFile'

/**
 * Reads a raw private key (0x and 64 hex digits) from a file that nobody but its owner can read.
 *
 * @throws KeyFileError KEY_FILE_UNREADABLE when it is missing or a link, KEY_FILE_NOT_A_FILE for a directory, pipe or
 * device, KEY_FILE_OWNER when another user owns it, KEY_FILE_PERMISSIONS when others may use it, KEY_FILE_CONTENT when it
 * holds no key.
 */
export function readKeyFile(path: string, setting: KeyFileSetting = 'account.keyFile'): Signer {
  let descriptor: number
  try {
    // A link could point anywhere by the time it is read; a pipe must not be waited for.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    throw new KeyFileError('The key file cannot be opened.', {
      code: 'KEY_FILE_UNREADABLE',
      facts: { path, reason: isCode(cause, 'ELOOP') ? 'it is a symbolic link' : reasonOf(cause) },
      details: `perpd did not start. Name an existing regular file in ${setting} (links are refused).`,
      cause,
    })
  }
  try {
    refuseShared(path, fstatSync(descriptor), setting)
    const content = readFileSync(descriptor, 'utf8').trim()
    const isPaper = setting === 'paper.keyFile'
    const text = isPaper && content.startsWith(paperMark) ? content.slice(paperMark.length).trim() : content
    if (isPaper && text === content) {
      throw new KeyFileError('The key file is not one that perpd made for paper.', {
        code: 'KEY_FILE_CONTENT',
        facts: { path, expected: `a first line that says "${paperMark}"` },
        details:
          'perpd did not start: signatures made on paper are valid on the live chain, so paper takes no key but its own. Name a file that does not exist yet in paper.keyFile.',
      })
    }
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

function refuseShared(path: string, stat: Stats, setting: KeyFileSetting): void {
  if (!stat.isFile()) {
    throw new KeyFileError('The key file is no regular file.', {
      code: 'KEY_FILE_NOT_A_FILE',
      facts: { path, found: stat.isDirectory() ? 'a directory' : 'a pipe, socket or device' },
      details: `perpd did not start. Name a regular file in ${setting}.`,
    })
  }
  const user = process.getuid?.()
  if (user !== undefined && stat.uid !== user) {
    throw new KeyFileError('The key file belongs to another user.', {
      code: 'KEY_FILE_OWNER',
      facts: { path, owner: stat.uid, user },
      details: `perpd did not start. Give it to the user that runs perpd: chown ${user} ${path}`,
    })
  }
  if ((stat.mode & 0o077) !== 0) {
    throw new KeyFileError('The key file is open to others.', {
      code: 'KEY_FILE_PERMISSIONS',
      facts: { path, mode: (stat.mode & 0o777).toString(8), owner: stat.uid },
      details: `perpd did not start. Make it yours alone: chmod 600 ${path}`,
    })
  }
}

/**
 * The paper profile's own key: made on the first start, kept beside the paper state so that the account stays the same.
 * Paper signatures carry the real domain, so this key must never be anybody's real one: it is never read from elsewhere.
 *
 * @throws KeyFileError as `readKeyFile`, and KEY_FILE_NOT_MADE when a new one cannot be written.
 */
export function paperSigner(path: string): Signer {
  try {
    return readKeyFile(path, 'paper.keyFile')
  } catch (error) {
    const isMissing =
      error instanceof KeyFileError && error.walk((each) => isCode(each, 'ENOENT')) !== undefined
    if (!isMissing) throw error
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${paperMark}\n${generatePrivateKey()}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(path, 0o600)
  } catch (cause) {
    throw new KeyFileError('The key of the paper account cannot be written.', {
      code: 'KEY_FILE_NOT_MADE',
      facts: { path, reason: reasonOf(cause) },
      details:
        'perpd did not start. Check the place for permissions and space, or name another one in paper.keyFile.',
      cause,
    })
  }
  return readKeyFile(path, 'paper.keyFile')
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
