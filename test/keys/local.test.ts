import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SignRequest } from '../../src/domain/signer.ts'
import { createLocalSigner, paperSigner, readKeyFile } from '../../src/keys/local.ts'
import { KeyFileError } from '../../src/keys/privateFile.ts'
import type { Hex } from '../../src/protocol/address.ts'

const key: Hex = `0x${'2b'.repeat(32)}`
const request: SignRequest = {
  digest: `0x${'5c'.repeat(32)}`,
  typedData: {
    domain: { name: 'x', version: '1', chainId: 1, verifyingContract: `0x${'00'.repeat(20)}` },
    types: {},
    primaryType: 'Batch',
    message: {},
  },
}

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-keys-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function keyFile(text: string, mode = 0o600): string {
  const path = join(directory, 'key')
  writeFileSync(path, text, { mode })
  chmodSync(path, mode)
  return path
}

function errorOf(work: () => unknown): KeyFileError {
  try {
    work()
  } catch (error) {
    if (error instanceof KeyFileError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test('a local signer has the address and the signatures of viem', async () => {
  const signer = createLocalSigner(key)
  const account = privateKeyToAccount(key)
  expect(signer.address).toBe(account.address)
  expect(await signer.sign(request)).toBe(await account.sign({ hash: request.digest }))
})

test('a signer that cannot sign rejects and does not name its key', async () => {
  const refused = createLocalSigner(key).sign({ ...request, digest: '0x12' })
  await expect(refused).rejects.toThrow(new RangeError('not a digest of 32 bytes: 0x12'))
})

test('a signer shows nothing of its key', () => {
  const signer = createLocalSigner(key)
  const shown = inspect(signer, { depth: 9, showHidden: true }) + JSON.stringify(signer)
  expect(shown).not.toMatch(/2b2b/)
})

test('a key file gives its signer', () => {
  expect(createLocalSigner(readKeyFile(keyFile(`${key}\n`))).address).toBe(privateKeyToAccount(key).address)
})

test('a file that holds no key is refused without repeating what it holds', () => {
  const outside = `0x${'ff'.repeat(32)}`
  for (const text of ['', 'hello', '0x1234', `0x${'00'.repeat(32)}`, outside, `${key}${key}`]) {
    const path = keyFile(text)
    expect(errorOf(() => readKeyFile(path)).message).toBe(
      [
        'The key file holds no private key.',
        `  path: ${path}`,
        '  expected: 0x and 64 hex digits on one line',
        '  perpd did not start.',
      ].join('\n'),
    )
  }
})

test('a key file of another user is refused', () => {
  const path = keyFile(key)
  const owner = statSync(path).uid
  const user = vi
    .spyOn(process as Required<Pick<NodeJS.Process, 'getuid'>>, 'getuid')
    .mockReturnValue(owner + 1)
  try {
    expect(errorOf(() => readKeyFile(path)).message).toContain('The key file belongs to another user.')
  } finally {
    user.mockRestore()
  }
})

test('a key file that others can read is refused', () => {
  const path = keyFile(key, 0o640)
  expect(errorOf(() => readKeyFile(path)).message).toBe(
    [
      'The key file is open to others.',
      `  path: ${path}`,
      '  mode: 640',
      `  owner: ${statSync(path).uid}`,
      `  perpd did not start. Make it yours alone: chmod 600 ${path}`,
    ].join('\n'),
  )
})

test('a missing key file and a link to one are refused', () => {
  const link = join(directory, 'link')
  symlinkSync(keyFile(key), link)
  expect(errorOf(() => readKeyFile(join(directory, 'none'))).code).toBe('KEY_FILE_UNREADABLE')
  expect(errorOf(() => readKeyFile(link)).message).toBe(
    [
      'The key file cannot be opened.',
      `  path: ${link}`,
      '  reason: it is a symbolic link',
      '  perpd did not start. Name an existing regular file in account.keyFile (links are refused).',
    ].join('\n'),
  )
})

test('a directory or a pipe in the place of the key file is refused at once', () => {
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', ['-m', '600', pipe])
  const found = [directory, pipe].map((path) => {
    const { code, facts } = errorOf(() => readKeyFile(path))
    return [code, facts.found]
  })
  expect(found).toEqual([
    ['KEY_FILE_NOT_A_FILE', 'a directory'],
    ['KEY_FILE_NOT_A_FILE', 'a pipe, socket or device'],
  ])
})

test('a paper key that cannot be written is one clear fault', () => {
  const path = join(keyFile(key), 'below', 'key')
  expect(errorOf(() => paperSigner(path)).code).toBe('KEY_FILE_UNREADABLE')
  symlinkSync(join(directory, 'gone'), join(directory, 'link'))
  expect(errorOf(() => paperSigner(join(directory, 'link', 'key'))).code).toBe('KEY_FILE_NOT_MADE')
})

test('the paper key is made once, for its owner alone, and kept', () => {
  const path = join(directory, 'paper', 'key')
  const first = paperSigner(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toMatch(/^perpd paper key: play money only\n0x[0-9a-f]{64}\n$/)
  expect(paperSigner(path).address).toBe(first.address)
})

test('paper takes no key that it did not make itself', () => {
  const path = join(directory, 'mine')
  writeFileSync(path, `0x${'11'.repeat(32)}\n`, { mode: 0o600 })
  expect(errorOf(() => paperSigner(path)).code).toBe('KEY_FILE_CONTENT')
})
