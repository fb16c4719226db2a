/** A key in this process: made here for paper, or read bare from a file or the environment for development. */
import { randomBytes } from 'node:crypto'
import { Secret } from '../base/secret.ts'
import type { Signer } from '../domain/signer.ts'
import type { Hex } from '../protocol/address.ts'
import { addressOfKey, isPrivateKey, signDigest } from '../protocol/crypto/secp256k1.ts'
import { createPrivateFile, isCode, KeyFileError, notDone, readPrivateFile } from './privateFile.ts'

/** First line of every key file that perpd makes for paper. */
const paperMark = 'perpd paper key: play money only'

/**
 * A signer over a private key in memory. The key stays in the closure: it cannot be printed or serialised.
 *
 * @param privateKey 0x and 64 hex digits; bare text is for keys that guard nothing, as those of tests.
 */
export function createLocalSigner(privateKey: Secret | Hex): Signer {
  const key = (privateKey instanceof Secret ? privateKey.reveal() : privateKey) as Hex
  const address = addressOfKey(key)
  return { address, isLocal: true, sign: async ({ digest }) => signDigest(key, digest) }
}

/** A new private key from the system's random numbers, 0x and 64 hex digits: each of the group with the same chance. */
export function newPrivateKey(): Hex {
  for (;;) {
    const bytes = randomBytes(32)
    const key: Hex = `0x${bytes.toString('hex')}`
    bytes.fill(0)
    // One in 2^128 is none; it is drawn again.
    if (isPrivateKey(key)) return key
  }
}

/**
 * Reads a raw private key (0x and 64 hex digits) from a file that nobody but its owner can read or swap.
 *
 * @param setting what names the file to the operator.
 * @throws KeyFileError as `readPrivateFile`, and KEY_FILE_CONTENT when it holds no key.
 */
export function readKeyFile(path: string, setting = 'account.keyFile'): Secret {
  const key = privateKeyOf(readPrivateFile(path, { setting, checksFolder: true }))
  if (key !== undefined) return key
  throw noKey(path, setting)
}

/** The private key that a text is, white space around it left out; undefined when it is none. */
export function privateKeyOf(text: Secret): Secret | undefined {
  const key = text.reveal().trim()
  return isPrivateKey(key) ? new Secret(key) : undefined
}

function noKey(path: string, setting: string): KeyFileError {
  return new KeyFileError('The key file holds no private key.', {
    code: 'KEY_FILE_CONTENT',
    facts: { path, expected: '0x and 64 hex digits on one line' },
    details: notDone(setting),
  })
}

/**
 * The paper profile's own key: made on the first start, kept beside the paper state so that the account stays the same.
 * Paper signatures carry the real domain, so this key must never be anybody's real one: it is never read from elsewhere.
 *
 * @throws KeyFileError as `readPaperKey` and `createPrivateFile`.
 */
export function paperSigner(path: string): Signer {
  try {
    return readPaperKey(path)
  } catch (error) {
    const isMissing =
      error instanceof KeyFileError && error.walk((each) => isCode(each, 'ENOENT')) !== undefined
    if (!isMissing) throw error
  }
  createPrivateFile(path, new Secret(`${paperMark}\n${newPrivateKey()}\n`), paperSetting)
  return readPaperKey(path)
}

const paperSetting = 'paper.keyFile'

/**
 * Reads a key that perpd made for paper, and no other.
 *
 * @throws KeyFileError as `readPrivateFile`, and KEY_FILE_CONTENT when perpd did not make it for paper.
 */
export function readPaperKey(path: string): Signer {
  const content = readPrivateFile(path, { setting: paperSetting, checksFolder: false }).reveal().trim()
  if (!content.startsWith(paperMark)) {
    throw new KeyFileError('The key file is not one that perpd made for paper.', {
      code: 'KEY_FILE_CONTENT',
      facts: { path, expected: `a first line that says "${paperMark}"` },
      details:
        'perpd did not start: signatures made on paper are valid on the live chain, so paper uses only keys that it made. Set paper.keyFile to a file that does not exist yet.',
    })
  }
  const key = privateKeyOf(new Secret(content.slice(paperMark.length)))
  if (key === undefined) throw noKey(path, paperSetting)
  return createLocalSigner(key)
}
